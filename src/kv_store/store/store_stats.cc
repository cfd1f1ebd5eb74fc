// The statistics of the store: the counters of all threads, and the gauges of its parts.
#include "kv_store/store/store.h"

namespace nvcache {

KvStats KvStoreImpl::stats() const {
  KvStats stats;
  read_counters(parts_.counters, &stats);
  const ZoneHeaders::Live live = parts_.headers.live();
  stats.items = live.items + parts_.table.cached_keys();
  stats.data_bytes = live.data_bytes() + cache_.used_bytes();
  stats.size_bytes = parts_.geometry.size_bytes;
  stats.metadata_bytes = parts_.zones.memory_bytes() + parts_.table.memory_bytes() +
                         parts_.geometry.slots() + index_.memory_bytes() + sizeof(KvStoreImpl);
  stats.max_item_bytes = parts_.geometry.zone_bytes / 2 - kKvItemHeaderBytes;
  stats.table_places = parts_.geometry.slots();
  stats.fitting_item_bytes = fitting_item_bytes(parts_.geometry, live.items, live.item_bytes);
  stats.recovered_items = recovery_.recovered_items();
  stats.recovery_seconds = recovery_seconds_;
  stats.away_seconds = away_s_;
  stats.recovered = parts_.recovered;
  stats.failed = parts_.memory.failed();
  stats.medium = parts_.medium.medium->traits().name;
  stats.durability = durability_name(parts_.config.durability);
  if (const PageFile* const file = parts_.medium.file; file != nullptr) {
    stats.file = file->path();
    stats.file_lost = !file->is_at_its_path();
  }
  stats.notes = parts_.medium.notes;
  return stats;
}

}  // namespace nvcache
