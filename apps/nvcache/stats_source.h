// Where statistics come from, as `nvcache top` is told: a file that a program writes, or the
// address of a metrics port. Reads it once; keeps nothing open. Thread-safe.
#pragma once

#include <string>

#include "apps/nvcache/server_stats.h"
#include "apps/nvcache/stats_snapshot.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct StatsReading {
  StatsSnapshot snapshot;
  PrefixTable prefixes;        // of nvcached, from its metrics port
  double written_seconds = 0;  // Unix time: when the file was written, or the address answered
  bool is_live = false;        // an address: as new as can be
};

// An address without a path is that of a metrics port: /metrics there. Of nvcached a second request
// brings the prefixes of keys. Errors name the source, what is wrong with it, and what else it
// might be.
[[nodiscard]] StatusOr<StatsReading> read_stats(const std::string& source);

double unix_seconds();  // by the wall clock, as files' times are

}  // namespace nvcache
