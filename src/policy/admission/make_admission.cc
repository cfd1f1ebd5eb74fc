// Reads an admission specification. Grammar: spec/spec.h. Accepts any bytes.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

std::string allowed() { return usages(kAdmissionPolicies) + ", joined by '+'"; }

}  // namespace

AdmissionOr make_admission(std::string_view spec, const AdmissionContext& context) {
  const absl::StatusOr<std::vector<SpecMember>> members = parse_spec(kAdmission, spec);
  if (!members.ok()) {
    return invalid_argument("{}; members allowed: {}", message_of(members.status()), allowed());
  }
  std::array<bool, kAdmissionPolicies.size()> given{};
  std::vector<std::unique_ptr<AdmissionPolicy>> policies;
  for (const SpecMember& member : *members) {
    const auto* const row = std::ranges::find(kAdmissionPolicies, member.name, &AdmissionRow::name);
    if (row == kAdmissionPolicies.end()) {
      return bad_member(kAdmission, member, fmt::format("not known; allowed: {}", allowed()));
    }
    if (std::exchange(given[static_cast<size_t>(row - kAdmissionPolicies.begin())], true)) {
      return bad_member(kAdmission, member,
                        fmt::format("{} given twice; allowed: each member once", member.name));
    }
    AdmissionOr policy = row->make(member, context);
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return make_chain(std::move(policies));
}

}  // namespace nvcache
