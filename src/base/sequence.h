// "It changed in between", for readers that take no lock: a number that is odd while something is
// being changed. A reader notes it before it looks, and believes what it saw, or did not see, if
// no change was under way then and none has begun since. (A sequence lock: H.-J. Boehm, "Can
// Seqlocks Get Along With Programming Language Memory Models?", MSPC '12, figure 6.)
//
// The guarded data are atomic themselves, with any order of access. Any number of readers; one
// change at a time, under a lock of the caller's. A change costs two stores, a look two loads; on
// x86 no fence costs an instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace nvcache {

class Sequence {
 public:
  // A change, while it lives.
  class Change {
   public:
    explicit Change(Sequence& sequence)
        : number_(sequence.number_), before_(number_.load(std::memory_order_relaxed)) {
      NVCACHE_ASSERT_SLOW(before_ % 2 == 0);  // one change at a time
      number_.store(before_ + 1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_release);  // what changes comes behind it
    }
    ~Change() { number_.store(before_ + 2, std::memory_order_release); }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    std::atomic<uint64_t>& number_;
    const uint64_t before_;
  };

  // The number to note before a look.
  uint64_t now() const { return number_.load(std::memory_order_acquire); }

  // Whether nothing was being changed since `before` was noted.
  bool is_still(uint64_t before) const {
    std::atomic_thread_fence(std::memory_order_acquire);  // what was seen comes before it
    return before % 2 == 0 && number_.load(std::memory_order_relaxed) == before;
  }

 private:
  std::atomic<uint64_t> number_{0};
};

}  // namespace nvcache
