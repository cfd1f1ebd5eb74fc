// What became of a block that was offered to the cache, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvcache {

// Which path of the engine a block comes from. Admission policies may treat a
// block that was just written to disk differently from one that was just read.
enum class Origin : uint8_t { kRead, kWrite };

// Why a block was admitted or refused. Each refusal is counted under its
// reason in Stats::refused; the names are those of `reason_name`.
enum class Reason : uint8_t {
  kAdmitted = 0,
  kSmallDataset,    // small_bypass: the dataset fits the machine's DRAM
  kOverhead,        // break_even, obp: too much was written for what was looked up
  kFirstTouch,      // second_touch: this block was not offered before
  kWriteOrigin,     // no_write_allocate: the block comes from the write path
  kProbability,     // probability: the draw went against the block
  kDuplicate,       // a block with this key is in the cache already
  kStaleToken,      // the key was erased between the miss and this put
  kBadSize,         // outside 1 byte .. kMaxBlockBytes
  kNoSpace,         // no room, and the policies let nothing be evicted
  kWriteQueueFull,  // the medium's write queue is full: the caller does not wait
  kMediumFailed,    // the medium returned an error, or was switched off by errors
  kLessUsed,        // tinylfu, auto: the blocks that are there are asked for more often
  kWriteBudget,     // write_budget: the medium was written as fast as it may be
  kOutsidePolicy,   // a policy that the application brought (nvcache/policies.h)
};
inline constexpr size_t kReasonCount = static_cast<size_t>(Reason::kOutsidePolicy) + 1;

// Stable lower-case name of a reason ("overhead"), as used in JSON and Prometheus.
std::string_view reason_name(Reason reason);

struct Verdict {
  Reason reason = Reason::kAdmitted;

  bool admitted() const { return reason == Reason::kAdmitted; }
  static constexpr Verdict admit() { return {Reason::kAdmitted}; }
  static constexpr Verdict refuse(Reason why) { return {why}; }

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace nvcache
