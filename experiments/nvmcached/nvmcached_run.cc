#include "experiments/nvmcached/nvmcached_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "apps/command/interrupt.h"
#include "apps/command/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/nvmcached/crash.h"
#include "experiments/nvmcached/nvmcached_figures.h"
#include "experiments/nvmcached/restart.h"
#include "experiments/nvmcached/system.h"

namespace nvcache::nvmcached {
namespace {

using nlohmann::json;

constexpr size_t kBatch = 10'000;  // requests that all systems get in turn
constexpr double kMixedFill = 0.5;
constexpr uint64_t kRestartChecks = 100'000;

class Run {
 public:
  Run(const Options& options, const Clock& clock)
      : options_(options), clock_(clock), progress_(clock) {}

  StatusOr<json> run() {
    if (options_.figures.contains(3)) {
      if (Status status = run_crashes(); !status.ok()) return status;
    }
    for (const std::string& medium : options_.media) {
      if (options_.figures.contains(4)) {
        if (Status status = run_mixes(medium); !status.ok()) return status;
      }
      if (options_.figures.contains(5)) {
        if (Status status = run_traces(medium); !status.ok()) return status;
      }
    }
    if (options_.restart) {
      if (Status status = run_restarts(); !status.ok()) return status;
    }
    return document();
  }

 private:
  using Systems = std::vector<std::unique_ptr<System>>;

  // ---- Figure 3 ----

  Status run_crashes() {
    CrashPlan plan{.cache_bytes = options_.cache_bytes,
                   .write_cache_bytes = options_.write_cache_bytes,
                   .drop_share = kPaperDropBytes / kPaperCacheBytes,
                   .window = options_.window,
                   .seed = options_.seed};
    for (const Trace& trace : options_.traces) {
      // "One of them (VAR) is not selected" (4.1).
      if (trace.name == "VAR") continue;
      for (const std::string_view name : {kMcDram, kNvmcached}) {
        const auto result = run_crash(find_kind(name), trace, plan, progress_);
        if (!result.ok()) return result.status();
        progress_.say(
            fmt::format("Figure 3, {} {}: {} items, {:.3f}% lost, misses {:.2f}% -> {:.2f}%",
                        trace.name, name, result->items_before, 100 * result->items_lost_share(),
                        100 * result->before.back(), 100 * result->after.front()));
        crashes_.push_back({{"trace", trace.name},
                            {"system", name},
                            {"keys", result->keys},
                            {"warm_windows", result->warm_windows},
                            {"misses_before", result->before},
                            {"misses_after", result->after},
                            {"items_before", result->items_before},
                            {"items_lost", result->items_lost},
                            {"items_dropped", result->items_dropped},
                            {"items_lost_share", result->items_lost_share()},
                            {"bytes_before", result->bytes_before},
                            {"bytes_lost_share", result->bytes_lost_share()},
                            {"write_cache_share", result->write_cache_share()},
                            {"rise", result->rise()},
                            {"open_seconds", result->open_seconds}});
      }
    }
    return ok_status();
  }

  // ---- Figures 4 and 5 ----

  StatusOr<Systems> open_systems(const std::string& medium, const Trace& trace,
                                 const RequestStream& stream, bool with_lru) {
    Systems systems;
    for (const Kind& kind : kinds()) {
      if (!with_lru && kind.durability == "each_lru") continue;
      auto system = System::open(kind, medium, options_.cache_bytes, trace);
      if (!system.ok()) return system.status();
      (*system)->load(stream);
      systems.push_back(*std::move(system));
      if (Status status = check_not_interrupted(); !status.ok()) return status;
    }
    return systems;
  }

  // All systems get the same requests, a batch at a time, each of them first in turn.
  Status measure(Systems& systems, const Trace& trace, RequestStream& stream,
                 const std::string& medium) {
    std::vector<Request> batch(std::min<uint64_t>(kBatch, options_.requests));
    const uint64_t batches = std::max<uint64_t>(1, options_.requests / batch.size());
    for (uint32_t round = 0; round <= options_.rounds; ++round) {  // the first warms up
      for (const auto& system : systems) system->start();
      for (uint64_t i = 0; i < batches; ++i) {
        for (Request& request : batch) request = stream.next();
        for (size_t k = 0; k < systems.size(); ++k) systems[(i + k) % systems.size()]->run(batch);
        if (Status status = check_not_interrupted(); !status.ok()) return status;
        progress_.update(
            fmt::format("{} on {}: round {}/{}", trace.name, medium, round, options_.rounds));
      }
      if (round == 0) continue;
      for (const auto& system : systems) {
        if (system->wrong() > 0) {
          return data_loss_error(fmt::format("{} {}: {} values were not their key's", trace.name,
                                             system->kind().name, system->wrong()));
        }
        runs_.push_back({{"workload", trace.name},
                         {"variant", medium},
                         {"configuration", system->kind().name},
                         {"round", round},
                         {"metrics", system->metrics()}});
      }
    }
    say_result(systems, trace, medium);
    return ok_status();
  }

  void say_result(const Systems& systems, const Trace& trace, const std::string& medium) {
    std::string text;
    for (const auto& system : systems) {
      text += fmt::format(" {} {:.0f}", system->kind().name,
                          system->metrics()["ns_per_op"].get<double>());
    }
    progress_.say(fmt::format("{} on {}: ns an operation:{}", trace.name, medium, text));
  }

  Status run_mixes(const std::string& medium) {
    for (const uint32_t value_bytes : options_.value_bytes) {
      const Trace shape = mixed_trace(value_bytes, 50, kMixedFill);
      const uint64_t keys = shape.keys_in(options_.cache_bytes);
      const RequestStream loading(shape, keys, options_.seed);
      auto systems = open_systems(medium, shape, loading, true);
      if (!systems.ok()) return systems.status();
      for (const double get_percent : options_.get_percents) {
        const Trace trace = mixed_trace(value_bytes, get_percent, kMixedFill);
        RequestStream stream(trace, keys, options_.seed + 1);
        if (Status status = measure(*systems, trace, stream, medium); !status.ok()) {
          return status;
        }
      }
    }
    return ok_status();
  }

  Status run_traces(const std::string& medium) {
    for (const Trace& trace : options_.traces) {
      RequestStream stream(trace, trace.keys_in(options_.cache_bytes), options_.seed);
      auto systems = open_systems(medium, trace, stream, false);
      if (!systems.ok()) return systems.status();
      if (Status status = measure(*systems, trace, stream, medium); !status.ok()) {
        return status;
      }
    }
    return ok_status();
  }

  // ---- Restart ----

  Status run_restarts() {
    RestartPlan plan{.items = options_.restart_items,
                     .folder = options_.folder,
                     .checks = std::min(kRestartChecks, options_.restart_items),
                     .seed = options_.seed};
    if (plan.folder.empty()) {
      const char* temporary = std::getenv("TMPDIR");
      plan.folder = temporary != nullptr && *temporary != '\0' ? temporary : "/var/tmp";
    }
    const auto result = run_restart(plan, clock_, progress_);
    if (!result.ok()) return result.status();
    if (result->wrong > 0) {
      return data_loss_error(
          fmt::format("restart: {} of {} values found were wrong", result->wrong, result->found));
    }
    progress_.say(fmt::format("restart: {} items, opened in {:.3f} s, first GET after {:.3f} s",
                              plan.items, result->open_seconds, result->first_get_seconds));
    restart_ = {{"items", plan.items},
                {"value_bytes", plan.value_bytes},
                {"build_seconds", result->build_seconds},
                {"open_seconds", result->open_seconds},
                {"first_get_seconds", result->first_get_seconds},
                {"file_bytes", result->file_bytes},
                {"recovered_items", result->recovered_items},
                {"checked", result->checked},
                {"found", result->found},
                {"wrong", result->wrong}};
    return ok_status();
  }

  // ---- The document ----

  json notes() const {
    json list = json::array();
    if (options_.emulated()) {
      list.push_back(
          "Throughput: operations / (processor time of the one thread, measured on plain DRAM + "
          "what the emulated medium would have made it wait). Waits are added up, not waited for: "
          "other processes and the model's own cost do not count. No network, no protocol: "
          "requests go to the store directly.");
      list.push_back(
          "Charged: GETs of items on the medium, flushed lines, drains, stores without a flush "
          "once they exceed a processor's cache (30 MiB). Not charged: lookups in the table. "
          "MC-DRAM runs on DRAM without a model (docs/design/model.md).");
    }
    if (options_.figures.contains(3)) {
      list.push_back(
          "Figure 3: the newest 60 MB of every 64 GB of cached data are destroyed, as in "
          "*NVMcached*, and so is what lay in DRAM. A SET stores the key missed last. Time plays "
          "no "
          "part, and no medium is emulated.");
    }
    list.push_back(
        "The traces of *NVMcached* were never published: mixes are its Table 1, sizes and locality "
        "those of experiments/workload/kv_traces.txt.");
    return list;
  }

  json setup() const {
    std::string media;
    for (const std::string& medium : options_.media) {
      media += fmt::format("{}{}", media.empty() ? "" : ", ", medium);
    }
    return {
        {"engine", "nvkv"},
        {"figures", options_.figures},
        {"tables", json::array()},
        {"medium", media},
        {"emulated", options_.emulated()},
        {"rounds", options_.rounds},
        {"requests", options_.requests},
        {"window", options_.window},
        {"seconds", 0},
        {"warmup_seconds", 0},

        {"cache_bytes", options_.cache_bytes},
        {"drop_share", kPaperDropBytes / kPaperCacheBytes},
        {"size_factor", std::lround(kPaperCacheBytes / static_cast<double>(options_.cache_bytes))},
        {"time_factor", 1},
        {"thread_factor", 1},
        {"scale_text",
         fmt::format(
             "the 64 GB of *NVMcached* are {}; keys, values and latencies are unscaled; one thread",
             format_bytes(options_.cache_bytes))},
        {"runs_name", "Each run"},
        {"runs_text", fmt::format("{} requests, after as many to warm up", options_.requests)},
        {"threads", 1},
        {"seed", options_.seed},
        {"notes", notes()}};
  }

  json configurations() const {
    json list = json::array();
    for (const Kind& kind : kinds()) {
      std::string medium = "dram";
      if (!kind.on_dram) {
        medium.clear();
        for (const std::string& each : options_.media) {
          medium += fmt::format("{}{}", medium.empty() ? "" : ", ", each);
        }
      }
      list.push_back(
          {{"name", kind.name},
           {"what", fmt::format("durability={}", kind.durability)},
           {"spec", store_spec(kind.durability, options_.cache_bytes, mixed_trace(1000, 50, 1))},
           {"medium", medium},
           {"emulated", !kind.on_dram && options_.emulated()}});
    }
    return list;
  }

  json traces() const {
    json list = json::array();
    for (const Trace& trace : options_.traces) {
      list.push_back({{"name", trace.name},
                      {"get", trace.get},
                      {"set", trace.set},
                      {"del", trace.del},
                      {"key_bytes", trace.key_bytes},
                      {"mean_item_bytes", trace.mean_item_bytes()},
                      {"keys", trace.keys_in(options_.cache_bytes)},
                      {"theta", trace.theta},
                      {"absent", trace.absent},
                      {"del_live", trace.del_live}});
    }
    return list;
  }

  json document() const {
    json result = paper_document("nvcache.kv/1", options_.command);
    result["engine"] = {{"name", "nvkv"}};
    result["setup"] = setup();
    result["configurations"] = configurations();
    result["traces"] = traces();
    result["runs"] = runs_;
    result["crashes"] = crashes_;
    result["restart"] = restart_;
    result["figures"] = make_figures(result);
    return result;
  }

  const Options& options_;
  const Clock& clock_;
  Progress progress_;
  json runs_ = json::array();
  json crashes_ = json::array();
  json restart_;
};

}  // namespace

StatusOr<json> run_nvmcached(const Options& options, const Clock& clock) {
  return Run(options, clock).run();
}

}  // namespace nvcache::nvmcached
