// One thread of a run: takes operations from its stream, issues them, verifies
// what it reads, and keeps its own histograms.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "experiments/ycsb/run.h"

namespace nvcache {

enum class Phase : uint8_t { kWarmup, kMeasured, kStopped };

// What the threads of a run share. Thread-safe.
struct RunShared {
  RunShared(KvEngine& engine_, const Clock& clock_, uint64_t records)
      : engine(engine_), clock(clock_), sequence(records) {}

  KvEngine& engine;
  const Clock& clock;
  KeySequence sequence;
  std::atomic<Phase> phase{Phase::kWarmup};
};

// run() on its own thread; ops() from any thread; the rest once run() returned.
class Worker {
 public:
  Worker(RunShared& shared, const RunPlan& plan, const KeyChooser& chooser,
         const KeyChooser& warmup_chooser, uint32_t thread);

  void run();

  uint64_t ops() const { return ops_.load(std::memory_order_relaxed); }
  const Status& status() const { return status_; }
  void add_to(RunResult& result) const;

 private:
  void begin_measuring();
  Status issue(const Operation& op);
  Status read();
  Status update(const Operation& op);
  Status insert(const Operation& op);
  Status scan(const Operation& op);

  RunShared& shared_;
  OperationStream warmup_;
  OperationStream measured_;
  std::string key_;
  std::string value_;
  const bool measures_;  // false: a thread of the warm-up only
  Status status_;
  std::array<Histogram, kOpTypeCount> latency_ns_;
  uint64_t rows_scanned_ = 0;
  uint64_t values_verified_ = 0;
  uint64_t block_reads_before_ = 0;
  uint64_t block_reads_ = 0;
  alignas(64) std::atomic<uint64_t> ops_{0};
};

}  // namespace nvcache
