// What a block cache counts, one name per counter; nvcache/stats.h says what they mean.
#pragma once

#include "base/striped_counters.h"

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

}  // namespace nvcache
