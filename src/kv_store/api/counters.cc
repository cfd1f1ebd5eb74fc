#include "kv_store/api/counters.h"

namespace nvcache {

void read_counters(const KvCounters& counters, KvStats* stats) {
  const auto sum = [&](KvCounter counter) { return counters.sum(counter); };
  stats->gets = sum(KvCounter::kGets);
  stats->hits = sum(KvCounter::kHits);
  stats->expired = sum(KvCounter::kExpired);
  stats->outdated = sum(KvCounter::kOutdated);
  stats->puts = sum(KvCounter::kPuts);
  stats->inserts = sum(KvCounter::kInserts);
  stats->updates = sum(KvCounter::kUpdates);
  stats->erases = sum(KvCounter::kErases);
  stats->refused = sum(KvCounter::kRefused);
  stats->evicted = sum(KvCounter::kEvicted);
  stats->table_evicted = sum(KvCounter::kTableEvicted);
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
  stats->syncs = sum(KvCounter::kSyncs);
  stats->finished_cleanings = sum(KvCounter::kFinishedCleanings);
}

}  // namespace nvcache
