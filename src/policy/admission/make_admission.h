// Makes admission policies from specifications such as "small_bypass(16GiB)+obp(0.1)". Each policy
// is a file of this folder and a row of table.h, or comes from outside (policy/outside). The
// interface: nvcache/admission_policy.h. Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "nvcache/admission_policy.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Makes the policy that `spec` names; policies are joined by '+'. INVALID_ARGUMENT names the
// member, what was given and what is allowed.
[[nodiscard]] StatusOr<std::unique_ptr<AdmissionPolicy>> make_admission(
    std::string_view spec, const AdmissionContext& context);

}  // namespace nvcache
