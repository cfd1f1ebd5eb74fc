// How often blocks were asked for of late: counts by fingerprint, for blocks that are not
// in the cache, the least asked for forgotten first.
//
// Memory: 2 bytes an entry, a 10-bit fingerprint and a 6-bit count. A bucket is 8 entries;
// an unknown block is taken for a known one with a chance of 8 / 1023. A new block takes
// an empty entry of its bucket; where there is none it takes one off the lowest count
// instead, so that many that come once do not push out what comes often.
//
// The table follows the number of blocks it is asked to hold by doubling: the new half is a
// copy of the old one, and the half of the entries that is dead weight fades.
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

  // Address space for `max_entries`; memory is taken as follow() asks for it.
  explicit FrequencyTable(uint64_t max_entries);

  uint32_t count(uint64_t key_hash) const;
  // One more; returns the count, 0 if there was no room to note it.
  uint32_t add(uint64_t key_hash);
  // Forgets a block, which had the count returned.
  uint32_t take(uint64_t key_hash);
  // Notes a block with a count, if there is room or one that counts less.
  void put(uint64_t key_hash, uint32_t count);

  // Doubles the table, once a call at most, until it has half of `entries`.
  void follow(uint64_t entries);
  // Halves the counts of `buckets` buckets from `*bucket` on; false when the last is done.
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
