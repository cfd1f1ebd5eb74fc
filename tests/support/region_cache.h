// Shared by the tests of a block cache in regions: puts that wait for room, and lookups that check
// what they find. A block's version tells it from its predecessors.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"

namespace nvcache::test {

// Puts the block unless it is there: a full queue, or no region that is free yet, refuses for a
// while.
inline void put_for_sure(BlockCache& cache, const BlockKey& key, size_t size_bytes,
                         uint64_t version = 0) {
  for (;;) {
    const Reason reason = put(cache, key, size_bytes, version).reason;
    if (reason == Reason::kAdmitted || reason == Reason::kDuplicate) return;
    ASSERT_TRUE(reason == Reason::kWriteQueueFull || reason == Reason::kNoSpace)
        << reason_name(reason);
    std::this_thread::yield();
  }
}

// Until all that comes back of an earlier opening is there.
inline void wait_for_recovery(const BlockCache& cache) {
  while (cache.stats().recovering != 0) std::this_thread::yield();
}

// The same on a clock of the test's, by which a rate waits. After a hundred seconds the clock goes
// as the world's: if the cache's thread does not get to run for long, the clock must not come to
// where a deleted file is forgotten, and must not stop.
inline void let_recover(const BlockCache& cache, VirtualClock& clock) {
  constexpr std::chrono::nanoseconds kStep = std::chrono::milliseconds(10);
  constexpr int kQuickSteps = 10'000;
  for (int step = 0; cache.stats().recovering != 0; ++step) {
    clock.wait_until_ns(clock.now_ns() + kStep.count());
    if (step < kQuickSteps) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kStep);
    }
  }
}

// Until a block is back, or all of it is over: what a test does then meets a cache of which a part
// is back, however late the cache's thread got to run.
inline void let_some_recover(const BlockCache& cache, VirtualClock& clock) {
  constexpr std::chrono::nanoseconds kStep = std::chrono::milliseconds(1);
  while (cache.stats().recovering != 0 && cache.stats().recovered_blocks == 0) {
    std::this_thread::sleep_for(kStep);
    clock.wait_until_ns(clock.now_ns() + kStep.count());
  }
}

// The blocks {file, 0 .. count - 1}.
inline void put_blocks(BlockCache& cache, uint64_t file, uint64_t count, size_t size_bytes,
                       uint64_t version = 0) {
  for (uint64_t i = 0; i < count; ++i) put_for_sure(cache, {file, i}, size_bytes, version);
}

// How many of them are there; all that are must be right.
inline uint64_t count_blocks(BlockCache& cache, uint64_t file, uint64_t count, size_t size_bytes,
                             uint64_t version = 0) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Lookup lookup = cache.lookup({file, i});
    if (!lookup.hit()) continue;
    EXPECT_TRUE(holds(lookup.pin.bytes(), {file, i}, size_bytes, version)) << i;
    ++found;
  }
  return found;
}

}  // namespace nvcache::test
