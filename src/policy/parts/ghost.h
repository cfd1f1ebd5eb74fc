// Remembers blocks by 16-bit fingerprints, without their keys: which blocks were seen before, or
// were evicted recently. The oldest are forgotten first.
//
// Memory: 2 bytes an entry. A bucket of 8 entries is two 64-bit words, each a shift register of 4
// fingerprints. A new fingerprint enters the first word; what falls out of the first word enters
// the second; what falls out of the second is forgotten. An unknown block is mistaken for a known
// one with a chance of 8 / 65535.
//
// The table grows by linear hashing: growing by a bucket copies the bucket that it splits, so
// nothing is forgotten. Half of the copies are mere weight that ages out.
//
// Thread-safe and lock-free: racing threads may both find a block unknown, or lose one entry while
// its bucket is being split.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "base/reserved_array.h"

namespace nvcache {

class Ghost {
 public:
  static constexpr uint64_t kMinEntries = 1024;

  // Reserves address space for `max_entries`; follow() takes the memory.
  explicit Ghost(uint64_t max_entries);

  bool contains(uint64_t key_hash) const;

  // Remembers a block. True if it was remembered already; then its age stays.
  bool remember(uint64_t key_hash);

  // Brings the size nearer to `entries`, never below kMinEntries. A call grows by a bounded step.
  // It shrinks only if less than half is wanted, so that a short dip costs nothing.
  void follow(uint64_t entries);

  uint64_t entries() const { return buckets_in_use_.load(std::memory_order_relaxed) * kWays; }

  // DRAM in use. It never falls, because pages are not given back.
  uint64_t metadata_bytes() const {
    return most_buckets_.load(std::memory_order_relaxed) * sizeof(Bucket);
  }

 private:
  static constexpr uint64_t kWays = 8;
  static constexpr uint64_t kMinBuckets = kMinEntries / kWays;

  struct Bucket {
    std::atomic<uint64_t> young;
    std::atomic<uint64_t> old;
  };

  uint64_t index_of(uint64_t mixed) const;

  ReservedArray<Bucket> buckets_;
  std::atomic<uint64_t> buckets_in_use_{kMinBuckets};
  std::atomic<uint64_t> most_buckets_{kMinBuckets};
  Mutex resize_mutex_;  // taken by try_lock only: one thread resizes, and no thread waits
};

}  // namespace nvcache
