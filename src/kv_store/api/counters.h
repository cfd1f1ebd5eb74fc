// The counters of a key-value store, one for each total of KvStats. The table in kv_stats.cc
// has a row for each. Thread-safe; an addition takes no locked instruction
// (base/striped_counters.h).
#pragma once

#include <cstdint>

#include "base/striped_counters.h"
#include "nvcache/kv_store.h"

namespace nvcache {

enum class KvCounter : uint8_t {
  kGets,
  kHits,
  kExpired,
  kOutdated,
  kPuts,
  kInserts,
  kUpdates,
  kErases,
  kRefused,
  kEvicted,
  kTableEvicted,
  kRelocated,
  kRelocatedBytes,
  kZonesCleaned,
  kHotSetsKept,
  kWriteCacheHits,
  kFlushes,
  kFlushedBytes,
  kFlushedLines,
  kDrains,
  kWrittenBytes,
  kDamaged,
  kSyncs,
  kFinishedCleanings,
  kFieldCount,
};

using KvCounters = StripedCounters<KvCounter>;

// Sets the totals of `stats`, and leaves its gauges alone.
void read_counters(const KvCounters& counters, KvStats* stats);

}  // namespace nvcache
