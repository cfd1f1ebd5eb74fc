#include "policy/parts/frequency_table.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/prng.h"

namespace nvcache {
namespace {

constexpr uint32_t kMaxFingerprint = 1023;

uint32_t tag_of(uint64_t mixed) {
  return std::max<uint32_t>(static_cast<uint32_t>(mixed >> 54), 1);
}

uint32_t count_of(uint16_t entry) { return entry & FrequencyTable::kMaxCount; }

template <typename Bucket>
auto* find_entry(Bucket& bucket, uint32_t fingerprint) {
  for (auto& entry : bucket) {
    if (entry >> std::bit_width(FrequencyTable::kMaxCount) == static_cast<int>(fingerprint)) {
      return &entry;
    }
  }
  return static_cast<decltype(&bucket[0])>(nullptr);
}

}  // namespace

FrequencyTable::FrequencyTable(uint64_t max_entries)
    : buckets_(std::bit_ceil(std::max(max_entries, kMinEntries)) / kWays),
      buckets_in_use_(kMinEntries / kWays) {
  static_assert((kMaxFingerprint << kCountBits | kMaxCount) == UINT16_MAX);
}

uint32_t FrequencyTable::count(uint64_t key_hash) const {
  const uint64_t mixed = mix64(key_hash);
  const uint16_t* const entry = find_entry(bucket_of(mixed), tag_of(mixed));
  return entry == nullptr ? 0 : count_of(*entry);
}

uint32_t FrequencyTable::add(uint64_t key_hash) {
  const uint64_t mixed = mix64(key_hash);
  const uint32_t fingerprint = tag_of(mixed);
  Bucket& bucket = bucket_of(mixed);
  if (uint16_t* const entry = find_entry(bucket, fingerprint); entry != nullptr) {
    if (count_of(*entry) < kMaxCount) ++*entry;
    return count_of(*entry);
  }
  uint16_t& lowest = *std::ranges::min_element(bucket, {}, count_of);
  if (count_of(lowest) > 1) {
    --lowest;
    return 0;
  }
  lowest = static_cast<uint16_t>(fingerprint << kCountBits | 1);
  return 1;
}

uint32_t FrequencyTable::take(uint64_t key_hash) {
  const uint64_t mixed = mix64(key_hash);
  uint16_t* const entry = find_entry(bucket_of(mixed), tag_of(mixed));
  if (entry == nullptr) return 0;
  const uint32_t count = count_of(*entry);
  *entry = 0;
  return count;
}

void FrequencyTable::put(uint64_t key_hash, uint32_t count) {
  if (count == 0) return;
  const uint64_t mixed = mix64(key_hash);
  const uint32_t fingerprint = tag_of(mixed);
  Bucket& bucket = bucket_of(mixed);
  uint16_t* entry = find_entry(bucket, fingerprint);
  if (entry == nullptr) entry = &*std::ranges::min_element(bucket, {}, count_of);
  count = std::min(count, kMaxCount);
  if (count_of(*entry) >= count) return;
  *entry = static_cast<uint16_t>(fingerprint << kCountBits | count);
}

void FrequencyTable::follow(uint64_t entries) {
  if (this->entries() * 2 >= entries || buckets_in_use_ * 2 > buckets_.size()) return;
  for (uint64_t i = 0; i < buckets_in_use_; ++i) buckets_[buckets_in_use_ + i] = buckets_[i];
  buckets_in_use_ *= 2;
  NVCACHE_ASSERT(std::has_single_bit(buckets_in_use_) && buckets_in_use_ <= buckets_.size());
}

bool FrequencyTable::halve(uint64_t* bucket, uint64_t buckets) {
  NVCACHE_ASSERT_SLOW(*bucket <= buckets_in_use_);
  const uint64_t end = std::min(*bucket + buckets, buckets_in_use_);
  for (; *bucket < end; ++*bucket) {
    for (uint16_t& entry : buckets_[*bucket]) {
      const uint32_t halved = count_of(entry) / 2;
      entry = halved == 0 ? 0 : static_cast<uint16_t>((entry & ~kMaxCount) | halved);
    }
  }
  return *bucket < buckets_in_use_;
}

}  // namespace nvcache
