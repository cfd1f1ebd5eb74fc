// Reads an eviction specification. Grammar: spec/spec.h. Accepts any bytes.
#include "policy/eviction/table.h"
#include "policy/outside.h"

namespace nvcache {

EvictionOr make_eviction(std::string_view spec, uint32_t max_slots) {
  const absl::StatusOr<std::vector<SpecMember>> members = parse_spec(kEviction, spec);
  if (members.ok() && members->size() == 1) {
    const SpecMember& only = members->front();
    const EvictionKind* const outside = outside_eviction(only.name);
    if (outside != nullptr) return make_outside(*outside, only, max_slots);
  }
  return make_only_policy(kEviction, spec, kEvictionPolicies, outside_eviction_usages(), max_slots);
}

}  // namespace nvcache
