#include "experiments/simulate/study.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engines.h"

namespace nvcache::simulate {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(100);

// Whether the size of the NVRAM makes a difference.
bool needs_nvram(const Options& options) {
  const EngineRow& engine = *find_engine(options.engine);
  return engine.needs_nvram != nullptr && engine.needs_nvram(options);
}

// Splits "NAME:SIZE".
Status set_configuration(std::string_view text, Options* options) {
  const auto [name, size] = split_once(text, ':');
  options->configuration = name;
  if (name.size() == text.size()) return ok_status();
  const StatusOr<uint64_t> bytes = parse_size_bytes(size);
  if (!bytes.ok()) return invalid_argument("--config: {}: {}", text, bytes.status().message());
  options->page_cache_bytes = *bytes;
  return ok_status();
}

// Beside a larger NVRAM that can hold it.
bool is_left_out(const Options& options, uint64_t largest_nvram_bytes) {
  const EngineRow* const engine = find_engine(options.engine);
  return engine != nullptr && engine->nvram_is_memory != nullptr &&
         engine->nvram_is_memory(options) && options.page_cache_bytes > options.nvram_bytes &&
         options.page_cache_bytes <= largest_nvram_bytes;
}

// Takes runs by turns until there are none, or one failed.
class Crew {
 public:
  Crew(std::vector<Run>& runs, uint32_t jobs)
      : runs_(runs), shares_(runs.size()), working_(static_cast<int>(jobs)) {
    for (uint32_t i = 0; i < jobs; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Crew() {
    stopped_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

  bool done() const { return working_.load() == 0; }
  void stop() { stopped_.store(true); }
  double share() const {
    double sum = 0;
    for (const std::atomic<double>& share : shares_) sum += share.load();
    return sum / static_cast<double>(shares_.size());
  }
  Status status() {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  void work() {
    while (!stopped_.load()) {
      const size_t next = next_.fetch_add(1);
      if (next >= runs_.size()) break;
      const auto on_progress = [this, next](double share) {
        shares_[next].store(share);
        return stopped_.load() ? cancelled_error("stopped") : ok_status();
      };
      StatusOr<Result> result = simulate(runs_[next].options, on_progress);
      shares_[next].store(1);
      if (result.ok()) {
        runs_[next].result = *std::move(result);
        continue;
      }
      MutexLock lock(mutex_);
      if (status_.ok()) status_ = result.status();
      stopped_.store(true);
    }
    working_.fetch_sub(1);
  }

  std::vector<Run>& runs_;
  std::vector<std::atomic<double>> shares_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};
  Mutex mutex_;
  Status status_ NVCACHE_GUARDED_BY(mutex_);
  std::atomic<int> working_;
  std::vector<std::thread> threads_;
};

}  // namespace

StatusOr<std::vector<Run>> plan(const StudyOptions& study) {
  std::vector<Run> runs;
  const uint64_t largest = *std::max_element(study.nvram_bytes.begin(), study.nvram_bytes.end());
  for (const std::string& workload : study.workloads) {
    for (const uint64_t nvram_bytes : study.nvram_bytes) {
      for (const std::string& configuration : study.configurations) {
        Options options = study.base;
        options.workload = workload;
        options.nvram_bytes = nvram_bytes;
        Status status = set_configuration(configuration, &options);
        if (!status.ok()) return status;
        if (is_left_out(options, largest)) continue;
        const StatusOr<Options> whole = complete(options);
        if (!whole.ok()) return whole.status();
        if (!needs_nvram(*whole) && nvram_bytes != study.nvram_bytes.front()) continue;
        for (uint32_t round = 0; round < study.rounds; ++round) {
          runs.push_back({.configuration = configuration, .options = *whole, .result = {}});
          runs.back().options.seed += round;
        }
      }
    }
  }
  return runs;
}

Status carry_out(std::vector<Run>& runs, uint32_t jobs, const OnProgress& on_progress) {
  if (runs.empty()) return ok_status();
  Status status;
  Crew crew(runs, std::clamp<uint32_t>(jobs, 1, static_cast<uint32_t>(runs.size())));
  while (!crew.done()) {
    std::this_thread::sleep_for(kPollInterval);
    if (status.ok() && on_progress) status = on_progress(crew.share());
    if (!status.ok()) crew.stop();
  }
  return status.ok() ? crew.status() : status;
}

}  // namespace nvcache::simulate
