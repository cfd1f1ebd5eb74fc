// One run: threads issue the operations of a load against an open engine, first to warm its
// caches, then measured.
//
//   warm-up -> measured -> stopped;  an error or an interrupt goes to stopped at once
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "experiments/engines/engine.h"
#include "experiments/run/load.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct RunPlan {
  uint32_t threads = 1;
  uint32_t warmup_threads = 0;  // of the warm-up, if more than `threads`
  double warmup_seconds = 0;
  uint64_t warmup_ops = 0;  // ends the warm-up sooner, after that many; 0: no limit
  double seconds = 0;
  bool awake = false;  // keep processors from halting: see AwakeProcessors
  std::string title;   // for the progress line
};

struct Sample {
  double at_seconds = 0;  // end of the interval, from the start of the warm-up
  double ops_per_second = 0;
  double tier_hit_ratio = -1;  // in the interval; -1: no lookups, or no tier
};

struct RunResult {
  double warmup_seconds = 0;  // as it was
  double seconds = 0;         // of the measured part, as all fields below
  uint64_t ops = 0;
  uint64_t rows_scanned = 0;
  uint64_t values_verified = 0;
  uint64_t block_reads = 0;
  double cpu_seconds = 0;             // user and system time of the process, AwakeProcessors' apart
  double machine_cpu_seconds = 0;     // of all processes, likewise; 0 where it cannot be told
  std::vector<Histogram> latency_ns;  // in the order of Load::operations()
  EngineMetrics before;
  EngineMetrics after;
  StorageReads storage;
  std::vector<Sample> series;  // warm-up included
};

// Fails if an operation fails, or a value read is not what was written (DATA_LOSS),
// or when interrupted (CANCELLED).
[[nodiscard]] StatusOr<RunResult> run_load(KvEngine& engine, const Load& load, uint64_t seed,
                                           const RunPlan& plan, const Clock& clock,
                                           Progress& progress);

}  // namespace nvcache
