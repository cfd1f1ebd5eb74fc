// Replays a trace through every cache of a table at once, in batches, so that it may be of any
// length: one pass to count its distinct blocks, where sizes are shares of them, and one for all
// caches, on all processors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/nvcache/tier_replay.h"
#include "apps/trace/formats.h"
#include "nvcache/status_or.h"

namespace nvcache {

inline constexpr std::string_view kOptimal = "optimal";  // as a specification: replay_optimal()

// "5%" of a trace's distinct blocks, or "1000" blocks.
struct ReplaySize {
  std::string text;
  double percent = 0;  // 0: `blocks` counts
  uint64_t blocks = 0;

  uint64_t blocks_of(uint64_t distinct) const;
};

// INVALID_ARGUMENT names the option, what was given and what is allowed.
[[nodiscard]] StatusOr<ReplaySize> parse_replay_size(std::string_view option,
                                                     std::string_view text);

struct ReplayPlan {
  std::vector<std::string> specs;
  std::vector<ReplaySize> tiers;
  ReplaySize dram;  // an LRU cache above each tier
  TraceOptions trace;
  unsigned threads = 1;
  uint32_t block_bytes = TierReplay::kUsualBlockBytes;  // of the medium
};

struct ReplayTable {
  std::string trace;  // its name, without folders
  std::string format;
  std::string cut_short;       // how it ends too early; empty: it is whole
  uint64_t skipped_lines = 0;  // that are no access, and were left out
  std::string first_skipped;
  uint64_t accesses = 0;
  uint64_t distinct = 0;  // blocks; 0: not counted
  uint64_t dram_blocks = 0;
  uint64_t lookups = 0;  // of the tier: what the DRAM cache misses
  double seconds = 0;
  double cpu_seconds = 0;  // of all processors
  std::vector<uint64_t> tier_blocks;
  std::vector<std::vector<ReplayResult>> rows;  // by specification, and by size of the tier
};

// Told now and then how far a pass is, from 0 to 1.
using ReplayProgress = std::function<void(std::string_view what, double share)>;

// Memory: about 560 bytes a block and specification of the tiers, 16 bytes a distinct block while
// they are counted, and for `optimal` 12 bytes a lookup. CANCELLED by Ctrl-C.
[[nodiscard]] StatusOr<ReplayTable> replay_trace(const std::string& path, const ReplayPlan& plan,
                                                 const ReplayProgress& progress);

}  // namespace nvcache
