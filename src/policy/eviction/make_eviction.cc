// Reads an eviction specification. Grammar: policy/spec.h. Any bytes may be given.
#include <array>
#include <utility>

#include "policy/eviction/members.h"

namespace nvcache {
namespace {

using Factory = EvictionOr (*)(const SpecMember&, uint32_t);

constexpr std::array<std::pair<std::string_view, Factory>, 6> kPolicies = {{
    {"none", make_none},
    {"lru", make_lru},
    {"clock", make_clock},
    {"lfru", make_lfru},
    {"s3fifo", make_s3fifo},
    {"tinylfu", make_tinylfu},
}};

constexpr std::string_view kAllowed =
    "one of none, lru, clock, lfru, lfru(WINDOW_SECONDS), s3fifo, tinylfu, tinylfu(PERIOD)";

}  // namespace

EvictionOr make_eviction(std::string_view spec, uint32_t max_slots) {
  return make_only_member(kEviction, spec, kPolicies, kAllowed, max_slots);
}

}  // namespace nvcache
