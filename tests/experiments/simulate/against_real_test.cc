// Simulated runs held against real ones of the same sizes: a WiredTiger database with the same
// second tier, YCSB A to C, no scale. Counts are compared. The tier's clock moves on
// with the operations, at the rate that was simulated.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/print.h"
#include "base/virtual_clock.h"
#include "block_cache/api/config.h"
#include "block_cache/face/block_cache_impl.h"
#include "experiments/engines/engine.h"
#include "experiments/run/ycsb_load.h"
#include "experiments/simulate/simulate.h"
#include "experiments/workload/key_chooser.h"
#include "experiments/workload/record.h"
#include "experiments/workload/ycsb.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "nlohmann/json.hpp"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache::simulate {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLoadedRecords = 480'000;
constexpr uint64_t kPageCacheBytes = 96 << 20;
constexpr uint64_t kTierBytes = 192 << 20;
constexpr double kModelBlockBytes = 28 << 10;  // of the simulation

// The model's evictors keep up with its clients, as those of a machine with many cores do.
// WiredTiger's look every 10 ms and later, in which one client turns this small cache over. So the
// client evicts, too, as soon as more is used or dirty than evictors leave; and pages that are
// written because they are dirty stay, as they do below 87.5% used and 12.5% dirty by default.
constexpr char kEvictAtOnce[] =
    "eviction_target=80,eviction_trigger=81,eviction_dirty_target=5,eviction_dirty_trigger=6,"
    "debug_mode=(update_restore_evict=true)";

// Per operation, but for ratios.
struct Measured {
  double page_hit_ratio = 0;
  double tier_hit_ratio = 0;
  double tier_written_bytes = 0;
  double disk_read_blocks = 0;
  double disk_written_bytes = 0;
};

Measured mean_of(const std::vector<Measured>& rounds) {
  Measured mean;
  for (double Measured::*const each :
       {&Measured::page_hit_ratio, &Measured::tier_hit_ratio, &Measured::tier_written_bytes,
        &Measured::disk_read_blocks, &Measured::disk_written_bytes}) {
    for (const Measured& round : rounds) mean.*each += round.*each;
    mean.*each /= static_cast<double>(rounds.size());
  }
  return mean;
}

std::string describe(const Measured& m) {
  return fmt::format(
      "page cache hits {:.1f}%, tier hits {:.1f}%; an operation: {:.0f} bytes written to the tier, "
      "{:.4f} blocks read from the disk, {:.0f} bytes written to it",
      100 * m.page_hit_ratio, 100 * m.tier_hit_ratio, m.tier_written_bytes, m.disk_read_blocks,
      m.disk_written_bytes);
}

// As experiments/simulate/tables.h has them.
struct Tiers {
  const char* configuration;
  const char* policies;  // empty: no tier
};
constexpr Tiers kTiers[] = {
    {"none", ""},
    {"nvcache-fs", "&admission=small_bypass(96MiB)+obp(0.1)&eviction=lfru(10)"},
    {"admit-all-fs", "&admission=always&eviction=lru"},
};

Result simulated(const std::string& workload, const char* configuration, uint64_t dataset_bytes,
                 uint64_t seed) {
  Options options;
  options.workload = workload;
  options.configuration = configuration;
  options.storage = "p4800x";
  options.medium = "dram";
  options.dram_bytes = kPageCacheBytes;  // no OS page cache: the real engine reads directly
  options.page_cache_bytes = kPageCacheBytes;
  options.nvram_bytes = kTierBytes;
  options.dataset_bytes = dataset_bytes;
  options.clients = 1;
  options.minutes = 0.3;
  options.seed = seed;
  options.scale = 1;
  const StatusOr<Result> result = simulate(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Result();
}

Measured measured(const Result& result) {
  const auto operations = static_cast<double>(result.operations);
  return {.page_hit_ratio = result.page_hit_ratio(),
          .tier_hit_ratio = result.tier_hit_ratio,
          .tier_written_bytes = static_cast<double>(result.nvram_written_bytes) / operations,
          .disk_read_blocks =
              static_cast<double>(result.storage_read_bytes) / kModelBlockBytes / operations,
          .disk_written_bytes = static_cast<double>(result.storage_written_bytes) / operations};
}

class SimulatedAgainstReal : public testing::TestWithParam<const char*> {
 protected:
  // Not in every run: it takes four minutes, and 1.5 GB of memory (script/test long).
  void SetUp() override {
    if (std::getenv("NVCACHE_AGAINST_REAL") == nullptr) {
      GTEST_SKIP() << "NVCACHE_AGAINST_REAL is not set";
    }
    auto kind = make_engine_kind("wiredtiger");
    if (!kind.ok()) GTEST_SKIP() << kind.status();
    kind_ = *std::move(kind);
    load();
  }

  // In the order of keys, as WiredTiger loads them.
  void load() {
    const SortedPairs pairs =
        make_ycsb_load(
            {.workload = {}, .warmup = {}, .distribution = {}, .records = kLoadedRecords})
            ->sorted_pairs();
    const Status status = kind_->load(loaded(), 1, kLoadedRecords, pairs.pair, 1, [](uint64_t) {});
    if (is_failed_precondition(status)) GTEST_SKIP() << status;  // no direct I/O there
    ASSERT_TRUE(status.ok()) << status;
    dataset_bytes_ = fs::file_size(loaded() + "/ycsb.wt");
  }

  std::unique_ptr<BlockCacheImpl> open_tier(const char* policies, Clock& clock) {
    const StatusOr<Config> config = parse_config(fmt::format(
        "nvcache://?size={}&space=in_place&verify=always&maintenance=0{}", kTierBytes, policies));
    EXPECT_TRUE(config.ok()) << config.status();
    auto medium = open_medium("dram", {.size_bytes = kTierBytes}, clock);
    EXPECT_TRUE(medium.ok()) << medium.status();
    auto cache = BlockCacheImpl::make(*config, *std::move(medium), clock);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return *std::move(cache);
  }

  // As many operations as the simulation did, each of the time that it took on average.
  Measured real(const std::string& workload, const Tiers& tiers, const Result& like,
                uint64_t seed) {
    const std::string folder = folder_.file("run");
    EXPECT_TRUE(kind_->clone(loaded(), folder).ok());
    VirtualClock clock(1'000'000'000);
    std::shared_ptr<BlockCacheImpl> tier;
    if (*tiers.policies != '\0') tier = open_tier(tiers.policies, clock);
    auto engine = kind_->open({.directory = folder,
                               .dram_cache_bytes = kPageCacheBytes,
                               .tier_spec = "",
                               .tier = tier,
                               .own_cache = "",
                               .settings = kEvictAtOnce});
    EXPECT_TRUE(engine.ok()) << engine.status();
    const EngineMetrics before = (*engine)->metrics();
    const uint64_t reads_before = (*engine)->thread_block_reads();
    KeySequence sequence(kLoadedRecords);
    const YcsbWorkload ycsb = ycsb_workload(workload).value();
    OperationStream stream(ycsb, sequence, make_key_chooser(ycsb.distribution, sequence, 0), seed);
    const double ns = like.seconds * 1e9 / static_cast<double>(like.operations);
    uint64_t seconds = 1;
    std::string value;
    for (uint64_t i = 0; i < like.operations; ++i) {
      clock.wait_until_ns(1'000'000'000 + static_cast<uint64_t>(static_cast<double>(i) * ns));
      if (tier != nullptr && clock.now_ns() / 1'000'000'000 > seconds) {
        ++seconds;
        tier->maintain();
      }
      const Operation op = stream.next();
      const std::string key = record_key(op.record);
      Status status = (*engine)->read(0, key, &value);
      if (status.ok() && op.type == OpType::kUpdate) {
        char* const field = value.data() + size_t{op.field} * kFieldBytes;
        fill_field(key, op.field, op.version, std::span<char, kFieldBytes>(field, kFieldBytes));
        status = (*engine)->put(0, key, value);
      }
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
    }
    const Measured measured =
        measure(**engine, before, reads_before, static_cast<double>(like.operations));
    EXPECT_TRUE((*engine)->close().ok());
    fs::remove_all(folder);
    return measured;
  }

  static Measured measure(KvEngine& engine, const EngineMetrics& before, uint64_t reads_before,
                          double operations) {
    const EngineMetrics after = engine.metrics();
    const auto disk_reads = static_cast<double>(engine.thread_block_reads() - reads_before);
    Measured m;
    m.disk_read_blocks = disk_reads / operations;
    m.disk_written_bytes =
        static_cast<double>(after.background_written_bytes - before.background_written_bytes) /
        operations;
    m.page_hit_ratio = 1 - m.disk_read_blocks;
    if (!after.tier) return m;
    const auto lookups = static_cast<double>(after.tier->hits + after.tier->misses);
    m.page_hit_ratio = 1 - lookups / operations;
    m.tier_hit_ratio = static_cast<double>(after.tier->hits) / lookups;
    m.tier_written_bytes = static_cast<double>(after.tier->medium_written_bytes) / operations;
    return m;
  }

  std::string loaded() const { return folder_.file("loaded"); }

  // In memory: what is compared are counts.
  TempDir folder_{fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::current_path()};
  std::unique_ptr<EngineKind> kind_;
  uint64_t dataset_bytes_ = 0;
};

// How far the means of some runs may be apart. Of one, WiredTiger's page cache is hit a point more
// or less often, as its server of evictors happens to run.
constexpr uint64_t kRounds = 3;
constexpr double kHitsApart = 0.02;   // two points
constexpr double kBytesShare = 0.10;  // of the real bytes
constexpr double kAlikeShare = 0.05;  // what differs by less has no order

void expect_share(double simulated, double real, const char* what) {
  EXPECT_NEAR(simulated, real, kBytesShare * real) << what;
}

void compare(const Tiers& tiers, const Measured& model, const Measured& run) {
  const std::string both = fmt::format("{}\nsimulated: {}\nreal:      {}", tiers.configuration,
                                       describe(model), describe(run));
  print_to(stdout, "{}\n", both);
  SCOPED_TRACE(both);
  EXPECT_NEAR(model.page_hit_ratio, run.page_hit_ratio, kHitsApart);
  expect_share(model.disk_written_bytes, run.disk_written_bytes, "written to the disk");
  if (*tiers.policies == '\0') return;
  const bool admits_all = &tiers == &kTiers[2];
  EXPECT_NEAR(model.tier_hit_ratio, run.tier_hit_ratio, kHitsApart);
  if (admits_all) {
    expect_share(model.tier_written_bytes, run.tier_written_bytes, "written to the tier");
    return;
  }
  // It admits a share of what is looked up.
  expect_share(model.tier_written_bytes / (1 - model.page_hit_ratio),
               run.tier_written_bytes / (1 - run.page_hit_ratio), "written to the tier, a lookup");
}

// Which configuration reads more from the disk, and which writes more to the tier.
void expect_same_order(const std::vector<Measured>& models, const std::vector<Measured>& runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < runs.size(); ++j) {
      SCOPED_TRACE(fmt::format("{}, {}", kTiers[i].configuration, kTiers[j].configuration));
      if (runs[i].disk_read_blocks > (1 + kAlikeShare) * runs[j].disk_read_blocks) {
        EXPECT_GT(models[i].disk_read_blocks, models[j].disk_read_blocks);
      }
      if (runs[i].tier_written_bytes > (1 + kAlikeShare) * runs[j].tier_written_bytes) {
        EXPECT_GT(models[i].tier_written_bytes, models[j].tier_written_bytes);
      }
    }
  }
}

TEST_P(SimulatedAgainstReal, HitsBytesAndOrderAreAlike) {
  std::vector<Measured> models;
  std::vector<Measured> runs;
  for (const Tiers& tiers : kTiers) {
    std::vector<Measured> model_rounds;
    std::vector<Measured> run_rounds;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t seed = test_seed() + round;
      const Result result = simulated(GetParam(), tiers.configuration, dataset_bytes_, seed);
      ASSERT_GT(result.operations, 100'000u);
      model_rounds.push_back(measured(result));
      run_rounds.push_back(real(GetParam(), tiers, result, seed));
      ASSERT_FALSE(HasFailure());
    }
    models.push_back(mean_of(model_rounds));
    runs.push_back(mean_of(run_rounds));
  }
  for (size_t i = 0; i < std::size(kTiers); ++i) compare(kTiers[i], models[i], runs[i]);
  expect_same_order(models, runs);
}

INSTANTIATE_TEST_SUITE_P(Ycsb, SimulatedAgainstReal, testing::Values("a", "b", "c"));

}  // namespace
}  // namespace nvcache::simulate
