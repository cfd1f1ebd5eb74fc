#include "kv_store/counters.h"

#include "nlohmann/json.hpp"

namespace nvcache {

void read_counters(const KvCounters& counters, KvStats* stats) {
  const auto sum = [&](KvCounter counter) { return counters.sum(counter); };
  stats->gets = sum(KvCounter::kGets);
  stats->hits = sum(KvCounter::kHits);
  stats->expired = sum(KvCounter::kExpired);
  stats->puts = sum(KvCounter::kPuts);
  stats->inserts = sum(KvCounter::kInserts);
  stats->updates = sum(KvCounter::kUpdates);
  stats->erases = sum(KvCounter::kErases);
  stats->refused = sum(KvCounter::kRefused);
  stats->evicted = sum(KvCounter::kEvicted);
  stats->relocated = sum(KvCounter::kRelocated);
  stats->relocated_bytes = sum(KvCounter::kRelocatedBytes);
  stats->zones_cleaned = sum(KvCounter::kZonesCleaned);
  stats->hot_sets_kept = sum(KvCounter::kHotSetsKept);
  stats->write_cache_hits = sum(KvCounter::kWriteCacheHits);
  stats->flushes = sum(KvCounter::kFlushes);
  stats->flushed_bytes = sum(KvCounter::kFlushedBytes);
  stats->flushed_lines = sum(KvCounter::kFlushedLines);
  stats->drains = sum(KvCounter::kDrains);
  stats->medium_written_bytes = sum(KvCounter::kWrittenBytes);
  stats->damaged = sum(KvCounter::kDamaged);
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
