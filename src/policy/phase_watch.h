// Tells when the uses of a cache have become others: when it hits little of what it used to, while
// a cache of the same size that admits all that it misses would hit far more.
//
// It keeps the keys of such a cache, first in first out, of a sample (shadow_caches.h). While the
// cache hits less than kLow of what is usual, it weighs those of its uses that one of both would
// hit and the other not: for "three of four are the other's", against "as many are the cache's"
// (Wald's sequential test). A scan changes nothing: what never comes again, no cache hits.
//
// A new set that the cache has room for is noticed after about half as many lookups as the cache
// has blocks; in one of fewer than 24,000 blocks, of whose keys one in 48 is sampled, after some
// 10,000 and more.
//
// Memory: 4 bytes a key of the sample. A use looks through all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace nvcache {

// Caller-locked.
class PhaseWatch {
 public:
  // Throws std::bad_alloc.
  explicit PhaseWatch(uint32_t keys) : capacity_(keys) { keys_.reserve(keys); }

  // A use of a sampled key. True where the uses have become others: then not again before twice as
  // many uses as there are keys, in which the cache may follow.
  bool use(uint32_t key, bool hit) {
    NVCACHE_ASSERT_SLOW(keys_.size() <= capacity_);
    recent_ratio_ += ((hit ? 1 : 0) - recent_ratio_) / kRecentUses;
    usual_ratio_ += ((hit ? 1 : 0) - usual_ratio_) / (kUsualUsesPerKey * capacity_);
    const bool would_hit = std::ranges::find(keys_, key) != keys_.end();
    if (!would_hit) enter(key);
    if (quiet_uses_ > 0) {
      --quiet_uses_;
      return false;
    }
    if (recent_ratio_ > kLow * usual_ratio_) {
      evidence_ = 0;
    } else if (would_hit != hit) {
      evidence_ = std::max(0.0, evidence_ + (would_hit ? kFor : kAgainst));
    }
    if (evidence_ < kEnough) return false;
    evidence_ = 0;
    quiet_uses_ = 2 * capacity_;
    return true;
  }

  uint64_t metadata_bytes() const { return keys_.capacity() * sizeof(keys_[0]); }

 private:
  static constexpr double kRecentUses = 64;
  static constexpr double kUsualUsesPerKey = 4;
  static constexpr double kLow = 0.4;
  static constexpr double kFor = 0.405;       // ln(0.75 / 0.5)
  static constexpr double kAgainst = -0.693;  // ln(0.25 / 0.5)
  static constexpr double kEnough = 8;        // e^8 = 3000 times as likely

  void enter(uint32_t key) {
    if (keys_.size() < capacity_) {
      keys_.push_back(key);
      return;
    }
    keys_[oldest_] = key;
    oldest_ = (oldest_ + 1) % capacity_;
  }

  const uint32_t capacity_;
  // Parts of hashes. Of 16 bits, a key of a scan would pass for one of 512 too often.
  std::vector<uint32_t> keys_;
  uint32_t oldest_ = 0;
  uint32_t quiet_uses_ = 0;
  double evidence_ = 0;
  // Of the cache, of sampled uses.
  double recent_ratio_ = 0;
  double usual_ratio_ = 0;
};

}  // namespace nvcache
