// The members that an admission specification can name. Each checks its own
// arguments; make_admission() looks them up by name and joins them.
// Thread-safety: see admission_policy.h.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "policy/admission/admission_policy.h"
#include "spec/spec.h"

namespace nvcache {

using AdmissionOr = absl::StatusOr<std::unique_ptr<AdmissionPolicy>>;

AdmissionOr make_always(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_no_write_allocate(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_probability(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_second_touch(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_obp(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_small_bypass(const SpecMember& member, const AdmissionContext& context);

// Joins policies: every one sees every candidate, the first refusal counts, and
// blocks may be evicted only if none objects.
std::unique_ptr<AdmissionPolicy> make_chain(std::vector<std::unique_ptr<AdmissionPolicy>> members);

inline constexpr std::string_view kAdmission = "admission";

}  // namespace nvcache
