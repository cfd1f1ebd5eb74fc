// memcached's engine: simulations of the real key-value store, held against its real runs.
#include "experiments/simulate/memcached_model.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "experiments/nvmcached/system.h"
#include "experiments/simulate/kv_keys.h"
#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/study.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/test_seed.h"

namespace nvcache::simulate {
namespace {

using nvmcached::Request;
using nvmcached::Trace;
using testing::HasSubstr;

Trace kv_trace_named(std::string_view name) {
  const auto traces = nvmcached::parse_traces(nvmcached::kv_traces_text());
  for (const Trace& trace : traces.value()) {
    if (trace.name == name) return trace;
  }
  ADD_FAILURE() << "no trace " << name;
  return {};
}

// A store of 32 MiB, for some ten thousand requests.
Options small_store(std::string_view configuration, const std::string& workload = "sys") {
  Options options;
  options.engine = "memcached";
  options.configuration = configuration;
  options.workload = workload;
  options.scale = 2048;
  options.minutes = 1;
  options.seed = test_seed();
  return options;
}

Result store_result(const Options& options) {
  const StatusOr<Result> result = simulate(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Result();
}

std::string store_json(const Result& result) {
  return document({{result.options.configuration, result.options, result}}, "test").dump();
}

TEST(SimulateMemcached, TheSameOptionsGiveTheSameResult) {
  for (const Named& configuration : configurations("memcached")) {
    Options options = small_store(configuration.name);
    options.clients = 3;
    const std::string first = store_json(store_result(options));
    EXPECT_EQ(store_json(store_result(options)), first) << configuration.name;
    ++options.seed;
    EXPECT_NE(store_json(store_result(options)), first) << configuration.name;
  }
}

TEST(SimulateMemcached, NothingGetsLost) {
  for (const Named& configuration : configurations("memcached")) {
    for (const Named& workload : workloads("memcached")) {
      SCOPED_TRACE(std::string(configuration.name) + " " + std::string(workload.name));
      Options options = small_store(configuration.name, std::string(workload.name));
      options.clients = 2;
      const Result result = store_result(options);
      EXPECT_GT(result.operations, 1000u);
      EXPECT_EQ(result.operations, result.reads + result.updates);
      EXPECT_LE(result.tier_hits, result.tier_lookups);
      EXPECT_GE(result.tier_lookups, result.reads);
      EXPECT_LE(result.tier_lookups, result.reads + 2) << "those that are under way in the end";
      EXPECT_EQ(result.store.refused, 0u);
      EXPECT_EQ(result.store.flushed_lines == 0, configuration.name == "mc-dram");
      EXPECT_EQ(result.store.write_cache_hits > 0, configuration.name == "nvmcached");
    }
  }
}

TEST(SimulateMemcached, ClientsShareCoresAndTheThroughputOfTheMemory) {
  const auto ops = [](std::string_view configuration, uint32_t clients, uint32_t cores) {
    Options options = small_store(configuration);
    options.clients = clients;
    options.cores = cores;
    return store_result(options).ops_per_second;
  };
  const double one = ops("mc-dram", 1, 32);
  EXPECT_GT(ops("mc-dram", 4, 32), 3 * one);
  EXPECT_LT(ops("mc-dram", 4, 1), 1.01 * one) << "one core";
  EXPECT_LT(ops("mc-nvm", 16, 32), 8 * ops("mc-nvm", 1, 32)) << "writers have the NVRAM to share";
}

// A real run's metrics, of as many requests as were simulated.
nlohmann::json metrics_of_real_run(const nvmcached::Kind& kind, const Trace& trace,
                                   uint64_t size_bytes, uint64_t requests) {
  nvmcached::RequestStream stream(trace, trace.keys_in(size_bytes), test_seed());
  auto system = nvmcached::System::open(kind, "emulated:optane", size_bytes, trace);
  EXPECT_TRUE(system.ok()) << system.status();
  if (!system.ok()) return {};
  (*system)->load(stream);
  std::vector<Request> all(requests);
  for (Request& request : all) request = stream.next();
  (*system)->start();
  (*system)->run(all);
  EXPECT_EQ((*system)->wrong(), 0u);
  return (*system)->metrics();
}

// The counts are those of the real store with the same sizes and another seed; the times are of the
// same model of the memory. 64 MiB, no scale.
TEST(SimulateMemcached, CountsAndOrderAreThoseOfRealRuns) {
  for (const char* workload : {"SYS", "VAR", "ETC"}) {
    const Trace trace = kv_trace_named(workload);
    std::map<std::string, double> real_ns, simulated_ns;  // in the memory; of a whole request
    for (const nvmcached::Kind& kind : nvmcached::kinds()) {
      if (kind.on_dram) continue;
      SCOPED_TRACE(fmt::format("{} {}", workload, kind.name));
      Options options = small_store(lower(kind.name), lower(workload));
      options.nvram_bytes = 64 << 20;
      options.scale = 1;
      options.minutes = 0.05 / 60;
      ++options.seed;
      const Result result = store_result(options);
      ASSERT_GT(result.operations, 20'000u);
      const nlohmann::json real =
          metrics_of_real_run(kind, trace, options.nvram_bytes, result.operations);
      const auto per_operation = [&](uint64_t count) {
        return static_cast<double>(count) / static_cast<double>(result.operations);
      };
      EXPECT_NEAR(result.tier_hit_ratio, real["hit_ratio"].get<double>(), 0.02);
      const double lines = real["lines_per_op"].get<double>();
      EXPECT_NEAR(per_operation(result.store.flushed_lines), lines, 0.1 * lines + 0.003);
      const double served = real["write_cache_hits_per_op"].get<double>();
      EXPECT_NEAR(per_operation(result.store.write_cache_hits), served, 0.1 * served + 0.003);
      real_ns[std::string(kind.name)] = real["waited_ns_per_op"].get<double>();
      simulated_ns[std::string(kind.name)] = result.latency.mean_ns;
    }
    // With few SETs what tells the systems apart is less than what the loading has left to write
    // back, which the real run does not wait for.
    if (trace.set < 10) continue;
    for (const auto& [one, one_ns] : real_ns) {
      for (const auto& [other, other_ns] : real_ns) {
        if (one_ns < 1.1 * other_ns) continue;  // they are alike
        EXPECT_GT(simulated_ns[one], simulated_ns[other]) << workload << " " << one << " " << other;
      }
    }
  }
}

TEST(SimulateMemcached, WrongOptionsAreNamedWithWhatIsAllowed) {
  const auto complaint = [](auto change) {
    Options options = small_store("nvmcached");
    change(options);
    const StatusOr<Result> result = simulate(options);
    EXPECT_TRUE(is_invalid_argument(result.status())) << result.status();
    return std::string(result.status().message());
  };
  EXPECT_THAT(complaint([](Options& o) { o.configuration = "none"; }), HasSubstr("mc-nvlru"));
  EXPECT_THAT(complaint([](Options& o) { o.workload = "c"; }), HasSubstr("app, usr, etc"));
  EXPECT_THAT(complaint([](Options& o) { o.medium = "flash"; }), HasSubstr("--medium"));
  EXPECT_THAT(complaint([](Options& o) { o.nvram_bytes = kGiB; }), HasSubstr("--nvram"));
  EXPECT_THAT(complaint([](Options& o) { o.tier_bytes = kGiB; }), HasSubstr("--tier"));
  EXPECT_THAT(complaint([](Options& o) {
                o.workload = "var";
                o.dataset_bytes = kGiB;
              }),
              HasSubstr("--dataset: var has 1000 keys"));
  Options options = small_store("nvmcached");
  options.engine = "wiredtiger";
  EXPECT_TRUE(is_invalid_argument(simulate(options).status())) << "not a tier";
}

TEST(SimulateMemcached, TablesAndPageHaveColumnsOfTheirOwn) {
  StudyOptions study;
  study.base = small_store("nvmcached");
  study.workloads = {"var"};
  study.configurations = {"mc-nvm", "nvmcached"};
  study.nvram_bytes = {64 * kGiB};
  auto runs = plan(study);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_TRUE(carry_out(*runs, 1, {}).ok());
  const std::string text = text_tables(*runs);
  EXPECT_THAT(text, HasSubstr("x nvm"));
  EXPECT_THAT(text, HasSubstr("VAR of NVMcached"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(page(*runs, "test"), HasSubstr("the systems of *NVMcached*"));
  EXPECT_THAT(page(*runs, "test"), HasSubstr("mc-nvm = 1"));
}

// The hottest keys are those of the whole cache; the others stand for `scale` of them each.
TEST(SimulateKvKeys, TheHottestKeysAreWholeAndTheOthersKeepTheirShare) {
  const Trace trace = kv_trace_named("USR");
  constexpr uint64_t kKeys = 1'000'000;
  struct Shares {
    double first_hundred = 0;
    double whole = 0;
  };
  const auto shares_at = [&](uint32_t scale) {
    const KvKeys keys(trace, kKeys, scale, test_seed());
    EXPECT_EQ(keys.keys(), 2048 + (kKeys - 2048 + scale - 1) / scale);
    Prng prng(test_seed());
    Shares shares;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t key = keys.next(prng).key % Request::kAbsent;
      EXPECT_LT(key, keys.keys());
      shares.first_hundred += key < 100 ? 1.0 / kDraws : 0;
      shares.whole += key < KvKeys::kWholeKeys ? 1.0 / kDraws : 0;
    }
    return shares;
  };
  const Shares whole = shares_at(1);
  const Shares scaled = shares_at(64);
  EXPECT_NEAR(scaled.first_hundred, whole.first_hundred, 0.01);
  EXPECT_NEAR(scaled.whole, whole.whole, 0.01);
  EXPECT_EQ(KvKeys(kv_trace_named("VAR"), 1000, 64, 1).keys(), 1000u) << "all of few keys";
}

}  // namespace
}  // namespace nvcache::simulate
