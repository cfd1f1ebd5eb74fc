// What the threads of a server count. Each thread has its own counters and is the only one that
// writes them, so an increment is a plain addition; a reader sums all of them. Names and help are
// in metrics_table.h.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvcache::server {

enum class Count : uint8_t {
  kCmdGet,
  kCmdSet,
  kCmdFlush,
  kCmdTouch,
  kCmdMeta,
  kGetHits,
  kGetMisses,
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
  kBufferKicks,
  kCopiedBytes,
  kEnd
};
inline constexpr size_t kCounts = static_cast<size_t>(Count::kEnd);

using Totals = std::array<uint64_t, kCounts>;

class alignas(64) Counters {
 public:
  // Only the owning thread calls it.
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
