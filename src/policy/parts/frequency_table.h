// How often blocks were asked for in the recent past: counts by fingerprint, for blocks that are
// not in the cache. The table forgets the blocks with the lowest counts first.
//
// Memory: 2 bytes an entry, which is a 10-bit fingerprint and a 6-bit count. A bucket has 8
// entries. An unknown block is mistaken for a known one with a chance of 8 / 1023. A new block
// takes an empty entry of its bucket. In a full bucket it takes one off the lowest count instead,
// so that many blocks that come once do not push out the blocks that come often.
//
// The table grows by doubling. The new half is a copy of the old one, and the half of the entries
// that is not asked for fades.
#pragma once

#include <array>
#include <cstdint>

#include "base/reserved_array.h"

namespace nvcache {

// Caller-locked.
class FrequencyTable {
 public:
  static constexpr uint32_t kMaxCount = 63;
  static constexpr uint64_t kMinEntries = 256;

  // Reserves address space for `max_entries`; follow() takes the memory.
  explicit FrequencyTable(uint64_t max_entries);

  uint32_t count(uint64_t key_hash) const;
  // Counts one more use. Returns the new count, or 0 if there was no room to note it.
  uint32_t add(uint64_t key_hash);
  // Forgets a block; returns the count that it had.
  uint32_t take(uint64_t key_hash);
  // Notes a block with a count, if its bucket has room or an entry with a lower count.
  void put(uint64_t key_hash, uint32_t count);

  // Doubles the table if it has less than half of `entries`; at most once in a call.
  void follow(uint64_t entries);
  // Halves the counts of `buckets` buckets from `*bucket` on. False when the last one is done.
  bool halve(uint64_t* bucket, uint64_t buckets);

  uint64_t entries() const { return buckets_in_use_ * kWays; }
  uint64_t metadata_bytes() const { return buckets_in_use_ * sizeof(Bucket); }

 private:
  static constexpr uint32_t kWays = 8;
  static constexpr uint32_t kCountBits = 6;

  using Bucket = std::array<uint16_t, kWays>;  // fingerprint << 6 | count; count 0: empty

  Bucket& bucket_of(uint64_t mixed) { return buckets_[mixed & (buckets_in_use_ - 1)]; }
  const Bucket& bucket_of(uint64_t mixed) const { return buckets_[mixed & (buckets_in_use_ - 1)]; }

  ReservedArray<Bucket> buckets_;
  uint64_t buckets_in_use_;  // a power of two
};

}  // namespace nvcache
