// Reads an eviction specification. Grammar: spec/spec.h. Accepts any bytes.
#include "policy/eviction/table.h"
#include "policy/learning/shared_learning.h"
#include "policy/outside/outside.h"

namespace nvcache {

std::shared_ptr<SharedLearning> make_shared_learning() {
  return std::make_shared<SharedLearning>();
}

EvictionOr make_eviction(std::string_view spec, const EvictionContext& context) {
  const StatusOr<std::vector<SpecMember>> members = parse_spec(kEviction, spec);
  if (members.ok() && members->size() == 1) {
    const SpecMember& only = members->front();
    const EvictionKind* const outside = outside_eviction(only.name);
    if (outside != nullptr) return make_outside(*outside, only, context.max_slots);
  }
  return make_only_policy(kEviction, spec, kEvictionPolicies, outside_eviction_usages(), context);
}

}  // namespace nvcache
