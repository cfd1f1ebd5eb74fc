#include "experiments/simulate/simulate.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/engines.h"
#include "experiments/simulate/main_memory.h"
#include "experiments/simulate/recorder.h"
#include "experiments/simulate/scheduler.h"
#include "experiments/simulate/storage.h"
#include "experiments/simulate/tables.h"
#include "experiments/simulate/tier.h"

namespace nvcache::simulate {
namespace {

constexpr uint32_t kEventsAProgress = 1 << 16;

// Carries out an engine's tasks, and the tier's upkeep, in the order of time.
class Simulation {
 public:
  Simulation(const EngineRow& engine, const Options& options, std::unique_ptr<Tier> tier)
      : row_(engine),
        options_(options),
        end_ns_(static_cast<uint64_t>(options.minutes * 60e9 / options.scale)),
        time_(options.cores),
        memory_(engine.make_memory == nullptr ? make_dram() : engine.make_memory(options)),
        storage_(*find_row(kStorages, options.storage)),
        tier_(std::move(tier)),
        recorder_(end_ns_) {}

  StatusOr<Result> run(const OnProgress& on_progress) {
    StatusOr<std::unique_ptr<EngineModel>> engine =
        row_.make({options_, time_, *memory_, storage_, tier_.get(), recorder_});
    if (!engine.ok()) return engine.status();
    engine_ = *std::move(engine);
    std::vector<Task> tasks = engine_->tasks();
    if (tier_ != nullptr) tasks.push_back(maintain());
    for (const Task& task : tasks) time_.start(task);
    for (uint32_t events = 0; time_.step(end_ns_); ++events) {
      if (!half_ && time_.now_ns() >= recorder_.half_ns()) half_ = counts();
      if (events % kEventsAProgress != 0 || !on_progress) continue;
      Status status =
          on_progress(static_cast<double>(time_.now_ns()) / static_cast<double>(end_ns_));
      if (!status.ok()) return status;
    }
    return result();
  }

 private:
  struct Counts {
    EngineModel::Lookups cache;  // of the tier, or of what the engine is
    uint64_t storage_read_bytes = 0;
  };
  Counts counts() const {
    Counts counts{.cache = engine_->lookups(), .storage_read_bytes = storage_.read_bytes()};
    if (tier_ == nullptr) return counts;
    const Tier::Counts tier = tier_->counts();
    counts.cache = {.lookups = tier.lookups, .hits = tier.hits};
    return counts;
  }

  Task maintain() {
    for (;;) {
      co_await time_.idle_until(time_.now_ns() + tier_->maintenance_interval_ns());
      tier_->maintain(time_.now_ns());
    }
  }

  Result result() const {
    Result result;
    result.options = options_;
    recorder_.count(&result);
    engine_->count(&result);
    if (tier_ != nullptr) tier_->count(&result);
    memory_->count(&result);
    result.storage_read_bytes = storage_.read_bytes();
    result.storage_written_bytes = storage_.written_bytes();
    const Counts before = half_.value_or(Counts{});
    const Counts end = counts();
    result.warm_storage_read_bytes = end.storage_read_bytes - before.storage_read_bytes;
    const uint64_t lookups = end.cache.lookups - before.cache.lookups;
    if (lookups > 0) {
      result.warm_tier_hit_ratio =
          static_cast<double>(end.cache.hits - before.cache.hits) / static_cast<double>(lookups);
    }
    return result;
  }

  const EngineRow& row_;
  const Options options_;
  const uint64_t end_ns_;
  Scheduler time_;
  const std::unique_ptr<MainMemory> memory_;
  Storage storage_;
  const std::unique_ptr<Tier> tier_;
  Recorder recorder_;
  std::unique_ptr<EngineModel> engine_;
  std::optional<Counts> half_;
};

}  // namespace

StatusOr<Result> simulate(const Options& given, const OnProgress& on_progress) try {
  StatusOr<Options> options = complete(given);
  if (!options.ok()) return options.status();
  const EngineRow& engine = *find_engine(options->engine);
  std::unique_ptr<Tier> tier;
  if (engine.make_tier != nullptr) {
    StatusOr<std::unique_ptr<Tier>> opened = engine.make_tier(*options);
    if (!opened.ok()) return opened.status();
    tier = *std::move(opened);
  }
  return Simulation(engine, *options, std::move(tier)).run(on_progress);
} catch (const std::bad_alloc&) {
  return resource_exhausted_error(
      "no memory for a simulation of this size; allowed: a larger "
      "--scale");
}

}  // namespace nvcache::simulate
