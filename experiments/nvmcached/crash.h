// Section 4.1 of *NVMcached*: the share of GETs that miss, before and after a
// crash that takes the items stored last. Nothing here depends on time.
//
// Clients use a look-aside cache: a SET stores the key that was missed last, or the trace's key
// if nothing was missed since the previous SET. The mix of requests stays that of the trace.
//
// The crash: the experiment copies the medium while the store is open, as a power failure leaves
// it. In the copy it overwrites the items stored last (`drop_share` of everything cached) with
// zeros, and leaves their table entries. The write cache and the order of use lie in DRAM, and are
// lost, too. Then it opens a store on the copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/command/progress.h"
#include "experiments/nvmcached/system.h"
#include "nvcache/status_or.h"

namespace nvcache::nvmcached {

struct CrashPlan {
  uint64_t cache_bytes = 0;
  std::optional<uint64_t> write_cache_bytes = std::nullopt;  // as KvConfig's by default
  double drop_share = 0;
  uint64_t window = 0;          // requests
  uint32_t windows_before = 3;  // that are shown
  uint32_t windows_after = 8;
  uint64_t seed = 1;
};

struct CrashResult {
  std::vector<double> before;  // misses / GETs, a window each
  std::vector<double> after;
  uint64_t keys = 0;
  uint64_t warm_windows = 0;
  uint64_t items_before = 0;
  uint64_t bytes_before = 0;  // keys and values
  uint64_t items_lost = 0;    // found before the crash, and not after it
  uint64_t bytes_lost = 0;
  uint64_t stored_bytes = 0;   // of those before, headers and descriptors included
  uint64_t items_dropped = 0;  // of those, overwritten on the medium
  double open_seconds = 0;

  double items_lost_share() const {
    return items_before == 0 ? 0
                             : static_cast<double>(items_lost) / static_cast<double>(items_before);
  }
  double bytes_lost_share() const {
    return bytes_before == 0 ? 0
                             : static_cast<double>(bytes_lost) / static_cast<double>(bytes_before);
  }
  // Of the items lost: those that were in the DRAM write cache alone, or newer than what
  // was dropped.
  double write_cache_share() const {
    return items_before == 0
               ? 0
               : (static_cast<double>(items_lost) - static_cast<double>(items_dropped)) /
                     static_cast<double>(items_before);
  }
  // How many more misses there are in the worst window after the crash, than on average
  // before it.
  double rise() const;
};

// Every value that is found is compared with the one stored last, before the crash and after
// it; DATA_LOSS if one is older, or was deleted. CANCELLED if interrupted.
[[nodiscard]] StatusOr<CrashResult> run_crash(const Kind& kind, const Trace& trace,
                                              const CrashPlan& plan, Progress& progress);

}  // namespace nvcache::nvmcached
