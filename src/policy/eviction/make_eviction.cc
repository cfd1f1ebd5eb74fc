// Reads an eviction specification. Grammar: spec/spec.h. Accepts any bytes.
#include "policy/eviction/table.h"

namespace nvcache {

EvictionOr make_eviction(std::string_view spec, uint32_t max_slots) {
  return make_only_policy(kEviction, spec, kEvictionPolicies, max_slots);
}

}  // namespace nvcache
