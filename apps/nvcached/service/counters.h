// The counters of a server. Each thread has its own counters and is the only one that
// writes them, so an increment is a plain addition; a reader sums all of them. Names and help are
// in metrics_table.h.
//
// Of a sample of the keys a thread also notes the prefix, and of as many requests how long they
// took. A key that is no sample costs a countdown, a request a comparison.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "apps/nvcached/service/latency.h"
#include "apps/nvcached/service/prefix_sketch.h"

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
  static constexpr uint32_t kSampledOneOf = 64;

  // Only the owning thread calls it.
  void add(Count what, uint64_t n = 1) {
    auto& value = values_[static_cast<size_t>(what)];
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  // By the owning thread.
  uint64_t get(Count what) const {
    return values_[static_cast<size_t>(what)].load(std::memory_order_relaxed);
  }

  // True of one key in kSampledOneOf on average. At random, so that what clients do by turns has
  // its share. The next request that is served whole is timed then: one that follows is long or
  // short by chance, and one that comes in many parts is no more likely. By the owning thread.
  bool is_sample() { return --until_sample_ == 0; }
  // Call it for each sample.
  void await_next_sample() {
    until_sample_ = 1 + next_random() % (2 * kSampledOneOf - 1);
    times_next_ = true;
  }
  bool times_next() const { return times_next_; }
  void timed() { times_next_ = false; }

  LatencyCounts& latencies(Timed what) { return latencies_[static_cast<size_t>(what)]; }
  PrefixSketch& prefixes() { return prefixes_; }

  // From any thread.
  void add_to(PrefixTotals& totals) const { prefixes_.add_to(totals); }
  void add_to(LatencyTable& table) const {
    for (size_t i = 0; i < kTimed; ++i) latencies_[i].add_to(table[i]);
  }
  void add_to(Totals& totals) const {
    for (size_t i = 0; i < kCounts; ++i) totals[i] += values_[i].load(std::memory_order_relaxed);
  }

 private:
  // Marsaglia's xorshift: which keys are samples need not be hard to guess.
  uint32_t next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }

  // First the hot ones, on one line.
  uint32_t until_sample_ = kSampledOneOf;
  uint32_t random_ = 0x9e3779b9;
  bool times_next_ = false;
  std::array<std::atomic<uint64_t>, kCounts> values_{};
  std::array<LatencyCounts, kTimed> latencies_;
  PrefixSketch prefixes_;
};

}  // namespace nvcache::server
