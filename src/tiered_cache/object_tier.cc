#include "tiered_cache/object_tier.h"

#include <algorithm>

namespace nvcache {
namespace {

constexpr size_t kMinShardBytes = size_t{512} << 10;
constexpr int kMaxUsualShardBits = 6;

// Every change takes a shard's lock, even if the first tier has no capacity.
int usual_shard_bits(size_t capacity_bytes) {
  if (capacity_bytes == 0) return kMaxUsualShardBits;
  int bits = 0;
  while (bits < kMaxUsualShardBits && (capacity_bytes / kMinShardBytes) >> (bits + 1) > 0) ++bits;
  return bits;
}

}  // namespace

ObjectTier::ObjectTier(const Options& options, LowerTiers* lower_tiers)
    : shard_bits_(options.shard_bits >= 0 ? options.shard_bits
                                          : usual_shard_bits(options.whole.capacity_bytes)),
      capacity_bytes_(options.whole.capacity_bytes),
      strict_(options.whole.strict) {
  shards_.resize(size_t{1} << shard_bits_);
  ObjectShard::Options each = options.whole;
  each.capacity_bytes = share_of(options.whole.capacity_bytes);
  for (std::unique_ptr<ObjectShard>& shard : shards_) {
    shard = std::make_unique<ObjectShard>(each, lower_tiers, &counts_);
  }
}

void ObjectTier::set_capacity(size_t capacity_bytes, RemovedEntries* removed) {
  capacity_bytes_.store(capacity_bytes, std::memory_order_relaxed);
  for (const auto& shard : shards_) shard->set_capacity(share_of(capacity_bytes), removed);
}

void ObjectTier::set_strict(bool strict) {
  strict_.store(strict, std::memory_order_relaxed);
  for (const auto& shard : shards_) shard->set_strict(strict);
}

ObjectShard::Use ObjectTier::use() const {
  ObjectShard::Use sum;
  for (const auto& shard : shards_) {
    const ObjectShard::Use use = shard->use();
    sum.charged_bytes += use.charged_bytes;
    sum.visiting_bytes += use.visiting_bytes;
    sum.outside_bytes += use.outside_bytes;
    sum.entries += use.entries;
    sum.buckets += use.buckets;
    sum.inserts += use.inserts;
    sum.promoted_in += use.promoted_in;
  }
  // Threads count a moment after they take or drop a reference.
  const auto held_bytes = static_cast<int64_t>(counts_.sum(ObjectCount::kPinnedBytes));
  sum.pinned_bytes = sum.outside_bytes + static_cast<size_t>(std::max<int64_t>(0, held_bytes));
  sum.hits = counts_.sum(ObjectCount::kHits);
  sum.lookups = counts_.sum(ObjectCount::kLookups);
  return sum;
}

void ObjectTier::erase_idle(RemovedEntries* removed) {
  for (const auto& shard : shards_) shard->erase_idle(removed);
}

void ObjectTier::for_each(absl::FunctionRef<void(ObjectEntry*)> visit,
                          absl::FunctionRef<void(ObjectEntry*)> release) {
  std::vector<ObjectEntry*> held;
  for (const auto& shard : shards_) {
    size_t bucket = 0;
    for (bool more = true; more;) {
      held.clear();
      more = shard->inspect(&bucket, &held);
      for (ObjectEntry* entry : held) {
        visit(entry);
        release(entry);
      }
    }
  }
}

}  // namespace nvcache
