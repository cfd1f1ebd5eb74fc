// Reads an admission specification. Grammar: spec/spec.h. Accepts any bytes.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "policy/admission/table.h"
#include "policy/outside/outside.h"

namespace nvcache {
namespace {

std::string allowed() {
  return usages(kAdmissionPolicies) + outside_admission_usages() + ", joined by '+'";
}

// Makes the policy that a member names, a row's or one from outside.
AdmissionOr make_member(const SpecMember& member, const AdmissionContext& context) {
  const auto* const row = std::ranges::find(kAdmissionPolicies, member.name, &AdmissionRow::name);
  if (row != kAdmissionPolicies.end()) return row->make(member, context);
  const AdmissionKind* const outside = outside_admission(member.name);
  if (outside != nullptr) return make_outside(*outside, member, context);
  return bad_member(kAdmission, member, fmt::format("not known; allowed: {}", allowed()));
}

}  // namespace

AdmissionOr make_admission(std::string_view spec, const AdmissionContext& context) {
  const StatusOr<std::vector<SpecMember>> members = parse_spec(kAdmission, spec);
  if (!members.ok()) {
    return invalid_argument("{}; members allowed: {}", members.status().message(), allowed());
  }
  std::vector<std::unique_ptr<AdmissionPolicy>> policies;
  for (auto member = members->begin(); member != members->end(); ++member) {
    const auto same_name = [&](const SpecMember& other) { return other.name == member->name; };
    if (std::any_of(members->begin(), member, same_name)) {
      return bad_member(kAdmission, *member,
                        fmt::format("{} given twice; allowed: each member once", member->name));
    }
    AdmissionOr policy = make_member(*member, context);
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return make_chain(std::move(policies));
}

}  // namespace nvcache
