// Reads an eviction specification. Grammar: policy/spec.h. Any bytes may be given.
#include <array>
#include <utility>

#include "policy/eviction/members.h"

namespace nvcache {
namespace {

using EvictionFactory = EvictionOr (*)(const SpecMember&, uint32_t);

constexpr std::array<std::pair<std::string_view, EvictionFactory>, 6> kEvictionPolicies = {{
    {"none", make_none},
    {"lru", make_lru},
    {"clock", make_clock},
    {"lfru", make_lfru},
    {"s3fifo", make_s3fifo},
    {"tinylfu", make_tinylfu},
}};

constexpr std::string_view kAllowedEviction =
    "one of none, lru, clock, lfru, lfru(WINDOW_SECONDS), s3fifo, tinylfu, tinylfu(PERIOD)";

}  // namespace

EvictionOr make_eviction(std::string_view spec, uint32_t max_slots) {
  return make_only_member(kEviction, spec, kEvictionPolicies, kAllowedEviction, max_slots);
}

}  // namespace nvcache
