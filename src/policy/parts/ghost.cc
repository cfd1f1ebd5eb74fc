#include "policy/parts/ghost.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/prng.h"

namespace nvcache {
namespace {

constexpr uint64_t kMaxEntries = uint64_t{1} << 33;  // 16 GiB of address space
constexpr uint64_t kGrowStepBuckets = 512;           // copies 8 KiB at most in one call
constexpr uint64_t kLanes = 0x0001000100010001ull;

// The top 16 bits; 0 stands for an empty entry.
uint64_t fingerprint_of(uint64_t mixed) { return std::max<uint64_t>(mixed >> 48, 1); }

// Whether one of the four 16-bit lanes of `word` is `fingerprint`.
bool holds(uint64_t word, uint64_t fingerprint) {
  const uint64_t x = word ^ (fingerprint * kLanes);
  return ((x - kLanes) & ~x & (kLanes << 15)) != 0;
}

// Pushes a fingerprint into a word and returns the one that falls out.
uint64_t push(std::atomic<uint64_t>& word, uint64_t fingerprint) {
  uint64_t before = word.load(std::memory_order_relaxed);
  while (
      !word.compare_exchange_weak(before, before << 16 | fingerprint, std::memory_order_relaxed)) {
  }
  return before >> 48;
}

}  // namespace

Ghost::Ghost(uint64_t max_entries)
    : buckets_(std::clamp(max_entries, kMinEntries, kMaxEntries) / kWays) {}

uint64_t Ghost::index_of(uint64_t mixed) const {
  const uint64_t in_use = buckets_in_use_.load(std::memory_order_acquire);
  const uint64_t half = std::bit_floor(in_use);
  uint64_t index = mixed & (2 * half - 1);
  if (index >= in_use) index &= half - 1;  // not split yet
  NVCACHE_ASSERT_SLOW(index < in_use);
  return index;
}

bool Ghost::contains(uint64_t key_hash) const {
  const uint64_t mixed = mix64(key_hash);
  const uint64_t fingerprint = fingerprint_of(mixed);
  const Bucket& bucket = buckets_[index_of(mixed)];
  return holds(bucket.young.load(std::memory_order_relaxed), fingerprint) ||
         holds(bucket.old.load(std::memory_order_relaxed), fingerprint);
}

bool Ghost::remember(uint64_t key_hash) {
  const uint64_t mixed = mix64(key_hash);
  const uint64_t fingerprint = fingerprint_of(mixed);
  Bucket& bucket = buckets_[index_of(mixed)];
  if (holds(bucket.young.load(std::memory_order_relaxed), fingerprint) ||
      holds(bucket.old.load(std::memory_order_relaxed), fingerprint)) {
    return true;
  }
  const uint64_t pushed_out = push(bucket.young, fingerprint);
  if (pushed_out != 0) push(bucket.old, pushed_out);
  return false;
}

void Ghost::follow(uint64_t entries) {
  const uint64_t wanted =
      std::clamp<uint64_t>(entries / kWays, kMinBuckets, static_cast<uint64_t>(buckets_.size()));
  const uint64_t seen = buckets_in_use_.load(std::memory_order_relaxed);
  if (wanted <= seen && wanted >= seen / 2) return;
  if (!resize_mutex_.try_lock()) return;
  uint64_t in_use = buckets_in_use_.load(std::memory_order_relaxed);
  if (wanted < in_use / 2) {
    buckets_in_use_.store(wanted, std::memory_order_relaxed);
  }
  const uint64_t step_end = std::min(wanted, in_use + kGrowStepBuckets);
  NVCACHE_ASSERT_SLOW(step_end <= buckets_.size());
  for (; in_use < step_end; ++in_use) {
    const Bucket& from = buckets_[in_use - std::bit_floor(in_use)];
    Bucket& to = buckets_[in_use];
    to.young.store(from.young.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to.old.store(from.old.load(std::memory_order_relaxed), std::memory_order_relaxed);
    buckets_in_use_.store(in_use + 1, std::memory_order_release);
    most_buckets_.store(std::max(in_use + 1, most_buckets_.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
  }
  NVCACHE_ASSERT_SLOW(buckets_in_use_.load() <= most_buckets_.load());
  resize_mutex_.unlock();
}

}  // namespace nvcache
