#include "experiments/ycsb/run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "apps/command/interrupt.h"
#include "experiments/harness/awake_processors.h"
#include "experiments/harness/process_time.h"
#include "experiments/ycsb/worker.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr double kSampleSeconds = 0.5;

// YCSB leaves room for 2 x operations x share of inserts; a run limited by time
// does not know its operations, so it leaves room for 2% more records.
uint64_t expected_inserts(const RunPlan& plan) {
  if (plan.workload.share(OpType::kInsert) + plan.warmup_workload.share(OpType::kInsert) == 0) {
    return 0;
  }
  return plan.records / 50 + 1000;
}

uint64_t foreground_hits(const Stats& stats) { return stats.hits - stats.background_hits; }
uint64_t foreground_lookups(const Stats& stats) {
  return stats.hits + stats.misses - stats.background_hits - stats.background_misses;
}

// Watches a run from outside: samples, progress, and when to go on.
class Conductor {
 public:
  Conductor(RunShared& shared, const RunPlan& plan, Progress& progress,
            const std::vector<std::unique_ptr<Worker>>& workers, const AwakeProcessors& awake,
            RunResult& result)
      : shared_(shared),
        plan_(plan),
        progress_(progress),
        workers_(workers),
        awake_(awake),
        result_(result) {}

  void conduct() {
    start_ns_ = sampled_ns_ = shared_.clock.now_ns();
    sample_metrics(shared_.engine.metrics());
    watch(plan_.warmup_seconds, plan_.warmup_ops, "warming up");
    result_.warmup_seconds = seconds_between(start_ns_, shared_.clock.now_ns());
    result_.before = shared_.engine.metrics();
    const double cpu_before = process_cpu_seconds() - awake_.cpu_seconds();
    const uint64_t measured_ns = shared_.clock.now_ns();
    advance(Phase::kWarmup, Phase::kMeasured);
    watch(plan_.seconds, 0, "measuring");
    advance(Phase::kMeasured, Phase::kStopped);
    result_.seconds = seconds_between(measured_ns, shared_.clock.now_ns());
    result_.cpu_seconds = process_cpu_seconds() - awake_.cpu_seconds() - cpu_before;
    result_.after = shared_.engine.metrics();
  }

 private:
  bool stopped() const { return shared_.phase.load(std::memory_order_relaxed) == Phase::kStopped; }

  // Moves to `to`, unless a worker that failed has stopped the run.
  void advance(Phase from, Phase to) {
    shared_.phase.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  // Until the time is over, or `most_ops` operations (0: any number) are done.
  void watch(double seconds, uint64_t most_ops, const char* what) {
    const uint64_t from_ns = shared_.clock.now_ns();
    for (;;) {
      const uint64_t now_ns = shared_.clock.now_ns();
      if (stopped() || interrupted() || seconds_between(from_ns, now_ns) >= seconds) break;
      if (most_ops > 0 && total_ops() >= most_ops) break;
      if (seconds_between(sampled_ns_, now_ns) >= kSampleSeconds) take_sample(now_ns);
      show(what, seconds_between(from_ns, now_ns), seconds);
      std::this_thread::sleep_for(kTick);
    }
    // The rest of the last interval, if it is long enough to mean something.
    const uint64_t end_ns = shared_.clock.now_ns();
    if (seconds_between(sampled_ns_, end_ns) >= kSampleSeconds / 2) take_sample(end_ns);
    if (interrupted()) shared_.phase.store(Phase::kStopped, std::memory_order_relaxed);
  }

  uint64_t total_ops() const {
    uint64_t ops = 0;
    for (const auto& worker : workers_) ops += worker->ops();
    return ops;
  }

  void take_sample(uint64_t now_ns) {
    const uint64_t ops = total_ops();
    const double interval = seconds_between(sampled_ns_, now_ns);
    Sample sample;
    sample.at_seconds = seconds_between(start_ns_, now_ns);
    sample.ops_per_second = static_cast<double>(ops - sampled_ops_) / interval;
    sample.tier_hit_ratio = sample_metrics(shared_.engine.metrics());
    result_.series.push_back(sample);
    sampled_ops_ = ops;
    sampled_ns_ = now_ns;
  }

  // The hit ratio since the last call; -1 where there were no lookups.
  double sample_metrics(const EngineMetrics& metrics) {
    if (!metrics.tier) return -1;
    const uint64_t hits = foreground_hits(*metrics.tier);
    const uint64_t lookups = foreground_lookups(*metrics.tier);
    const double ratio = lookups == sampled_lookups_
                             ? -1
                             : static_cast<double>(hits - sampled_hits_) /
                                   static_cast<double>(lookups - sampled_lookups_);
    sampled_hits_ = hits;
    sampled_lookups_ = lookups;
    return ratio;
  }

  void show(const char* what, double elapsed, double total) {
    std::string line = fmt::format("{}: {} {:.0f}/{:.0f} s", plan_.title, what, elapsed, total);
    if (!result_.series.empty()) {
      const Sample& last = result_.series.back();
      line += fmt::format(", {:.0f} ops/s", last.ops_per_second);
      if (last.tier_hit_ratio >= 0) line += fmt::format(", hit {:.1f}%", 100 * last.tier_hit_ratio);
    }
    progress_.update(line);
  }

  RunShared& shared_;
  const RunPlan& plan_;
  Progress& progress_;
  const std::vector<std::unique_ptr<Worker>>& workers_;
  const AwakeProcessors& awake_;
  RunResult& result_;
  uint64_t start_ns_ = 0;
  uint64_t sampled_ns_ = 0;
  uint64_t sampled_ops_ = 0;
  uint64_t sampled_hits_ = 0;
  uint64_t sampled_lookups_ = 0;
};

}  // namespace

StatusOr<RunResult> run_workload(KvEngine& engine, const RunPlan& plan, const Clock& clock,
                                 Progress& progress) {
  AwakeProcessors awake;
  if (plan.awake) {
    if (Status status = awake.start(); !status.ok()) return status;
  }
  RunResult result;
  RunShared shared(engine, clock, plan.records);
  const uint64_t room = expected_inserts(plan);
  const auto chooser = make_key_chooser(plan.workload.distribution, shared.sequence, room);
  const auto warmup = make_key_chooser(plan.warmup_workload.distribution, shared.sequence, room);
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < std::max(plan.threads, plan.warmup_threads); ++i) {
    workers.push_back(std::make_unique<Worker>(shared, plan, *chooser, *warmup, i));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
  Conductor(shared, plan, progress, workers, awake, result).conduct();
  for (std::thread& thread : threads) thread.join();
  for (const auto& worker : workers) {
    if (!worker->status().ok()) return worker->status();
    worker->add_to(result);
  }
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  if (result.ops == 0) return internal_error("no operation finished in the measured time");
  return result;
}

}  // namespace nvcache
