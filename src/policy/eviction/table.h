// The table of eviction policies. To add one: write its file in this folder, declare its factory
// here, and add its row (see CONTRIBUTING.md).
// Thread-safety: constants; for the policies see nvcache/eviction_policy.h.
#pragma once

#include <array>
#include <memory>

#include "nvcache/status_or.h"
#include "policy/eviction/make_eviction.h"
#include "policy/parts/policy_table.h"
#include "spec/spec.h"

namespace nvcache {

using EvictionOr = StatusOr<std::unique_ptr<EvictionPolicy>>;

// Each factory checks its own arguments.
EvictionOr make_none(const SpecMember& member, const EvictionContext& context);
EvictionOr make_fifo(const SpecMember& member, const EvictionContext& context);
EvictionOr make_lru(const SpecMember& member, const EvictionContext& context);
EvictionOr make_clock(const SpecMember& member, const EvictionContext& context);
EvictionOr make_lfru(const SpecMember& member, const EvictionContext& context);
EvictionOr make_s3fifo(const SpecMember& member, const EvictionContext& context);
EvictionOr make_tinylfu(const SpecMember& member, const EvictionContext& context);
EvictionOr make_auto(const SpecMember& member, const EvictionContext& context);

// See parts/policy_table.h. The last three are promises that the contract suite checks.
struct EvictionRow {
  std::string_view name;
  std::string_view usage;
  std::string_view example;
  EvictionOr (*make)(const SpecMember& member, const EvictionContext& context);
  double bytes_per_slot = 0;  // DRAM, at most
  bool evicts = true;         // every block leaves in the end
  bool spares_used = true;    // blocks in use survive a scan
};

inline constexpr auto kEvictionPolicies = std::to_array<EvictionRow>({
    {"none", "none", "none", make_none, 0, /*evicts=*/false},
    {"fifo", "fifo", "fifo", make_fifo, 8, /*evicts=*/true, /*spares_used=*/false},
    {"lru", "lru", "lru", make_lru, 2.5},
    {"clock", "clock", "clock", make_clock, 1},
    {"lfru", "lfru, lfru(WINDOW_SECONDS)", "lfru", make_lfru, 2},
    {"s3fifo", "s3fifo", "s3fifo", make_s3fifo, 2.5},
    {"tinylfu", "tinylfu, tinylfu(PERIOD)", "tinylfu", make_tinylfu, 3},
    {"auto", "auto, auto(INSERT_COST)", "auto", make_auto, 5},
});

}  // namespace nvcache
