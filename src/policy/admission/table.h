// The table of admission policies. To add one: write its file in this folder, declare its factory
// here, and add its row (see CONTRIBUTING.md).
// Thread-safety: constants; for the policies see nvcache/admission_policy.h.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "nvcache/status_or.h"
#include "policy/admission/make_admission.h"
#include "policy/parts/policy_table.h"
#include "spec/spec.h"

namespace nvcache {

using AdmissionOr = StatusOr<std::unique_ptr<AdmissionPolicy>>;

// Each factory checks its own arguments.
AdmissionOr make_always(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_no_write_allocate(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_probability(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_second_touch(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_obp(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_small_bypass(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_write_budget(const SpecMember& member, const AdmissionContext& context);
AdmissionOr make_break_even(const SpecMember& member, const AdmissionContext& context);

// See parts/policy_table.h.
struct AdmissionRow {
  std::string_view name;
  std::string_view usage;
  std::string_view example;
  AdmissionOr (*make)(const SpecMember& member, const AdmissionContext& context);
};

inline constexpr auto kAdmissionPolicies = std::to_array<AdmissionRow>({
    {"always", "always", "always", make_always},
    {"no_write_allocate", "no_write_allocate", "no_write_allocate", make_no_write_allocate},
    {"probability", "probability(P)", "probability(0.25)", make_probability},
    {"second_touch", "second_touch", "second_touch", make_second_touch},
    {"obp", "obp(TARGET,lifetime|window|window:LOOKUPS,bytes)", "obp(0.1)", make_obp},
    {"small_bypass", "small_bypass(DRAM_SIZE,DIRECTORY)", "small_bypass(16GiB)", make_small_bypass},
    {"write_budget", "write_budget(RATE,burst:SIZE)", "write_budget(50MiB/s)", make_write_budget},
    {"break_even", "break_even(LOSS,SHARE)", "break_even(0.1)", make_break_even},
});

// Joins policies: each of them sees every candidate, the first refusal counts, and blocks may be
// evicted only if no policy objects.
std::unique_ptr<AdmissionPolicy> make_chain(std::vector<std::unique_ptr<AdmissionPolicy>> members);

}  // namespace nvcache
