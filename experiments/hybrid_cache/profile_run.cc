#include "experiments/hybrid_cache/profile_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "apps/command/interrupt.h"
#include "base/text.h"
#include "experiments/harness/awake_processors.h"
#include "experiments/harness/process_time.h"
#include "experiments/workload/ycsb.h"

namespace nvcache {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kPaceTick = std::chrono::microseconds(500);

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

// What the threads of a run share. Thread-safe.
struct Shared {
  Shared(ProfileStore& store_, const ProfilePlan& plan_, const Clock& clock_)
      : store(store_),
        plan(plan_),
        clock(clock_),
        records(*plan_.profile, plan_.store_seed),
        keys(*plan_.profile, plan_.keys, plan_.store_seed),
        start_ns(clock_.now_ns()) {}

  ProfileStore& store;
  const ProfilePlan& plan;
  const Clock& clock;
  const ProfileRecords records;
  const ProfileKeys keys;
  const uint64_t start_ns;
  std::atomic<Phase> phase{Phase::kWarmup};
  std::atomic<uint64_t> tickets{0};  // with a rate: operations that were taken on

  Phase now() const { return phase.load(std::memory_order_relaxed); }
};

// run() on its own thread; ops() from any thread; the rest once run() returned.
class Client {
 public:
  Client(Shared& shared, uint32_t thread)
      : shared_(shared),
        stream_(*shared.plan.profile, shared.keys, thread_seed(shared.plan.seed, thread)) {}

  void run() {
    bool measuring = false;
    for (;;) {
      if (shared_.plan.sine) wait_for_turn();
      const Phase phase = shared_.now();
      if (phase == Phase::kStopped) break;
      if (phase == Phase::kMeasured && !measuring) {
        measuring = true;
        for (Histogram& histogram : latency_ns_) histogram.clear();
        rows_sought_ = values_verified_ = 0;
      }
      const ProfileOperation op = stream_.next();
      prepare(op);
      const uint64_t start_ns = shared_.clock.now_ns();
      status_ = issue(op);
      const uint64_t end_ns = shared_.clock.now_ns();
      if (status_.ok()) status_ = check(op);
      if (!status_.ok()) {
        shared_.phase.store(Phase::kStopped, std::memory_order_relaxed);
        break;
      }
      latency_ns_[static_cast<size_t>(op.type)].record(end_ns - start_ns);
      // Only this thread writes it.
      ops_.store(ops() + 1, std::memory_order_relaxed);
    }
  }

  uint64_t ops() const { return ops_.load(std::memory_order_relaxed); }
  const Status& status() const { return status_; }

  void add_to(ProfileResult& result) const {
    for (size_t i = 0; i < kProfileOpTypes; ++i) {
      result.latency_ns[i].merge(latency_ns_[i]);
      result.ops += latency_ns_[i].count();
    }
    result.rows_sought += rows_sought_;
    result.values_verified += values_verified_;
  }

 private:
  void wait_for_turn() {
    const auto ticket =
        static_cast<double>(shared_.tickets.fetch_add(1, std::memory_order_relaxed));
    for (;;) {
      const double now = seconds_between(shared_.start_ns, shared_.clock.now_ns());
      if (operations_due(*shared_.plan.profile, now) > ticket) return;
      if (shared_.now() == Phase::kStopped) return;
      std::this_thread::sleep_for(kPaceTick);
    }
  }

  // The latency leaves out the time to make values and to verify results.
  void prepare(const ProfileOperation& op) {
    shared_.records.key(op.number, &key_);
    if (op.type == ProfileOpType::kPut) {
      shared_.records.value(op.database, op.number, op.version, key_, &value_);
    }
  }

  Status issue(const ProfileOperation& op) {
    switch (op.type) {
      case ProfileOpType::kGet:
        return shared_.store.get(op.database, key_, &value_);
      case ProfileOpType::kPut:
        return shared_.store.put(op.database, key_, value_);
      case ProfileOpType::kSeek:
        return seek(op);
    }
    return internal_error("unknown operation");
  }

  Status check(const ProfileOperation& op) {
    if (op.type != ProfileOpType::kGet) return ok_status();
    ++values_verified_;
    return shared_.records.verify(op.database, op.number, key_, value_);
  }

  Status seek(const ProfileOperation& op) {
    uint64_t wanted = op.number;
    const auto visit = [&](std::string_view key, std::string_view value) {
      uint64_t number = 0;
      Status status = shared_.records.number_of(key, &number);
      if (status.ok() && number != wanted) {
        status = data_loss_error(fmt::format("a seek found pair {}, not {}", number, wanted));
      }
      ++wanted;
      ++rows_sought_;
      ++values_verified_;
      return status.ok() ? shared_.records.verify(op.database, number, key, value) : status;
    };
    return shared_.store.seek(op.database, key_, shared_.plan.profile->seek_rows, visit);
  }

  Shared& shared_;
  ProfileStream stream_;
  std::string key_;
  std::string value_;
  Status status_;
  std::array<Histogram, kProfileOpTypes> latency_ns_;
  uint64_t rows_sought_ = 0;
  uint64_t values_verified_ = 0;
  alignas(64) std::atomic<uint64_t> ops_{0};
};

// Watches a run from outside: progress, and when to go on.
class Conductor {
 public:
  Conductor(Shared& shared, Progress& progress, const std::vector<std::unique_ptr<Client>>& clients,
            const AwakeProcessors& awake)
      : shared_(shared), progress_(progress), clients_(clients), awake_(awake) {}

  void conduct(ProfileResult& result) {
    watch(shared_.plan.warmup_seconds, "warming up");
    result.before = shared_.store.metrics();
    shared_.store.take_storage_reads();
    const double awake_before = awake_.cpu_seconds();
    const double cpu_before = process_cpu_seconds();
    const double machine_before = machine_cpu_seconds();
    const uint64_t measured_ns = shared_.clock.now_ns();
    advance(Phase::kWarmup, Phase::kMeasured);
    watch(shared_.plan.seconds, "measuring");
    advance(Phase::kMeasured, Phase::kStopped);
    result.seconds = seconds_between(measured_ns, shared_.clock.now_ns());
    const double awake_seconds = awake_.cpu_seconds() - awake_before;
    result.cpu_seconds = process_cpu_seconds() - cpu_before - awake_seconds;
    result.machine_cpu_seconds = machine_cpu_seconds() - machine_before - awake_seconds;
    result.storage = shared_.store.take_storage_reads();
    result.after = shared_.store.metrics();
  }

 private:
  // Moves on to `to`, unless a failed client has stopped the run.
  void advance(Phase from, Phase to) {
    shared_.phase.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  void watch(double seconds, const char* what) {
    const uint64_t from_ns = shared_.clock.now_ns();
    const uint64_t ops_before = total_ops();
    for (;;) {
      const double elapsed = seconds_between(from_ns, shared_.clock.now_ns());
      if (shared_.now() == Phase::kStopped || interrupted() || elapsed >= seconds) break;
      progress_.update(fmt::format(
          "{}: {} {:.0f}/{:.0f} s, {:.0f} ops/s", shared_.plan.title, what, elapsed, seconds,
          static_cast<double>(total_ops() - ops_before) / std::max(elapsed, 0.001)));
      std::this_thread::sleep_for(kTick);
    }
    if (interrupted()) shared_.phase.store(Phase::kStopped, std::memory_order_relaxed);
  }

  uint64_t total_ops() const {
    uint64_t ops = 0;
    for (const auto& client : clients_) ops += client->ops();
    return ops;
  }

  Shared& shared_;
  Progress& progress_;
  const std::vector<std::unique_ptr<Client>>& clients_;
  const AwakeProcessors& awake_;
};

}  // namespace

StatusOr<ProfileResult> run_profile(ProfileStore& store, const ProfilePlan& plan,
                                    const Clock& clock, Progress& progress) {
  AwakeProcessors awake;
  if (plan.awake) {
    if (Status status = awake.start(); !status.ok()) return status;
  }
  ProfileResult result;
  Shared shared(store, plan, clock);
  std::vector<std::unique_ptr<Client>> clients;
  for (uint32_t i = 0; i < plan.threads; ++i) {
    clients.push_back(std::make_unique<Client>(shared, i));
  }
  std::vector<std::thread> threads;
  for (const auto& client : clients) threads.emplace_back([&client] { client->run(); });
  Conductor(shared, progress, clients, awake).conduct(result);
  for (std::thread& thread : threads) thread.join();
  for (const auto& client : clients) {
    if (!client->status().ok()) return client->status();
    client->add_to(result);
  }
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  if (result.ops == 0) return internal_error("no operation finished in the measured time");
  return result;
}

}  // namespace nvcache
