#include <algorithm>

#include "kv_store/store.h"
#include "nlohmann/json.hpp"

namespace nvcache {

// Items and their bytes. From counts in the zones' headers: after a loss of power these are
// what had reached the medium, so nonsense is left out.
std::pair<uint64_t, uint64_t> KvStoreImpl::live() const {
  uint64_t items = 0;
  uint64_t item_bytes = 0;
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
    const std::byte* header = header_at(zone);
    const uint64_t zone_items =
        load_word(header + offsetof(KvZoneHeader, live_items), std::memory_order_relaxed);
    const uint64_t zone_item_bytes =
        load_word(header + offsetof(KvZoneHeader, live_bytes), std::memory_order_relaxed);
    if (zone_items <= geometry_.zone_bytes / kKvItemHeaderBytes) items += zone_items;
    if (zone_item_bytes <= geometry_.zone_bytes) item_bytes += zone_item_bytes;
  }
  return {items, item_bytes};
}

KvStats KvStoreImpl::stats() const {
  const auto sum = [&](KvCounter counter) { return counters_.sum(counter); };
  KvStats stats;
  stats.gets = sum(KvCounter::kGets);
  stats.hits = sum(KvCounter::kHits);
  stats.expired = sum(KvCounter::kExpired);
  stats.puts = sum(KvCounter::kPuts);
  stats.inserts = sum(KvCounter::kInserts);
  stats.updates = sum(KvCounter::kUpdates);
  stats.erases = sum(KvCounter::kErases);
  stats.refused = sum(KvCounter::kRefused);
  stats.evicted = sum(KvCounter::kEvicted);
  stats.relocated = sum(KvCounter::kRelocated);
  stats.relocated_bytes = sum(KvCounter::kRelocatedBytes);
  stats.zones_cleaned = sum(KvCounter::kZonesCleaned);
  stats.hot_sets_kept = sum(KvCounter::kHotSetsKept);
  stats.write_cache_hits = sum(KvCounter::kWriteCacheHits);
  stats.flushes = sum(KvCounter::kFlushes);
  stats.flushed_bytes = sum(KvCounter::kFlushedBytes);
  stats.flushed_lines = sum(KvCounter::kFlushedLines);
  stats.drains = sum(KvCounter::kDrains);
  stats.medium_written_bytes = sum(KvCounter::kWrittenBytes);
  stats.damaged = sum(KvCounter::kDamaged);
  const auto [items, item_bytes] = live();
  uint64_t cached = 0;
  const uint64_t stripes = stripe_mask_ + 1;
  for (uint64_t i = 0; i < stripes; ++i) {
    cached += stripes_[i].cached.load(std::memory_order_relaxed);
  }
  stats.items = items + cached;
  stats.data_bytes =
      item_bytes - std::min(item_bytes, items * kKvItemHeaderBytes) + cache_.used_bytes();
  stats.size_bytes = geometry_.size_bytes;
  stats.metadata_bytes = geometry_.zones * sizeof(Zone) + stripes * sizeof(Stripe) +
                         geometry_.slots() + geometry_.slots() / 8 + geometry_.groups +
                         sizeof(KvStoreImpl);
  stats.recovered_items = recovered_items_;
  stats.recovery_seconds = recovery_seconds_;
  stats.recovered = recovered_;
  stats.medium = medium_.medium->traits().name;
  stats.durability = durability_name(config_.durability);
  return stats;
}

std::string KvStats::to_json() const {
  nlohmann::ordered_json json = {{"gets", gets},
                                 {"hits", hits},
                                 {"expired", expired},
                                 {"puts", puts},
                                 {"inserts", inserts},
                                 {"updates", updates},
                                 {"erases", erases},
                                 {"refused", refused},
                                 {"evicted", evicted},
                                 {"relocated", relocated},
                                 {"relocated_bytes", relocated_bytes},
                                 {"zones_cleaned", zones_cleaned},
                                 {"hot_sets_kept", hot_sets_kept},
                                 {"write_cache_hits", write_cache_hits},
                                 {"flushes", flushes},
                                 {"flushed_bytes", flushed_bytes},
                                 {"flushed_lines", flushed_lines},
                                 {"drains", drains},
                                 {"medium_written_bytes", medium_written_bytes},
                                 {"damaged", damaged},
                                 {"items", items},
                                 {"data_bytes", data_bytes},
                                 {"size_bytes", size_bytes},
                                 {"metadata_bytes", metadata_bytes},
                                 {"recovered_items", recovered_items},
                                 {"recovery_seconds", recovery_seconds},
                                 {"recovered", recovered},
                                 {"medium", medium},
                                 {"durability", durability}};
  return json.dump();
}

}  // namespace nvcache
