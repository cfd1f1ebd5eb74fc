// What a block cache says of itself.
#include <string>

#include "block_cache/block_store.h"
#include "block_cache/counters.h"
#include "policy/admission/overhead_ratio.h"

namespace nvcache {

// Of this cache's own questions: a thread that asks several caches by turns would else bring the
// totals to the same one each time.
bool BlockStore::totals_are_due() const {
  StripedCounters<Question>::Stripe& stripe = questions_.mine();
  stripe.add(Question::kAsked, 1);
  return stripe.value(Question::kAsked) % totals_interval_ == 0;
}

Traffic BlockStore::traffic_for_admission() const {
  const bool with_totals = totals_interval_ != 0 && totals_are_due();
  Traffic traffic = with_totals ? this->traffic() : Traffic{};
  traffic.storage_read_ns = static_cast<double>(storage_read_.ns());
  traffic.hit_read_ns = static_cast<double>(medium_->read_ns());
  traffic.write_kib_ns = static_cast<double>(medium_->write_kib_ns());
  traffic.dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  traffic.now_ns = clock_.now_ns();
  return traffic;
}

Traffic BlockStore::traffic() const {
  Traffic traffic;
  traffic.has_totals = true;
  traffic.hits = counters_.sum(Count::kHits);
  traffic.lookups = traffic.hits + counters_.sum(Count::kMisses);
  traffic.inserted = counters_.sum(Count::kInserts);
  traffic.removed = counters_.sum(Count::kRemovals);
  traffic.hit_bytes = counters_.sum(Count::kHitBytes);
  traffic.written_bytes = counters_.sum(Count::kMediumWrittenBytes);
  traffic.dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  // Stripes are summed one by one: a removal may be seen before its insertion.
  const uint64_t entered = traffic.inserted + counters_.sum(Count::kRecovered);
  traffic.resident_blocks = entered > traffic.removed ? entered - traffic.removed : 0;
  traffic.now_ns = clock_.now_ns();
  return traffic;
}

Stats BlockStore::stats() const {
  Stats stats;
  read_counters(counters_, &stats);
  for (size_t i = 0; i < kReasonCount; ++i) {
    stats.refused[i] = refused_.sum(static_cast<Refusal>(i));
  }
  // In place, a hit is the read.
  if (reader_.reads() != Reads::kByCopy) stats.medium_read_bytes = counters_.sum(Count::kHitBytes);
  stats.overhead_ratio = overhead_ratio(traffic());
  stats.blocks = stats.inserts + stats.recovered_blocks - stats.removals;
  const uint64_t removed_bytes = counters_.sum(Count::kRemovedBytes);
  stats.data_bytes =
      counters_.sum(Count::kInsertedBytes) + counters_.sum(Count::kRecoveredBytes) - removed_bytes;
  stats.used_bytes = space_->used_bytes();
  stats.size_bytes = space_->limit_bytes();
  stats.metadata_bytes = space_->metadata_bytes() + admission_->metadata_bytes();
  for (const auto& shard : shards_) stats.metadata_bytes += shard->metadata_bytes();
  stats.dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  stats.pending_bytes = write_queue_ == nullptr ? 0 : write_queue_->pending_bytes();
  if (regions_ != nullptr) {
    stats.pending_bytes = regions_->writer().pending_bytes();
    stats.buffer_bytes = regions_->writer().buffer_bytes();
    stats.regions = regions_->regions();
    stats.free_regions = regions_->free_regions();
    stats.discarded_bytes = regions_->discarded_bytes();
    stats.discard_errors = regions_->discard_errors();
    stats.damaged_regions = regions_->damaged_regions();
    stats.recovering = regions_->recovering() ? 1 : 0;
  }
  stats.set_aside_bytes =
      regions_ != nullptr ? regions_->set_aside_bytes() : in_place_->set_aside_bytes();
  stats.failed = health_.off() ? 1 : 0;
  stats.medium = medium_->traits().name;
  stats.admission = admission_->describe();
  stats.eviction = config_.eviction;
  return stats;
}

}  // namespace nvcache
