// Reads an admission specification. Grammar: policy/spec.h. Any bytes may be given.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "policy/admission/members.h"

namespace nvcache {
namespace {

using AdmissionFactory = AdmissionOr (*)(const SpecMember&, const AdmissionContext&);

constexpr std::array<std::pair<std::string_view, AdmissionFactory>, 6> kMembers = {{
    {"always", make_always},
    {"no_write_allocate", make_no_write_allocate},
    {"probability", make_probability},
    {"second_touch", make_second_touch},
    {"obp", make_obp},
    {"small_bypass", make_small_bypass},
}};

constexpr std::string_view kAllowedAdmission =
    "always, no_write_allocate, probability(P), second_touch, "
    "obp(TARGET,lifetime|window|window:LOOKUPS,bytes), small_bypass(DRAM_SIZE,DIRECTORY), "
    "joined by '+'";

}  // namespace

AdmissionOr make_admission(std::string_view spec, const AdmissionContext& context) {
  const absl::StatusOr<std::vector<SpecMember>> members = parse_spec(kAdmission, spec);
  if (!members.ok()) {
    return invalid_argument("{}; members allowed: {}", message_of(members.status()),
                            kAllowedAdmission);
  }
  std::array<bool, kMembers.size()> given{};
  std::vector<std::unique_ptr<AdmissionPolicy>> policies;
  for (const SpecMember& member : *members) {
    const auto known = std::find_if(kMembers.begin(), kMembers.end(),
                                    [&](const auto& entry) { return entry.first == member.name; });
    if (known == kMembers.end()) {
      return bad_member(kAdmission, member,
                        fmt::format("not known; allowed: {}", kAllowedAdmission));
    }
    if (std::exchange(given[static_cast<size_t>(known - kMembers.begin())], true)) {
      return bad_member(kAdmission, member,
                        fmt::format("{} given twice; allowed: each member once", member.name));
    }
    AdmissionOr policy = known->second(member, context);
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return make_chain(std::move(policies));
}

}  // namespace nvcache
