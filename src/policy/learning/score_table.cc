#include "policy/learning/score_table.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/prng.h"
#include "policy/learning/use_score.h"

namespace nvcache {
namespace {

constexpr uint32_t kFingerprintBits = 16 - UseScore::kBits;

uint32_t score_fingerprint_of(uint64_t mixed) {
  return std::max<uint32_t>(static_cast<uint32_t>(mixed >> (64 - kFingerprintBits)), 1);
}
uint32_t score_of(uint16_t entry) { return entry & UseScore::kMask; }
uint16_t entry_of(uint64_t mixed, uint32_t score) {
  NVCACHE_ASSERT_SLOW(score <= UseScore::kMask);
  return static_cast<uint16_t>(score_fingerprint_of(mixed) << UseScore::kBits | score);
}

}  // namespace

ScoreTable::ScoreTable(uint64_t max_entries)
    : buckets_(std::max(max_entries, kMinEntries) / kWays + 1),
      buckets_in_use_(kMinEntries / kWays) {}

// Linear hashing: the buckets that are not split yet are found by one bit less.
uint64_t ScoreTable::index_of(uint64_t mixed) const {
  const uint64_t mask = std::bit_ceil(buckets_in_use_) - 1;
  const uint64_t index = mixed & mask;
  NVCACHE_ASSERT_SLOW((mask >> 1) < buckets_in_use_);
  return index < buckets_in_use_ ? index : index & (mask >> 1);
}

uint16_t* ScoreTable::find(uint64_t mixed) {
  const uint32_t fingerprint = score_fingerprint_of(mixed);
  for (uint16_t& entry : bucket_of(mixed)) {
    if (uint32_t{entry} >> UseScore::kBits == fingerprint) return &entry;
  }
  return nullptr;
}

uint16_t& ScoreTable::lowest(Bucket& bucket, uint32_t now) {
  return *std::ranges::min_element(bucket, {}, [now](uint16_t entry) {
    return entry == 0 ? UseScore::kLowest - 1 : UseScore::lead(score_of(entry), now);
  });
}

std::optional<uint32_t> ScoreTable::score(uint64_t key_hash) const {
  const uint16_t* const entry = const_cast<ScoreTable*>(this)->find(mix64(key_hash));
  if (entry == nullptr) return std::nullopt;
  return score_of(*entry);
}

uint32_t ScoreTable::use(uint64_t key_hash, uint32_t now, uint32_t noise) {
  const uint64_t mixed = mix64(key_hash);
  if (uint16_t* const entry = find(mixed); entry != nullptr) {
    const uint32_t score = UseScore::used(score_of(*entry), now, noise);
    *entry = entry_of(mixed, score);
    return score;
  }
  const uint32_t score = UseScore::once(now);
  empty_ = false;
  uint16_t& last = lowest(bucket_of(mixed), now);
  if (last == 0 || UseScore::lead(score_of(last), now) <= 0) last = entry_of(mixed, score);
  return score;
}

std::optional<uint32_t> ScoreTable::take_noted(uint64_t key_hash) {
  uint16_t* const entry = find(mix64(key_hash));
  if (entry == nullptr) return std::nullopt;
  const uint32_t score = score_of(*entry);
  *entry = 0;
  return score;
}

void ScoreTable::put(uint64_t key_hash, uint32_t score, uint32_t now) {
  const uint64_t mixed = mix64(key_hash);
  empty_ = false;
  uint16_t* entry = find(mixed);
  if (entry == nullptr) entry = &lowest(bucket_of(mixed), now);
  if (*entry != 0 && UseScore::lead(score_of(*entry), now) >= UseScore::lead(score, now)) return;
  *entry = entry_of(mixed, score);
}

void ScoreTable::follow(uint64_t entries) {
  const uint64_t wanted = std::min<uint64_t>(entries / kWays, buckets_.size());
  if (empty_) buckets_in_use_ = std::max(buckets_in_use_, wanted);
  for (uint64_t i = 0; i < kGrowth && buckets_in_use_ < wanted; ++i) {
    const uint64_t split = buckets_in_use_ - std::bit_floor(buckets_in_use_);
    buckets_[buckets_in_use_] = buckets_[split];
    ++buckets_in_use_;
  }
  NVCACHE_ASSERT_SLOW(buckets_in_use_ <= buckets_.size());
}

bool ScoreTable::age(uint64_t* bucket, uint64_t buckets, uint32_t now) {
  NVCACHE_ASSERT_SLOW(*bucket <= buckets_in_use_);
  const uint64_t end = std::min(*bucket + buckets, buckets_in_use_);
  for (; *bucket < end; ++*bucket) {
    for (uint16_t& entry : buckets_[*bucket]) {
      if (entry == 0) continue;
      const uint32_t aged = UseScore::age(score_of(entry), now);
      entry = static_cast<uint16_t>((entry & ~UseScore::kMask) | aged);
    }
  }
  return *bucket < buckets_in_use_;
}

}  // namespace nvcache
