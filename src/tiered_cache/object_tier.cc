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

int shard_bits_of(const SharedRoom::Options& room) {
  return room.shard_bits >= 0 ? room.shard_bits : usual_shard_bits(room.capacity_bytes);
}

SharedRoom::Options with_shards(SharedRoom::Options room, int shard_bits) {
  room.shard_bits = shard_bits;
  return room;
}

}  // namespace

ObjectTier::ObjectTier(const Options& options, LowerTiers* lower_tiers)
    : shard_bits_(shard_bits_of(options.room)),
      room_(with_shards(options.room, shard_bits_), static_cast<AllShards*>(this)) {
  shards_.resize(size_t{1} << shard_bits_);
  for (std::unique_ptr<ObjectShard>& shard : shards_) {
    shard = std::make_unique<ObjectShard>(options.charge_metadata, lower_tiers, &room_, &counts_);
  }
}

void ObjectTier::set_capacity(size_t capacity_bytes, RemovedEntries* removed) {
  room_.set_capacity(capacity_bytes);
  evict_beyond_parts(removed);
}

// As the hand of a clock over all shards: it goes on behind the shard that evicted last.
bool ObjectTier::evict_beyond_parts(RemovedEntries* removed) {
  const size_t first = turn_.load(std::memory_order_relaxed);
  for (size_t step = 0; step < ObjectLists::kSteps; ++step) {
    bool all_fit = true;
    bool more = false;
    for (size_t i = 0; i < shards_.size(); ++i) {
      const size_t number = (first + i) % shards_.size();
      const ObjectShard::Shrunk shrunk = shards_[number]->evict_beyond_part(step, removed);
      if (shrunk.evicted) turn_.store(number + 1, std::memory_order_relaxed);
      all_fit = all_fit && shrunk.fits;
      more = more || shrunk.evicted || (!shrunk.fits && shrunk.has_more);
    }
    if (all_fit) return true;
    if (!more) return false;  // what is beyond is held
  }
  return false;
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
  }
  // Threads count a moment after they take or drop a reference.
  const auto held_bytes = static_cast<int64_t>(counts_.sum(TierCount::kPinnedBytes));
  sum.pinned_bytes = sum.outside_bytes + static_cast<size_t>(std::max<int64_t>(0, held_bytes));
  return sum;
}

void ObjectTier::erase_idle(RemovedEntries* removed) {
  for (const auto& shard : shards_) shard->erase_idle(removed);
}

void ObjectTier::for_each(FunctionRef<void(ObjectEntry*)> visit,
                          FunctionRef<void(ObjectEntry*)> release) {
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
