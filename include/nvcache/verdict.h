// The fate of a block that was offered to the cache, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace nvcache {

// Which path of the engine a block comes from. Admission policies may treat a
// block that was just written to disk differently from one that was just read.
enum class Origin : uint8_t { kRead, kWrite };

// Why a block was admitted or refused, a row each: enumerator, name, explanation. Each refusal is
// counted under its reason in Stats::refused. Programs in C know the numbers: a new reason comes
// last.
#define NVCACHE_REASONS(REASON)                                                                  \
  REASON(kAdmitted, "admitted", "not refused")                                                   \
  REASON(kSmallDataset, "small_dataset", "small_bypass: the dataset fits the machine's DRAM")    \
  REASON(kOverhead, "overhead", "break_even, obp: too much was written for what was looked up")  \
  REASON(kFirstTouch, "first_touch", "second_touch: this block was not offered before")          \
  REASON(kWriteOrigin, "write_origin", "no_write_allocate: the block comes from the write path") \
  REASON(kProbability, "probability", "probability: the draw went against the block")            \
  REASON(kDuplicate, "duplicate", "a block with this key is in the cache already")               \
  REASON(kStaleToken, "stale_token", "the key was erased between the miss and this put")         \
  REASON(kBadSize, "bad_size", "outside 1 byte .. kMaxBlockBytes")                               \
  REASON(kNoSpace, "no_space", "no room, and the policies let nothing be evicted")               \
  REASON(kWriteQueueFull, "write_queue_full",                                                    \
         "the medium's write queue is full: the caller does not wait")                           \
  REASON(kMediumFailed, "medium_failed",                                                         \
         "the medium returned an error, or was switched off by errors")                          \
  REASON(kLessUsed, "less_used",                                                                 \
         "tinylfu, auto: the blocks that are there are asked for more often")                    \
  REASON(kWriteBudget, "write_budget",                                                           \
         "write_budget: the medium was written as fast as it may be")                            \
  REASON(kOutsidePolicy, "outside_policy",                                                       \
         "a policy that the application brought: nvcache/policies.h")

enum class Reason : uint8_t {
#define NVCACHE_REASON(enumerator, name, why) enumerator,
  NVCACHE_REASONS(NVCACHE_REASON)
#undef NVCACHE_REASON
};

#define NVCACHE_REASON(enumerator, name, why) Reason::enumerator,
inline constexpr size_t kReasonCount =
    std::initializer_list<Reason>{NVCACHE_REASONS(NVCACHE_REASON)}.size();
#undef NVCACHE_REASON

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
