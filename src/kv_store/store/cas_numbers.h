// The numbers of values (cas), from 1 on, as small as they can be: clients keep them in 32 or 53
// bits. A number must never come again, or a client could overwrite a value that it has not seen.
// So blocks of numbers are reserved durably before one of them is given out.
//
// Thread-safe. Cost: an atomic addition; a durable write for each block, by one thread, when an
// eighth of the block before is left, so that the others seldom wait for it. Blocks grow with what
// was given: a kill uses up at most the first block, or as many numbers as were given.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "nvcache/function_ref.h"

namespace nvcache {

class CasNumbers {
 public:
  static constexpr uint64_t kLargestBlock = uint64_t{1} << 22;

  // A store's opening: `given` may have been given, and all up to `reserved` are its own.
  void start(uint64_t given, uint64_t reserved) {
    first_ = given;
    first_block_ = std::max<uint64_t>(1, reserved - given);
    given_.store(given, std::memory_order_relaxed);
    set_reserved(reserved, reserved - given);
  }

  // `reserve(n)` makes it durable that numbers up to n may have been given. It must not throw.
  uint64_t next(FunctionRef<void(uint64_t)> reserve) {
    const uint64_t number = given_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number <= reserve_at_.load(std::memory_order_acquire)) [[likely]]
      return number;
    if (number > reserved_.load(std::memory_order_acquire)) {
      MutexLock lock(mutex_);
      extend(number, reserve);
    } else if (mutex_.try_lock()) {
      extend(number, reserve);
      mutex_.unlock();
    }
    return number;
  }

  // The largest that was given.
  uint64_t given() const { return given_.load(std::memory_order_relaxed); }

 private:
  void extend(uint64_t number, FunctionRef<void(uint64_t)> reserve) NVCACHE_REQUIRES(mutex_) {
    if (number <= reserve_at_.load(std::memory_order_relaxed)) return;  // another thread did
    const uint64_t before = number - 1;
    const uint64_t block = std::clamp(before - first_, first_block_, kLargestBlock);
    reserve(before + block);
    set_reserved(before + block, block);
  }
  void set_reserved(uint64_t reserved, uint64_t block) {
    reserved_.store(reserved, std::memory_order_release);
    reserve_at_.store(reserved - block / 8, std::memory_order_release);
  }

  uint64_t first_ = 0;
  uint64_t first_block_ = 1;
  std::atomic<uint64_t> given_{0};
  std::atomic<uint64_t> reserved_{0};
  std::atomic<uint64_t> reserve_at_{0};  // the next block, at numbers above this one
  Mutex mutex_;
};

}  // namespace nvcache
