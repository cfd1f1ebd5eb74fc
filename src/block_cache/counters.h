// What a block cache counts, one name per counter; the table in stats.cc has a row for each total
// of Stats, and nvcache/stats.h says what they mean.
#pragma once

#include "base/striped_counters.h"
#include "nvcache/stats.h"

namespace nvcache {

enum class Count : size_t {
  kHits,
  kMisses,
  kBackgroundHits,
  kBackgroundMisses,
  kHitBytes,
  kInserts,
  kInsertedBytes,
  kRemovals,
  kRemovedBytes,
  kEvictions,
  kErases,
  kDamaged,
  kMediumErrors,
  kMediumReadBytes,
  kMediumWrittenBytes,
  kMediumWrites,
  kRecovered,
  kRecoveredBytes,
  kRewritten,
  kRewrittenBytes,
  kFieldCount,
};

using Counters = StripedCounters<Count>;

// Sets the totals of `stats`, and leaves its gauges and its refusals alone.
void read_counters(const Counters& counters, Stats* stats);

}  // namespace nvcache
