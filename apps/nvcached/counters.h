// What a server counts. Each thread has counters of its own, which it alone writes, so an
// increment is a plain addition; a reader sums all of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvcache::server {

// In the order in which memcached reports them.
enum class Count : uint8_t {
  kCmdGet,
  kCmdSet,
  kCmdFlush,
  kCmdTouch,
  kCmdMeta,
  kGetHits,
  kGetMisses,
  kGetExpired,
  kGetFlushed,
  kDeleteMisses,
  kDeleteHits,
  kIncrMisses,
  kIncrHits,
  kDecrMisses,
  kDecrHits,
  kCasMisses,
  kCasHits,
  kCasBadval,
  kTouchHits,
  kTouchMisses,
  kStoreTooLarge,
  kStoreNoMemory,
  kAuthCmds,
  kAuthErrors,
  kBytesRead,
  kBytesWritten,
  kConnYields,
  kIdleKicks,
  kEnd
};
inline constexpr size_t kCounts = static_cast<size_t>(Count::kEnd);

inline constexpr std::array<const char*, kCounts> kCountNames = {
    "cmd_get",         "cmd_set",         "cmd_flush",   "cmd_touch",   "cmd_meta",
    "get_hits",        "get_misses",      "get_expired", "get_flushed", "delete_misses",
    "delete_hits",     "incr_misses",     "incr_hits",   "decr_misses", "decr_hits",
    "cas_misses",      "cas_hits",        "cas_badval",  "touch_hits",  "touch_misses",
    "store_too_large", "store_no_memory", "auth_cmds",   "auth_errors", "bytes_read",
    "bytes_written",   "conn_yields",     "idle_kicks"};

using Totals = std::array<uint64_t, kCounts>;

class alignas(64) Counters {
 public:
  // By the owning thread alone.
  void add(Count what, uint64_t n = 1) {
    auto& value = values_[static_cast<size_t>(what)];
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  // From any thread.
  void add_to(Totals& totals) const {
    for (size_t i = 0; i < kCounts; ++i) totals[i] += values_[i].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, kCounts> values_{};
};

}  // namespace nvcache::server
