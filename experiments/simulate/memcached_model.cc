#include "experiments/simulate/memcached_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "experiments/simulate/option_checks.h"
#include "experiments/simulate/recorder.h"
#include "experiments/simulate/tables.h"
#include "kv_store/store/store.h"

namespace nvcache::simulate {
namespace {

using nvmcached::Request;

// Of a core, for a request, without what it waits for the items' memory: `nvcache bench nvmcached`
// measured 144 to 233 ns, of all systems and traces.
constexpr uint64_t kRequestNs = 200;
// Between what is there at the start and the run: caches are written back to memory.
constexpr uint64_t kRestNs = 1'000'000'000;

constexpr uint64_t kLeastBytes = 16 << 20;  // of a scaled cache: fewer zones say little
constexpr double kTheta = 0.99;             // of simulate::Ranks
constexpr uint32_t kClients = 1;            // "a single thread is used" (Figure 4)

// The systems of *NVMcached*, section 4: the cache is in the NVRAM, or in DRAM of its size.
struct StoreConfiguration {
  std::string_view name;
  std::string_view help;
  std::string_view durability;
};
constexpr auto kStores = std::to_array<StoreConfiguration>({
    {"mc-dram", "MC-DRAM: in DRAM, nothing is flushed", "volatile"},
    {"mc-nvm", "MC-NVM: in NVRAM, each SET and DELETE is flushed", "each"},
    {"mc-nvlru", "MC-NVLRU: as mc-nvm, and the order of use is flushed", "each_lru"},
    {"nvmcached",
     "NVMcached: in NVRAM, only what makes an older value void is flushed; write cache", "cache"},
});

// The traces of *NVMcached* by their names in experiments/workload/kv_traces.txt, which has all
// else.
constexpr auto kTraces = std::to_array<Named>({
    {"app", "APP of NVMcached"},
    {"usr", "USR of NVMcached"},
    {"etc", "ETC of NVMcached"},
    {"sys", "SYS of NVMcached"},
    {"var", "VAR of NVMcached"},
});

StatusOr<nvmcached::Trace> trace_of(const Options& options) {
  StatusOr<std::vector<nvmcached::Trace>> traces =
      nvmcached::parse_traces(nvmcached::kv_traces_text());
  if (!traces.ok()) return traces.status();
  for (nvmcached::Trace& trace : *traces) {
    if (lower(trace.name) == options.workload) {
      if (trace.theta == kTheta) return std::move(trace);
      return internal_error(fmt::format("{}: theta is not {}", trace.name, kTheta));
    }
  }
  return internal_error(fmt::format("no trace for {}", options.workload));
}

// Of the whole cache.
uint64_t keys_of(const Options& options, const nvmcached::Trace& trace) {
  if (trace.keys > 0) return trace.keys;
  const double keys = static_cast<double>(options.dataset_bytes) / trace.mean_stored_bytes();
  return std::max<uint64_t>(2, static_cast<uint64_t>(keys));
}

const Profile& memory_profile(const Options& options) {
  const bool on_dram = find_row(kStores, options.configuration)->durability == "volatile";
  return *find_profile(on_dram ? "dram" : options.medium);
}

StatusOr<KvConfig> store_config(const Options& options, const nvmcached::Trace& trace) {
  const std::string_view durability = find_row(kStores, options.configuration)->durability;
  const uint64_t bytes = options.nvram_bytes / options.scale;
  StatusOr<KvConfig> config = nvmcached::store_config(durability, bytes, trace);
  if (!config.ok()) return config;
  // Keys that are written often are not scaled (kv_keys.h), nor is their room.
  StatusOr<KvConfig> whole = nvmcached::store_config(
      durability, std::min(options.nvram_bytes, KvConfig::kMaxSizeBytes), trace);
  if (!whole.ok()) return whole;
  config->write_cache_bytes = whole->write_cache_bytes;
  config->now_s = [] { return 1u; };  // nothing expires
  return config;
}

std::vector<std::byte> value_bytes(uint32_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(mix64(i));
  return bytes;
}

}  // namespace

const Named* find_memcached_workload(std::string_view name) { return find_row(kTraces, name); }
std::vector<Named> memcached_workloads() { return named(kTraces); }
std::vector<Named> memcached_configurations() { return named(kStores); }

Status complete_memcached(Options* options) {
  const StatusOr<nvmcached::Trace> trace = trace_of(*options);
  if (!trace.ok()) return trace.status();
  if (options->clients == 0) options->clients = kClients;
  if (!memory_profile(*options).byte_addressable) {
    return invalid_argument("--medium: '{}' given; allowed is memory that stores reach",
                            options->medium);
  }
  const auto in_range = [options](std::string_view name, uint64_t bytes) {
    const uint64_t least = kLeastBytes * options->scale;
    return check_size(name, bytes, least, kMaxBytes);
  };
  if (Status status = in_range("--nvram", options->nvram_bytes); !status.ok()) return status;
  if (options->page_cache_bytes > 0 || options->tier_bytes > 0) {
    return invalid_argument("--page-cache, --tier: the engine memcached has none of them");
  }
  if (trace->keys > 0) {
    if (options->dataset_bytes > 0) {
      return invalid_argument("--dataset: {} has {} keys, at any size", options->workload,
                              trace->keys);
    }
    return ok_status();
  }
  if (options->dataset_bytes == 0) {
    options->dataset_bytes =
        static_cast<uint64_t>(trace->fill * static_cast<double>(options->nvram_bytes));
  }
  return check_size("--dataset", options->dataset_bytes, options->scale, kMaxBytes);
}

StatusOr<std::unique_ptr<EngineModel>> MemcachedModel::open(const World& world) {
  const StatusOr<nvmcached::Trace> trace = trace_of(world.options);
  if (!trace.ok()) return trace.status();
  StatusOr<KvConfig> config = store_config(world.options, *trace);
  if (!config.ok()) return config.status();
  std::unique_ptr<MemcachedModel> model(new MemcachedModel(world, *trace));
  StatusOr<std::unique_ptr<StoreMemory>> memory =
      StoreMemory::open(config->size_bytes, memory_profile(world.options), model->clock_);
  if (!memory.ok()) return memory.status();
  model->memory_ = memory->get();
  KvMedium medium;
  medium.medium = *std::move(memory);
  medium.blank = true;
  StatusOr<std::unique_ptr<KvStoreImpl>> store =
      KvStoreImpl::make(*std::move(config), std::move(medium));
  if (!store.ok()) return store.status();
  model->store_ = *std::move(store);
  model->load();
  return model;
}

MemcachedModel::MemcachedModel(const World& world, const nvmcached::Trace& trace)
    : world_(world),
      time_(world.time),
      trace_(trace),
      keys_(trace, keys_of(world.options, trace), trace.keys > 0 ? 1 : world.options.scale,
            world.options.seed),
      value_(value_bytes(trace.value_most_bytes)),
      key_(trace.key_bytes, ' ') {}

// Before the run: it takes no time of it.
void MemcachedModel::load() {
  for (uint64_t i = 0; i < keys_.keys(); ++i) {
    const uint64_t key = keys_.loaded().in_order(i);
    if (!keys_.loaded().contains(key)) continue;
    memory_->begin_event(clock_.now_ns());
    carry_out({.kind = Request::kSet, .key = key, .value_bytes = trace_.value_bytes(key)});
  }
  loaded_ns_ = clock_.now_ns() + kRestNs;
  loaded_read_bytes_ = memory_->read_bytes();
  loaded_written_bytes_ = memory_->written_bytes();
  before_ = store_->stats();
}

std::vector<Task> MemcachedModel::tasks() {
  std::vector<Task> tasks;
  for (uint32_t i = 0; i < world_.options.clients; ++i) tasks.push_back(client(i));
  return tasks;
}

Task MemcachedModel::client(uint32_t number) {
  Prng prng(thread_seed(world_.options.seed, number));
  for (;;) {
    const uint64_t begin_ns = time_.now_ns();
    const Request request = keys_.next(prng);
    const bool gets = request.kind == Request::kGet;
    co_await time_.busy_until(begin_ns + kRequestNs);
    memory_->begin_event(loaded_ns_ + time_.now_ns());
    co_await time_.busy_until(carry_out(request) - loaded_ns_);
    world_.recorder.finish(gets ? OpType::kRead : OpType::kUpdate, begin_ns, time_.now_ns());
    co_await time_.yield();
  }
}

uint64_t MemcachedModel::carry_out(const Request& request) {
  nvmcached::write_key(request.key, trace_.key_bytes, key_.data());
  switch (request.kind) {
    case Request::kGet:
      (void)store_->get(key_);
      break;
    case Request::kSet:
      (void)store_->put(key_, {value_.data(), request.value_bytes}, {});
      break;
    case Request::kDelete:
      (void)store_->erase(key_);
      break;
  }
  return clock_.now_ns();
}

EngineModel::Lookups MemcachedModel::lookups() const {
  const KvStats now = store_->stats();
  return {.lookups = now.gets - before_.gets, .hits = now.hits - before_.hits};
}

void MemcachedModel::count(Result* result) const {
  const KvStats now = store_->stats();
  const auto since = [&](uint64_t KvStats::*field) { return now.*field - before_.*field; };
  result->tier_lookups = since(&KvStats::gets);
  result->tier_hits = since(&KvStats::hits);
  if (result->tier_lookups > 0) {
    result->tier_hit_ratio =
        static_cast<double>(result->tier_hits) / static_cast<double>(result->tier_lookups);
  }
  result->tier_inserts = since(&KvStats::puts);
  result->tier_removals = since(&KvStats::evicted) + since(&KvStats::erases);
  result->tier_used_share =
      static_cast<double>(now.data_bytes) / static_cast<double>(now.size_bytes);
  result->nvram_read_bytes = memory_->read_bytes() - loaded_read_bytes_;
  result->nvram_written_bytes = memory_->written_bytes() - loaded_written_bytes_;
  result->store = {.flushed_lines = since(&KvStats::flushed_lines),
                   .drains = since(&KvStats::drains),
                   .write_cache_hits = since(&KvStats::write_cache_hits),
                   .relocated_bytes = since(&KvStats::relocated_bytes),
                   .refused = since(&KvStats::refused)};
}

StatusOr<std::unique_ptr<EngineModel>> make_memcached(const World& world) {
  return MemcachedModel::open(world);
}

}  // namespace nvcache::simulate
