// The order of runs of `nvcache bench profile`: each round goes through all caches.
#include <memory>

#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/profile_command.h"
#include "experiments/hybrid_cache/profile_folder.h"
#include "experiments/hybrid_cache/profile_run.h"
#include "experiments/ycsb/result.h"

namespace nvcache {
namespace {

using nlohmann::json;

Status check_caches(const ProfileOptions& options) {
  for (const Configuration& cache : options.configurations) {
    const Status status = check_store(cache.spec, options.storage);
    if (status.ok()) continue;
    return Status(status.code(), fmt::format("cache {}: {}", cache.name, status.message()));
  }
  return ok_status();
}

class ProfileBench {
 public:
  ProfileBench(const ProfileOptions& options, const Clock& clock)
      : options_(options), clock_(clock), progress_(clock) {}

  StatusOr<json> run() {
    if (Status status = check_caches(options_); !status.ok()) return status;
    auto folder = ProfileFolder::take(options_.db, options_.keep_db);
    if (!folder.ok()) return folder.status();
    auto loaded =
        (*folder)->load(options_.profile, options_.gb_bytes, options_.seed, clock_, progress_);
    if (!loaded.ok()) return loaded.status();
    loaded_ = *std::move(loaded);
    announce();
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      for (const Configuration& cache : options_.configurations) {
        Status status = run_one(**folder, cache, round);
        if (!status.ok()) return status;
      }
    }
    return document();
  }

 private:
  void announce() {
    progress_.say(fmt::format(
        "{}: {} databases of {} pairs, {}, {}", options_.profile.name, options_.profile.databases,
        loaded_.keys, format_bytes(loaded_.size_bytes),
        loaded_.load_seconds > 0 ? fmt::format("loaded in {:.1f} s", loaded_.load_seconds)
                                 : "loaded before"));
    const auto runs = static_cast<double>(options_.rounds * options_.configurations.size());
    progress_.say(fmt::format("{:g} runs: about {:.1f} minutes", runs,
                              runs * (options_.warmup_seconds + options_.seconds + 1) / 60));
    if (options_.storage != "disk") {
      progress_.say(fmt::format("storage {}: EMULATED", options_.storage));
    }
  }

  Status run_one(ProfileFolder& folder, const Configuration& cache, uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    auto directory = folder.copy_for_run(options_.profile.name);
    if (!directory.ok()) return directory.status();
    auto store = open_store({.directory = *directory,
                             .databases = options_.profile.databases,
                             .cache = cache.spec,
                             .storage = options_.storage,
                             .index_in_cache = options_.index_in_cache});
    if (!store.ok()) return store.status();
    ProfilePlan plan;
    plan.profile = &options_.profile;
    plan.keys = loaded_.keys;
    plan.store_seed = options_.seed;
    // All caches of a round see the same operations; rounds differ.
    plan.seed = mix64(options_.seed + round);
    plan.threads = options_.threads > 0 ? options_.threads : options_.profile.threads;
    plan.sine = options_.sine;
    plan.awake = options_.awake;
    plan.warmup_seconds = options_.warmup_seconds;
    plan.seconds = options_.seconds;
    plan.title = fmt::format("[{}/{}] {} {}", runs_.size() + 1,
                             options_.rounds * options_.configurations.size(),
                             options_.profile.name, cache.name);
    auto result = run_profile(**store, plan, clock_, progress_);
    Status closed = (*store)->close();
    if (!result.ok()) return result.status();
    if (!closed.ok()) return closed;
    runs_.push_back(profile_run_to_json(options_.profile.name, cache.name, round, *result));
    const json& metrics = runs_.back()["metrics"];
    progress_.say(fmt::format("{}: {:.0f} ops/s, hit {:.1f}%", plan.title,
                              metrics["ops_per_second"].get<double>(),
                              100 * metrics.value("hit_ratio", 0.0)));
    return ok_status();
  }

  json document() const {
    const bool emulated = options_.storage != "disk";
    json setup = {{"storage", options_.storage},
                  {"storage_emulated", emulated},
                  {"index", options_.index_in_cache ? "cache" : "memory"},
                  {"rate", options_.sine ? "sine" : "max"},
                  {"gb_bytes", options_.gb_bytes},
                  {"threads", options_.threads > 0 ? options_.threads : options_.profile.threads},
                  {"seconds", options_.seconds},
                  {"warmup_seconds", options_.warmup_seconds},
                  {"rounds", options_.rounds},
                  {"seed", options_.seed},
                  {"awake", options_.awake},
                  {"keys_per_database", loaded_.keys},
                  {"database_bytes", loaded_.size_bytes}};
    setup["load_seconds"] = loaded_.load_seconds > 0 ? json(loaded_.load_seconds) : json();
    json configurations = json::array();
    for (const Configuration& cache : options_.configurations) {
      configurations.push_back({{"name", cache.name}, {"spec", cache.spec}});
    }
    return {{"kind", "profile"},
            {"schema", 1},
            {"nvcache", NVCACHE_VERSION},
            {"command", options_.command},
            {"finished", utc_now()},
            {"machine", machine_facts()},
            {"engine", describe_store()},
            {"setup", setup},
            {"profile", profile_json(options_.profile)},
            {"configurations", configurations},
            {"runs", runs_},
            {"summary", summarize(runs_)}};
  }

  const ProfileOptions& options_;
  const Clock& clock_;
  Progress progress_;
  LoadedProfile loaded_;
  json runs_ = json::array();
};

}  // namespace

StatusOr<json> run_profile_bench(const ProfileOptions& options, const Clock& clock) {
  return ProfileBench(options, clock).run();
}

json profile_json(const WorkloadProfile& profile) {
  return {{"name", profile.name},
          {"about", profile.about},
          {"databases", profile.databases},
          {"keys_per_database", profile.keys_per_database},
          {"data_gb", profile.data_bytes() * 1e-9},
          {"key_bytes", profile.key_bytes},
          {"mean_value_bytes", profile.mean_value_bytes()},
          {"value_least_bytes", profile.value_least_bytes},
          {"value_scale_bytes", profile.value_scale_bytes},
          {"value_shape", profile.value_shape},
          {"value_most_bytes", profile.value_most_bytes},
          {"hot_share", profile.hot_share},
          {"hot_accesses", profile.hot_accesses},
          {"accessed_share", profile.accessed_share},
          {"run_keys", profile.run_keys},
          {"repeat_share", profile.repeat_share},
          {"repeat_last", profile.repeat_last},
          {"get", profile.get},
          {"put", profile.put},
          {"seek", profile.seek},
          {"seek_rows", profile.seek_rows},
          {"qps_mean", profile.qps_mean},
          {"qps_swing", profile.qps_swing},
          {"qps_period_seconds", profile.qps_period_seconds}};
}

}  // namespace nvcache
