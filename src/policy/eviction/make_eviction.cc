// Reads an eviction specification. Grammar: policy/spec.h. Any bytes may be given.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "policy/eviction/members.h"

namespace nvcache {
namespace {

using Factory = EvictionOr (*)(const SpecMember&, uint32_t);

constexpr std::array<std::pair<std::string_view, Factory>, 5> kPolicies = {{
    {"none", make_none},
    {"lru", make_lru},
    {"clock", make_clock},
    {"lfru", make_lfru},
    {"s3fifo", make_s3fifo},
}};

constexpr std::string_view kAllowed = "one of none, lru, clock, lfru, lfru(WINDOW_SECONDS), s3fifo";

}  // namespace

EvictionOr make_eviction(std::string_view spec, uint32_t max_slots) {
  const absl::StatusOr<std::vector<SpecMember>> members = parse_spec(kEviction, spec);
  if (!members.ok()) {
    return invalid_argument("{}; policies allowed: {}", message_of(members.status()), kAllowed);
  }
  const SpecMember& member = members->front();
  const auto known = std::find_if(kPolicies.begin(), kPolicies.end(),
                                  [&](const auto& entry) { return entry.first == member.name; });
  if (known == kPolicies.end()) {
    return bad_member(kEviction, member, fmt::format("not known; allowed: {}", kAllowed));
  }
  if (members->size() > 1) {
    return invalid_argument("eviction '{}': {} policies given; allowed: {}", shown(spec),
                            members->size(), kAllowed);
  }
  return known->second(member, max_slots);
}

}  // namespace nvcache
