// Makes eviction policies from specifications. Each policy is a file of this folder and a row of
// table.h, or comes from outside (policy/outside.h). The interface: nvcache/eviction_policy.h.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "nvcache/eviction_policy.h"

namespace nvcache {

// Makes the policy that `spec` names. `max_slots` bounds the slots that will ever be used; 0 is
// enough to check a specification. INVALID_ARGUMENT names what was given and what is allowed.
[[nodiscard]] absl::StatusOr<std::unique_ptr<EvictionPolicy>> make_eviction(std::string_view spec,
                                                                            uint32_t max_slots);

}  // namespace nvcache
