// The scores (use_score.h) of blocks that are not in the cache, by fingerprint. Of a bucket's
// blocks the one with the lowest score is forgotten first.
//
// Memory: 2 bytes an entry, which is a 9-bit fingerprint and a 7-bit score. A bucket has 8 entries,
// 16 bytes. An unknown block is mistaken for a known one with a chance of 8 / 511.
//
// The table grows by linear hashing, a bucket at a time: a new bucket is a copy of the one that it
// splits, and the half of the copies that is not asked for ages out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/reserved_array.h"

namespace nvcache {

// Caller-locked.
class ScoreTable {
 public:
  static constexpr uint64_t kMinEntries = 64;

  // Reserves address space for `max_entries`; follow() takes the memory.
  explicit ScoreTable(uint64_t max_entries);

  std::optional<uint32_t> score(uint64_t key_hash) const;
  // Notes one more use. Returns the block's score. A block that is new is not noted where its
  // bucket has no empty entry, and none whose score is that of one use or less.
  uint32_t use(uint64_t key_hash, uint32_t now, uint32_t noise);
  // Forgets a block; returns the score that it had. Inline where nothing was ever noted: of a cache
  // that fills up after a restart, each block asks in vain.
  std::optional<uint32_t> take(uint64_t key_hash) {
    if (empty_) return std::nullopt;
    return take_noted(key_hash);
  }
  // Notes a block with a score, in the place of the lowest of its bucket if that is lower.
  void put(uint64_t key_hash, uint32_t score, uint32_t now);

  // Grows by at most `kGrowth` buckets towards `entries`; at once while nothing was noted. It never
  // shrinks.
  void follow(uint64_t entries);
  // Passes `buckets` buckets from `*bucket` on to UseScore::age(). False after the last one.
  bool age(uint64_t* bucket, uint64_t buckets, uint32_t now);

  uint64_t entries() const { return buckets_in_use_ * kWays; }
  uint64_t metadata_bytes() const { return buckets_in_use_ * sizeof(Bucket); }

 private:
  static constexpr uint64_t kWays = 8;
  static constexpr uint64_t kGrowth = 4;

  using Bucket = std::array<uint16_t, kWays>;  // fingerprint << 7 | score; fingerprint 0: empty

  std::optional<uint32_t> take_noted(uint64_t key_hash);
  uint64_t index_of(uint64_t mixed) const;
  Bucket& bucket_of(uint64_t mixed) { return buckets_[index_of(mixed)]; }
  uint16_t* find(uint64_t mixed);
  // An empty entry, or that of the lowest score.
  uint16_t& lowest(Bucket& bucket, uint32_t now);

  ReservedArray<Bucket> buckets_;
  uint64_t buckets_in_use_;
  bool empty_ = true;  // nothing was ever noted
};

}  // namespace nvcache
