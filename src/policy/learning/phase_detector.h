// Tells when the uses of a cache have become others: when it hits little of what it used to, while
// a cache of the same size that admits all that it misses would hit far more.
//
// It keeps the keys of such a cache, of a sample (shared_learning.h); the one that was not used for
// longest leaves. While the cache has room for all that comes, both are the same, and the watch
// only follows what comes in: then it is taken to hit all, until more is known.
//
// While the cache hits less than kLow of what is usual, the watch gathers what speaks for others,
// and what against:
//   regret:  uses that the other cache would hit, and this one does not. Half as many as the cache
//            has blocks are enough: then to go on has cost about as much as to start anew
//   a new set: enough new keys, keys that come a second time, and keys that come a third time
//            before they would have left. It is seen before there is much to regret
// A scan changes nothing: no cache hits what never comes again. Two scans of the same blocks are no
// new set, as no key comes a third time; a few scans of a small part are none, as there are few
// keys.
//
// A set that the cache has room for is noticed when the lookups are about half as many as the
// blocks of the cache; one that is gone through in order, when half as many blocks came a second
// time. A scan of half a cache that is repeated twice passes for a new set.
//
// Memory: 4 bytes a key of the sample. A use looks at kWays of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace nvcache {

// Caller-locked.
class PhaseDetector {
 public:
  // For that many keys of the sample, kWays at least. Throws std::bad_alloc.
  explicit PhaseDetector(uint32_t keys)
      : keys_(std::max(keys, kWays)),
        recent_uses_(std::max(kLeastRecentUses, kRecentUsesPerKey * keys_)),
        buckets_(keys_ / kWays) {}

  // For a cache that has grown or shrunk: goes on from `before`, with those of its keys that the
  // new sample has, too. Throws std::bad_alloc.
  PhaseDetector(uint32_t keys, const PhaseDetector& before) : PhaseDetector(keys) {
    recent_ratio_ = before.recent_ratio_;
    usual_ratio_ = before.usual_ratio_;
    for (const Bucket& bucket : before.buckets_) {
      for (size_t way = kWays; way-- > 0;) {
        if (bucket[way] != 0) put_first(bucket_of(bucket[way]), kWays - 1, bucket[way]);
      }
    }
  }

  // A sampled key comes into a cache that has room.
  void fill(uint32_t key_hash) { look_up(key_hash); }

  // A use of a sampled key. True where the uses have become others: then not again before twice as
  // many uses as there are keys, in which the cache may follow.
  bool use(uint32_t key_hash, bool hit) {
    recent_ratio_ += ((hit ? 1 : 0) - recent_ratio_) / recent_uses_;
    usual_ratio_ += ((hit ? 1 : 0) - usual_ratio_) / (kUsualUsesPerKey * keys_);
    const Found found = look_up(key_hash);
    if (quiet_uses_ > 0) {
      --quiet_uses_;
      return false;
    }
    if (recent_ratio_ > kLow * usual_ratio_) {
      seen_ = {};
      return false;
    }
    gather(found, hit);
    if (!is_enough()) return false;
    seen_ = {};
    quiet_uses_ = 2 * keys_;
    return true;
  }

  uint64_t metadata_bytes() const { return buckets_.capacity() * sizeof(Bucket); }

 private:
  static constexpr uint32_t kWays = 8;
  static constexpr double kLeastRecentUses = 64;
  static constexpr double kRecentUsesPerKey = 1 / 12.0;
  static constexpr double kUsualUsesPerKey = 4;
  static constexpr double kLow = 0.4;
  // Enough, for each key of the sample. More makes the cache follow late, less makes it follow what
  // soon ends. Chosen so that AutoPolicy.FollowsANewPhase holds, and that no double scan of the
  // trace cloudPhysicsIO passes for a new set.
  static constexpr double kRegret = 0.5;
  static constexpr double kNewKeys = 0.2;
  static constexpr double kSecondUses = 1 / 32.0;
  static constexpr double kLaterUses = 1 / 128.0;
  static constexpr double kLeastLaterUses = 6;  // however small the sample is
  // A use that only this cache hits takes this away: ln 2 / ln 1.5, where three of four uses are
  // the other's if the set is new, and two of four if not (Wald's sequential test).
  static constexpr double kAgainst = 1.7;

  // In the other cache: not, since its first use, since another.
  enum class Found { kNot, kOnce, kAgain };

  // Since the cache hits little of what is usual.
  struct Seen {
    uint32_t new_keys = 0;
    uint32_t second_uses = 0;
    double later_uses = 0;
    double regret = 0;
  };

  void gather(Found found, bool hit) {
    if (found == Found::kNot) ++seen_.new_keys;
    if (hit == (found != Found::kNot)) return;
    if (hit) {
      seen_.later_uses = std::max(0.0, seen_.later_uses - kAgainst);
      seen_.regret = std::max(0.0, seen_.regret - kAgainst);
      return;
    }
    if (found == Found::kOnce) ++seen_.second_uses;
    if (found == Found::kAgain) ++seen_.later_uses;
    ++seen_.regret;
  }

  bool is_enough() const {
    if (seen_.regret >= kRegret * keys_) return true;
    return seen_.new_keys >= kNewKeys * keys_ && seen_.second_uses >= kSecondUses * keys_ &&
           seen_.later_uses >= std::max(kLeastLaterUses, kLaterUses * keys_);
  }

  // The keys that were used last, the last one first. 0: none.
  using Bucket = std::array<uint32_t, kWays>;
  // Of an entry. The rest is a part of the key's hash: of 16 bits, a key of a scan would pass for
  // one of 512 too often.
  static constexpr uint32_t kSecond = 1;

  // A use of the other cache.
  Found look_up(uint32_t key_hash) {
    Bucket& bucket = bucket_of(key_hash);
    const uint32_t key = key_hash | kSecond;
    for (size_t way = 0; way < kWays; ++way) {
      const uint32_t entry = bucket[way];
      if ((entry | kSecond) != key || entry == 0) continue;
      put_first(bucket, way, key);
      return entry == key ? Found::kAgain : Found::kOnce;
    }
    put_first(bucket, kWays - 1, key_hash & ~kSecond);
    return Found::kNot;
  }

  Bucket& bucket_of(uint32_t key_hash) {
    return buckets_[(uint64_t{key_hash} * buckets_.size()) >> 32];
  }
  // In the place of the one at `way`.
  static void put_first(Bucket& bucket, size_t way, uint32_t entry) {
    std::shift_right(bucket.begin(), bucket.begin() + way + 1, 1);
    bucket[0] = entry;
  }

  const uint32_t keys_;
  const double recent_uses_;
  std::vector<Bucket> buckets_;
  uint32_t quiet_uses_ = 0;
  Seen seen_;
  // Of the cache, of sampled uses.
  double recent_ratio_ = 1;
  double usual_ratio_ = 1;
};

}  // namespace nvcache
