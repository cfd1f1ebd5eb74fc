// The counters of a block cache, one name each; the table in stats.cc has a row for each total
// of Stats, and nvcache/stats.h says what they mean.
#pragma once

#include "base/striped_counters.h"
#include "nvcache/stats.h"
#include "nvcache/verdict.h"

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
  kFailed,
  kMediumErrors,
  kMediumReadBytes,
  kMediumWrittenBytes,
  kMediumWrites,
  kRecovered,
  kRecoveredBytes,
  kRewritten,
  kRewrittenBytes,
  kCompressed,
  kCompressedBytes,
  kFieldCount,
};

using Counters = StripedCounters<Count>;

// Blocks refused: a field for each Reason, in its order. Apart from Counters, since a lookup has no
// use for them. An engine that writes has most of its offers refused, in all of its threads.
enum class Refusal : size_t { kFieldCount = kReasonCount };

using Refusals = StripedCounters<Refusal>;

// Sets the totals of `stats`, and leaves its gauges and its refusals alone.
void read_counters(const Counters& counters, Stats* stats);

}  // namespace nvcache
