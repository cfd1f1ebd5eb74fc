#include "experiments/run/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "apps/command/interrupt.h"
#include "experiments/harness/awake_processors.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kPaceTick = std::chrono::microseconds(500);
constexpr double kSampleSeconds = 0.5;

enum class Phase : uint8_t { kWarmup, kMeasured, kStopped };

// Time that all processors spent on anything, from the first line of /proc/stat:
// user, nice, system, idle, iowait, irq, softirq, steal, in clock ticks.
double machine_cpu_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  double busy = 0;
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    file >> ticks;
    const bool idle = i == 3 || i == 4;
    if (!idle) busy += ticks;
  }
  return file ? busy / static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
}

// Shared by the threads of a run. Thread-safe.
struct RunShared {
  KvEngine& engine;
  LoadRun& load_run;
  const Clock& clock;
  const uint64_t start_ns;
  const size_t operations;
  std::atomic<Phase> phase{Phase::kWarmup};
  std::atomic<uint64_t> tickets{0};  // with a rate: operations that were taken on

  Phase now() const { return phase.load(std::memory_order_relaxed); }
  double elapsed() const { return seconds_between(start_ns, clock.now_ns()); }
};

// run() on its own thread; ops() from any thread; the rest once run() returned.
class Worker {
 public:
  Worker(RunShared& shared, uint32_t thread, bool measures)
      : shared_(shared),
        client_(shared.load_run.client(thread)),
        measures_(measures),
        paced_(shared.load_run.due(0).has_value()),
        latency_ns_(shared.operations) {}

  void run() {
    bool measuring = false;
    shared_.engine.thread_block_reads();
    for (;;) {
      if (paced_) wait_for_turn();
      const Phase phase = shared_.now();
      if (phase == Phase::kStopped || (phase == Phase::kMeasured && !measures_)) break;
      if (phase == Phase::kMeasured && !measuring) {
        measuring = true;
        begin_measuring();
      }
      const size_t operation = client_->next(measuring);
      const uint64_t start_ns = shared_.clock.now_ns();
      status_ = client_->issue();
      const uint64_t end_ns = shared_.clock.now_ns();
      if (status_.ok()) status_ = client_->check();
      if (!status_.ok()) {
        shared_.phase.store(Phase::kStopped, std::memory_order_relaxed);
        break;
      }
      latency_ns_[operation].record(end_ns - start_ns);
      // Only this thread writes it.
      ops_.store(ops() + 1, std::memory_order_relaxed);
    }
    block_reads_ = shared_.engine.thread_block_reads() - block_reads_before_;
  }

  uint64_t ops() const { return ops_.load(std::memory_order_relaxed); }
  const Status& status() const { return status_; }

  void add_to(RunResult& result) const {
    if (!measures_) return;
    for (size_t i = 0; i < latency_ns_.size(); ++i) {
      result.latency_ns[i].merge(latency_ns_[i]);
      result.ops += latency_ns_[i].count();
    }
    result.rows_scanned += client_->rows_scanned;
    result.values_verified += client_->values_verified;
    result.block_reads += block_reads_;
  }

 private:
  void wait_for_turn() {
    const auto ticket =
        static_cast<double>(shared_.tickets.fetch_add(1, std::memory_order_relaxed));
    while (*shared_.load_run.due(shared_.elapsed()) <= ticket && shared_.now() != Phase::kStopped) {
      std::this_thread::sleep_for(kPaceTick);
    }
  }

  void begin_measuring() {
    for (Histogram& histogram : latency_ns_) histogram.clear();
    client_->rows_scanned = client_->values_verified = 0;
    block_reads_before_ = shared_.engine.thread_block_reads();
  }

  RunShared& shared_;
  const std::unique_ptr<Client> client_;
  const bool measures_;  // false: a thread of the warm-up only
  const bool paced_;
  Status status_;
  std::vector<Histogram> latency_ns_;
  uint64_t block_reads_before_ = 0;
  uint64_t block_reads_ = 0;
  alignas(64) std::atomic<uint64_t> ops_{0};
};

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
    sampled_ns_ = shared_.start_ns;
    sample_metrics(shared_.engine.metrics());
    wait_for(plan_.warmup_seconds, plan_.warmup_ops, "warming up");
    result_.warmup_seconds = shared_.elapsed();
    result_.before = shared_.engine.metrics();
    shared_.engine.take_storage_reads();
    const double awake_before = awake_.cpu_seconds();
    const double cpu_before = process_cpu_seconds();
    const double machine_before = machine_cpu_seconds();
    const uint64_t measured_ns = shared_.clock.now_ns();
    advance(Phase::kWarmup, Phase::kMeasured);
    wait_for(plan_.seconds, 0, "measuring");
    advance(Phase::kMeasured, Phase::kStopped);
    result_.seconds = seconds_between(measured_ns, shared_.clock.now_ns());
    const double awake_seconds = awake_.cpu_seconds() - awake_before;
    result_.cpu_seconds = process_cpu_seconds() - cpu_before - awake_seconds;
    result_.machine_cpu_seconds = machine_cpu_seconds() - machine_before - awake_seconds;
    result_.storage = shared_.engine.take_storage_reads();
    result_.after = shared_.engine.metrics();
  }

 private:
  // Moves to `to`, unless a worker that failed has stopped the run.
  void advance(Phase from, Phase to) {
    shared_.phase.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  // Until the time is over, or `most_ops` operations (0: any number) are done.
  void wait_for(double seconds, uint64_t most_ops, const char* what) {
    const uint64_t from_ns = shared_.clock.now_ns();
    for (;;) {
      const uint64_t now_ns = shared_.clock.now_ns();
      const double elapsed = seconds_between(from_ns, now_ns);
      if (shared_.now() == Phase::kStopped || interrupted() || elapsed >= seconds) break;
      if (most_ops > 0 && total_ops() >= most_ops) break;
      if (seconds_between(sampled_ns_, now_ns) >= kSampleSeconds) take_sample(now_ns);
      show(what, elapsed, seconds);
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
    sample.at_seconds = seconds_between(shared_.start_ns, now_ns);
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
  uint64_t sampled_ns_ = 0;
  uint64_t sampled_ops_ = 0;
  uint64_t sampled_hits_ = 0;
  uint64_t sampled_lookups_ = 0;
};

}  // namespace

StatusOr<RunResult> run_load(KvEngine& engine, const Load& load, uint64_t seed, const RunPlan& plan,
                             const Clock& clock, Progress& progress) {
  AwakeProcessors awake;
  if (plan.awake) {
    if (Status status = awake.start(); !status.ok()) return status;
  }
  const std::unique_ptr<LoadRun> load_run = load.begin(engine, seed);
  RunShared shared{engine, *load_run, clock, clock.now_ns(), load.operations().size()};
  RunResult result;
  result.latency_ns.resize(shared.operations);
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < std::max(plan.threads, plan.warmup_threads); ++i) {
    workers.push_back(std::make_unique<Worker>(shared, i, i < plan.threads));
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
