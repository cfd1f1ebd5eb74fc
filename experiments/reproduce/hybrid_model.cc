#include "experiments/reproduce/hybrid_model.h"

#include <algorithm>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "apps/command/interrupt.h"
#include "apps/command/progress.h"
#include "base/histogram.h"
#include "base/text.h"
#include "experiments/hybrid_cache/profile_files.h"
#include "experiments/hybrid_cache/servers.h"
#include "experiments/reproduce/model_caches.h"
#include "experiments/workload/profile_stream.h"
#include "medium/cost_model.h"

namespace nvcache::reproduce {
namespace {

using hybrid_cache::Policy;
using hybrid_cache::Server;
using nlohmann::json;

constexpr uint32_t kClients = 8;
constexpr uint64_t kOperationNs = 5'000;
constexpr uint64_t kQueuedBlocks = 64;  // DemotionQueue::kMaxBlocks
constexpr double kPaperGbBytes = 1ull << 30;
constexpr uint64_t kOperationsAProgress = 1 << 14;

uint64_t pairs_a_block(const WorkloadProfile& profile) {
  const double pair_bytes = profile.key_bytes + profile.mean_value_bytes();
  return static_cast<uint64_t>(static_cast<double>(kModelBlockBytes) / pair_bytes);
}

uint64_t keys_of(const WorkloadProfile& profile, const HybridModelPlan& plan) {
  return static_cast<uint64_t>(static_cast<double>(profile.keys_per_database) *
                               static_cast<double>(plan.gb_bytes) / kPaperGbBytes);
}

// One cache under the clients of one workload.
class Model {
 public:
  Model(const WorkloadProfile& profile, const HybridModelPlan& plan, ModelCache& cache,
        StepClock& clock, bool client_inserts)
      : profile_(profile),
        plan_(plan),
        cache_(cache),
        clock_(clock),
        client_inserts_(client_inserts),
        flash_(*find_profile("flash")),
        pairs_a_block_(pairs_a_block(profile)),
        keys_(keys_of(profile, plan)),
        law_(profile, keys_, plan.seed) {
    clients_.reserve(kClients);
    for (uint32_t i = 0; i < kClients; ++i) {
      clients_.push_back(Client{ProfileStream(profile_, law_, mix64(plan.seed + i + 1))});
      queue_.push({i * kOperationNs / kClients, i});
    }
  }

  StatusOr<json> run(Progress& progress, const std::string& title) {
    for (int part = 0; part < 2; ++part) {  // the first warms up
      counts_ = {};
      counts_.start_ns = queue_.top().at_ns;
      while (counts_.operations < plan_.operations) {
        if (counts_.operations % kOperationsAProgress == 0) {
          if (Status status = check_not_interrupted(); !status.ok()) return status;
          progress.update(title);
        }
        step();
      }
    }
    if (cache_.wrong() > 0) {
      return data_loss_error(fmt::format("{}: {} blocks were another one", title, cache_.wrong()));
    }
    return metrics();
  }

 private:
  struct Event {
    uint64_t at_ns;
    uint32_t client;
    // The earliest is the top of the queue, and of these the first client.
    bool operator<(const Event& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : client > other.client;
    }
  };
  struct Client {
    ProfileStream stream;
    bool fetching = false;
    bool is_get = false;
    uint64_t block = 0;
    uint64_t start_ns = 0;
  };
  struct Counts {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    uint64_t operations = 0;
    uint64_t lookups = 0;
    uint64_t hits = 0;
    uint64_t flash_reads = 0;
    Histogram get_ns;
    Histogram flash_ns;
  };

  void step() {
    const Event event = queue_.top();
    queue_.pop();
    Client& client = clients_[event.client];
    clock_.set_ns(event.at_ns);
    if (client.fetching) {
      insert(client.block);
      client.fetching = false;
      end(event.client);
    } else {
      begin(event.client);
    }
  }

  void begin(uint32_t number) {
    Client& client = clients_[number];
    client.start_ns = clock_.now_ns();
    const ProfileOperation operation = client.stream.next();
    client.is_get = operation.type == ProfileOpType::kGet;
    clock_.set_ns(client.start_ns + kOperationNs);
    if (operation.type == ProfileOpType::kPut) {
      end(number);
      return;
    }
    const uint64_t blocks_a_database = keys_ / pairs_a_block_ + 1;
    client.block = operation.database * blocks_a_database + operation.number / pairs_a_block_;
    ++counts_.lookups;
    const double at = static_cast<double>(operation.number % pairs_a_block_) /
                      static_cast<double>(pairs_a_block_);
    if (cache_.lookup(client.block, at)) {
      ++counts_.hits;
      end(number);
      return;
    }
    const uint64_t now_ns = clock_.now_ns();
    const uint64_t done_ns = flash_.start_read(now_ns, kModelBlockBytes);
    ++counts_.flash_reads;
    counts_.flash_ns.record(done_ns - now_ns);
    client.fetching = true;
    queue_.push({done_ns, number});
  }

  void insert(uint64_t block) {
    if (client_inserts_) {
      cache_.insert(block);
      return;
    }
    // The thread that demotes takes up where it ended; the client goes on unless its queue is full.
    const uint64_t now_ns = clock_.now_ns();
    const uint64_t begun_ns = std::max(now_ns, demoted_ns_);
    clock_.set_ns(begun_ns);
    cache_.insert(block);
    const uint64_t took_ns = clock_.now_ns() - begun_ns;
    if (took_ns > 0) demoted_ns_ = clock_.now_ns();
    const bool full = took_ns > 0 && demoted_ns_ - now_ns > kQueuedBlocks * took_ns;
    clock_.set_ns(full ? demoted_ns_ - kQueuedBlocks * took_ns : now_ns);
  }

  void end(uint32_t number) {
    const Client& client = clients_[number];
    const uint64_t now_ns = clock_.now_ns();
    ++counts_.operations;
    counts_.end_ns = std::max(counts_.end_ns, now_ns);
    if (client.is_get) counts_.get_ns.record(now_ns - client.start_ns);
    queue_.push({now_ns, number});
  }

  json metrics() const {
    const double seconds = static_cast<double>(counts_.end_ns - counts_.start_ns) * 1e-9;
    const auto us = [](const Histogram& histogram, double q) {
      return static_cast<double>(histogram.quantile(q)) * 1e-3;
    };
    return {{"ops_per_second", static_cast<double>(counts_.operations) / seconds},
            {"mean_us", counts_.get_ns.mean() * 1e-3},
            {"p50_us", us(counts_.get_ns, 0.5)},
            {"p95_us", us(counts_.get_ns, 0.95)},
            {"p99_us", us(counts_.get_ns, 0.99)},
            {"hit_ratio", static_cast<double>(counts_.hits) / static_cast<double>(counts_.lookups)},
            {"storage_read_bytes_per_second",
             static_cast<double>(counts_.flash_reads * kModelBlockBytes) / seconds},
            {"storage_read_p50_us", us(counts_.flash_ns, 0.5)}};
  }

  const WorkloadProfile& profile_;
  const HybridModelPlan& plan_;
  ModelCache& cache_;
  StepClock& clock_;
  const bool client_inserts_;
  CostModel flash_;
  const uint64_t pairs_a_block_;
  const uint64_t keys_;
  const ProfileKeys law_;
  std::vector<Client> clients_;
  std::priority_queue<Event> queue_;
  uint64_t demoted_ns_ = 0;  // when the thread that demotes will be done
  Counts counts_;
};

struct ModelRun {
  std::string workload;
  Server server;
  std::string policy;
};

std::vector<ModelRun> planned(const HybridModelPlan& plan) {
  std::vector<ModelRun> runs;
  const auto add = [&](const char* workload, const Server& server, std::string_view policy) {
    runs.push_back({workload, server, std::string(policy)});
  };
  for (const char* workload : {"whatsapp", "tectonic", "laser"}) {
    const bool first = runs.empty();
    for (const Server& server : hybrid_cache::servers()) {
      if (server.scm_gb == 0) {
        if (plan.memory_mode_only) continue;
        add(workload, server, hybrid_cache::kDramOnly);
        if (server.name != hybrid_cache::kBase) continue;
        Server on_scm = server;
        on_scm.scm_cache_gb = server.dram_cache_gb;
        add(workload, on_scm, hybrid_cache::kScmOnly);
        continue;
      }
      if (!first && (plan.memory_mode_only || server.name != "32-256")) continue;
      for (const Policy& policy : hybrid_cache::policies()) {
        const bool needed = policy.name == hybrid_cache::kDramFirst ||
                            (first && !plan.memory_mode_only && !policy.spec.empty());
        if (needed) add(workload, server, policy.name);
      }
      if (first) add(workload, server, kMemoryModePolicy);
    }
  }
  return runs;
}

// What pairs and blocks need beside the blocks: filters of 10 bits a pair
// (docs/results/hybrid_cache.md), 50 bytes of the index a block. Of whatsapp, 13 GB: Table 4 says
// 10 to 15.
MemoryModeSizes memory_mode_sizes(const WorkloadProfile& profile, const HybridModelPlan& plan,
                                  const Server& server) {
  constexpr double kFilterBytesOfPair = 10.0 / 8;
  constexpr double kIndexBytesOfBlock = 50;
  const double gb_bytes = static_cast<double>(plan.gb_bytes);
  const double keys = static_cast<double>(keys_of(profile, plan) * profile.databases);
  const double blocks = keys / static_cast<double>(pairs_a_block(profile));
  return {.dram_bytes = static_cast<uint64_t>(server.dram_gb * gb_bytes),
          .block_bytes = static_cast<uint64_t>(server.scm_cache_gb * gb_bytes),
          .filter_bytes = static_cast<uint64_t>(keys * kFilterBytesOfPair),
          .index_bytes = static_cast<uint64_t>(blocks * kIndexBytesOfBlock),
          .blocks = static_cast<uint64_t>(blocks)};
}

StatusOr<std::unique_ptr<ModelCache>> make_cache(const ModelRun& run,
                                                 const WorkloadProfile& profile,
                                                 const HybridModelPlan& plan, StepClock& clock) {
  const auto bytes = [&](double gb) {
    return static_cast<uint64_t>(gb * static_cast<double>(plan.gb_bytes));
  };
  if (run.policy == kMemoryModePolicy) {
    return make_memory_mode_model(memory_mode_sizes(profile, plan, run.server), clock, plan.seed);
  }
  if (run.policy == hybrid_cache::kDramOnly) {
    return make_tiered_model(
        fmt::format("tiered://?shards=4&dram={}", bytes(run.server.dram_cache_gb)), clock);
  }
  const auto policy = hybrid_cache::find_policy(run.policy);
  if (!policy.ok()) return policy.status();
  hybrid_cache::Options options;
  options.medium = "emulated:optane";
  options.gb_bytes = plan.gb_bytes;
  return make_tiered_model(
      hybrid_cache::cache_spec(options, run.server, **policy) + "&demote=foreground", clock);
}

bool client_inserts(const std::string& policy) {
  return policy == hybrid_cache::kScmOnly || policy == kMemoryModePolicy ||
         policy.starts_with("scm_first");
}

StatusOr<json> run_one(const ModelRun& run, const HybridModelPlan& plan, Progress& progress,
                       const std::string& title) {
  const auto profile = find_workload_profile(run.workload);
  if (!profile.ok()) return profile.status();
  StepClock clock;
  auto cache = make_cache(run, *profile, plan, clock);
  if (!cache.ok()) return cache.status();
  return Model(*profile, plan, **cache, clock, client_inserts(run.policy)).run(progress, title);
}

}  // namespace

StatusOr<json> run_hybrid_model(const HybridModelPlan& plan, const Clock& clock) {
  Progress progress(clock);
  json runs = json::array();
  const std::vector<ModelRun> all = planned(plan);
  for (const ModelRun& run : all) {
    const std::string title = fmt::format("model [{}/{}] {} {} {}", runs.size() + 1, all.size(),
                                          run.workload, run.server.name, run.policy);
    const auto metrics = run_one(run, plan, progress, title);
    if (!metrics.ok()) return metrics.status();
    runs.push_back({{"workload", run.workload},
                    {"variant", run.server.name},
                    {"configuration", run.policy},
                    {"round", 1},
                    {"metrics", *metrics}});
  }
  return json{{"kind", "paper"},
              {"schema", 1},
              {"format", kHybridModelFormat},
              {"command", plan.command},
              {"configurations", json::array()},
              {"figures", json::array()},
              {"setup",
               {{"medium", "emulated:optane and emulated:flash"},
                {"emulated", true},
                {"size_factor", static_cast<uint64_t>(kPaperGbBytes) / plan.gb_bytes},
                {"operations", plan.operations},
                {"seed", plan.seed}}},
              {"runs", std::move(runs)}};
}

}  // namespace nvcache::reproduce
