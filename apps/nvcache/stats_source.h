// Where statistics come from, as `nvcache top` is told: a file that a program writes, or the
// address of a metrics port. Reads it once; keeps nothing open. Thread-safe.
#pragma once

#include <string>

#include "apps/nvcache/stats_snapshot.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct StatsReading {
  StatsSnapshot snapshot;
  double written_seconds = 0;  // Unix time: when the file was written, or the address answered
  bool is_live = false;        // an address: as new as can be
};

// Errors name the source, what is wrong with it, and what else it might be.
[[nodiscard]] StatusOr<StatsReading> read_stats(const std::string& source);

double unix_seconds();  // by the wall clock, as files' times are

}  // namespace nvcache
