// Whole simulations of RocksDB, small ones, and the parts of its model.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/simulate/block_tiers.h"
#include "experiments/simulate/lsm_tree.h"
#include "experiments/simulate/rocksdb_configurations.h"
#include "experiments/simulate/rocksdb_operations.h"
#include "experiments/simulate/simulate.h"
#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/study.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/test_seed.h"

namespace nvcache::simulate {
namespace {

using testing::HasSubstr;

// Some hundred thousand operations: 1/4096 of the machine.
Options small_rocksdb(const std::string& configuration, const std::string& workload = "whatsapp") {
  Options options;
  options.engine = "rocksdb";
  options.configuration = configuration;
  options.workload = workload;
  options.scale = 4096;
  options.minutes = 20;
  options.seed = test_seed();
  return options;
}

Result rocksdb_result(const Options& options) {
  const StatusOr<Result> result = simulate(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Result();
}

std::string rocksdb_text(const Result& result) {
  std::vector<Run> runs{{result.options.configuration, result.options, result}};
  return document(runs, "test").dump();
}

TEST(SimulateRocksdb, TheSameOptionsGiveTheSameResult) {
  for (const char* name :
       {"64-0/dram-only", "32-128/dram-first", "32-128/scm-first-2", "32-128/copied",
        "32-128/bidir-4", "32-128/scm-only", "32-128/naive-scm", "32-128/memory-mode"}) {
    Options options = small_rocksdb(name);
    options.minutes = 3;
    const std::string first = rocksdb_text(rocksdb_result(options));
    EXPECT_EQ(rocksdb_text(rocksdb_result(options)), first) << name;
    ++options.seed;
    EXPECT_NE(rocksdb_text(rocksdb_result(options)), first) << name;
  }
}

TEST(SimulateRocksdb, NothingGetsLost) {
  for (const Named& configuration : configurations("rocksdb")) {
    for (const char* workload : {"laser", "e"}) {
      Options options = small_rocksdb(std::string(configuration.name), workload);
      options.minutes = 3;
      const Result result = rocksdb_result(options);
      SCOPED_TRACE(std::string(configuration.name) + " " + workload);
      EXPECT_GT(result.operations, 1000u);
      EXPECT_EQ(result.operations, result.reads + result.updates + result.inserts + result.scans);
      EXPECT_GT(result.page_lookups, 0u);
      EXPECT_LE(result.page_hits + result.tier_hits, result.page_lookups);
      const bool tiered = result.options.tier_bytes > 0 && result.tier_lookups > 0;
      if (tiered) {
        EXPECT_EQ(result.tier_lookups, result.page_lookups - result.page_hits);
      }
      // Each miss reads a block, but those that are under way in the end; compaction reads, too.
      const uint64_t misses = result.page_lookups - result.page_hits - result.tier_hits;
      EXPECT_GE(result.storage_read_bytes, (misses - result.options.clients) * kRocksdbBlockBytes);
      EXPECT_GE(result.storage_written_bytes, result.blocks_written * kRocksdbBlockBytes);
      EXPECT_LE(result.tier_used_share, 1);
    }
  }
}

TEST(SimulateRocksdb, MoreCacheHitsMoreAndReadsLess) {
  const Result dram = rocksdb_result(small_rocksdb("64-0/dram-only"));
  const Result larger = rocksdb_result(small_rocksdb("32-128/dram-first"));
  const Result largest = rocksdb_result(small_rocksdb("32-256/dram-first"));
  EXPECT_GT(larger.warm_hit_ratio, dram.warm_hit_ratio);
  EXPECT_GT(largest.warm_hit_ratio, larger.warm_hit_ratio);
  EXPECT_GT(largest.warm_ops_per_second, dram.warm_ops_per_second);
  EXPECT_GT(dram.warm_hit_ratio, 0.3);
}

TEST(SimulateRocksdb, TheScaleChangesLittle) {
  for (const char* name : {"64-0/dram-only", "32-256/dram-first", "32-128/memory-mode"}) {
    const Result smaller = rocksdb_result(small_rocksdb(name));
    Options options = small_rocksdb(name);
    options.scale /= 4;
    const Result larger = rocksdb_result(options);
    EXPECT_NEAR(smaller.warm_hit_ratio, larger.warm_hit_ratio, 0.03) << name;
    EXPECT_NEAR(smaller.warm_ops_per_second / larger.warm_ops_per_second, 1, 0.1) << name;
  }
}

// Latencies answer to load: with more clients on one disk a read takes longer.
TEST(SimulateRocksdb, MoreClientsWaitLongerForTheDisk) {
  uint64_t before_ns = 0;
  for (const uint32_t clients : {2u, 16u, 64u}) {
    Options options = small_rocksdb("64-0/dram-only");
    options.clients = clients;
    const Result result = rocksdb_result(options);
    EXPECT_GT(result.warm_storage_latency.p95_ns, before_ns) << clients;
    EXPECT_GE(result.warm_storage_latency.p50_ns, 85'000u) << clients;
    before_ns = result.warm_storage_latency.p95_ns;
  }
}

TEST(SimulateRocksdb, UnknownNamesAreRefusedWithWhatIsAllowed) {
  const auto refusal = [](const Options& options) {
    const auto result = simulate(options);
    EXPECT_TRUE(is_invalid_argument(result.status())) << result.status();
    return std::string(result.status().message());
  };
  EXPECT_THAT(refusal(small_rocksdb("64-0/none")),
              HasSubstr("'64-0/none'; allowed are 2P/dram-only, "));
  EXPECT_THAT(refusal(small_rocksdb("nvcache")), HasSubstr("32-256/memory-mode"));
  EXPECT_THAT(refusal(small_rocksdb("64-0/dram-only", "evict-btree")),
              HasSubstr("laser, tectonic, "));
  Options options = small_rocksdb("64-0/dram-only");
  options.page_cache_bytes = 80 * kGiB;
  EXPECT_THAT(refusal(options), HasSubstr("--page-cache: 80.0 GiB given; allowed with "
                                          "64-0/dram-only are 40 GiB"));
  options = small_rocksdb("64-0/dram-only");
  options.engine = "leveldb";
  EXPECT_THAT(refusal(options), HasSubstr("allowed are wiredtiger, memcached, rocksdb"));
  options = small_rocksdb("64-0/dram-only");
  options.scale = 0;
  EXPECT_THAT(refusal(options), HasSubstr("--scale"));
}

TEST(SimulateRocksdb, StudiesPlanEachConfigurationOnceAndCompareWithDramAlone) {
  StudyOptions study;
  study.base = small_rocksdb("");
  study.base.minutes = 1;
  study.workloads = {"whatsapp", "a"};
  study.configurations = {"64-0/dram-only", "32-256/dram-first"};
  study.nvram_bytes = {64 * kGiB, 128 * kGiB};  // not theirs
  auto runs = plan(study);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 4u);
  EXPECT_EQ((*runs)[1].options.nvram_bytes, 256 * kGiB);
  EXPECT_EQ((*runs)[1].options.tier_bytes, 200 * kGiB);
  EXPECT_EQ((*runs)[1].options.page_cache_bytes, 12 * kGiB);
  EXPECT_EQ((*runs)[1].options.storage, "flash");
  ASSERT_TRUE(carry_out(*runs, 2, {}).ok());
  const std::string text = text_tables(*runs);
  EXPECT_THAT(text, HasSubstr("whatsapp: 1478 GiB, 48 clients, 24 cores, rocksdb, flash"));
  EXPECT_THAT(text, HasSubstr("YCSB A: 130 GiB"));
  EXPECT_THAT(text, HasSubstr("1.00"));
  EXPECT_THAT(page(*runs, "test"), HasSubstr("# Simulated: RocksDB at the size of the papers"));
}

// ---- Parts ----

TEST(SimulateLsmTree, WhatComesInIsMergedDownAndTheLevelsKeepTheirSizes) {
  constexpr uint64_t kData = uint64_t{20} << 30;
  LsmTree tree(kData, 1000, 1);
  EXPECT_EQ(tree.levels(), 3u) << "0.25, 2.5, and the data: 25 would be more";
  uint64_t written = 0;
  constexpr uint64_t kMemtables = 4000;
  for (uint64_t i = 0; i < kMemtables; ++i) {
    tree.flushed();
    EXPECT_FALSE(tree.must_stop());
    while (tree.has_job()) {
      const MergeJob job = tree.take_job();
      EXPECT_GE(job.read_bytes, job.written_bytes);
      written += job.written_bytes;
      tree.finish(job);
    }
  }
  // 2 for level 1, 11 for level 2, and the data over level 2's size for the last.
  const double amplification =
      static_cast<double>(written) / static_cast<double>(kMemtables * tree.memtable_bytes());
  EXPECT_NEAR(amplification, 2 + 11 + 8, 1.5);
}

TEST(SimulateLsmTree, AMergeIntoTheLastLevelRenamesARangeAfterTheOther) {
  LsmTree tree(uint64_t{1} << 30, 1000, 1);  // one level above the last
  std::vector<uint32_t> before(1000);
  bool renamed = false;
  for (int i = 0; i < 64; ++i) {
    tree.flushed();
    while (tree.has_job()) tree.finish(tree.take_job());
    for (uint64_t block = 0; block + 1 < 1000; ++block) {
      EXPECT_GE(tree.version_of(block), before[block]);
      EXPECT_GE(tree.version_of(block), tree.version_of(block + 1)) << "from the first on";
      EXPECT_LE(tree.version_of(block), tree.version_of(999) + 1);
      renamed = renamed || tree.version_of(block) > before[block];
      before[block] = tree.version_of(block);
    }
  }
  EXPECT_TRUE(renamed);
}

TEST(SimulateLsmTree, PutsStopWhenNobodyMerges) {
  LsmTree tree(uint64_t{1} << 30, 1000, 1);
  for (int i = 0; i < 35; ++i) tree.flushed();
  EXPECT_FALSE(tree.must_stop());
  tree.flushed();
  EXPECT_TRUE(tree.must_stop());
}

TEST(SimulateRocksdbOperations, BlocksAreOfTheirDatabaseAndAllKindsCome) {
  for (const Named& workload : workloads("rocksdb")) {
    SCOPED_TRACE(std::string(workload.name));
    auto options = complete(small_rocksdb("64-0/dram-only", std::string(workload.name)));
    ASSERT_TRUE(options.ok()) << options.status();
    const auto operations = make_rocksdb_operations(*options);
    uint64_t puts = 0;
    for (uint32_t i = 0; i < 20'000; ++i) {
      const RocksdbOperation op = operations->next(i % options->clients);
      ASSERT_LT(op.database, operations->databases());
      const uint64_t first = op.database * operations->blocks_of_database();
      ASSERT_GE(op.block, first);
      ASSERT_LT(op.block, first + operations->blocks_of_database());
      ASSERT_GE(op.at, 0);
      ASSERT_LT(op.at, 1);
      if (op.type == OpType::kUpdate) ++puts;
    }
    EXPECT_EQ(puts > 0, workload.name != "c");
  }
}

BlockName block(uint64_t number, uint32_t version = 0) {
  return {.number = number, .version = version};
}

TEST(SimulateBlockTiers, WhatLeavesTheDramIsFoundBelowAndItsWriteIsOwed) {
  const auto options = complete(small_rocksdb("32-256/dram-first"));
  ASSERT_TRUE(options.ok());
  const auto tiers = make_block_tiers(*options, {.blocks = 1 << 20});
  // 3 MiB of DRAM and 50 of SCM.
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_FALSE(tiers->look_up(i, block(i), 0).hit);
    EXPECT_EQ(tiers->insert(i, block(i)), i) << "the client writes nothing to SCM";
  }
  EXPECT_GT(tiers->owed_blocks(), 700u);
  const uint64_t owed = tiers->owed_blocks();
  EXPECT_GT(tiers->write_owed(5000), 5000u + 7'000) << "16 KiB at 2 GB/s";
  EXPECT_EQ(tiers->owed_blocks(), owed - 1);
  const BlockTiers::Found last = tiers->look_up(1'000'000'000, block(999), 0);
  EXPECT_TRUE(last.hit && last.in_first_tier);
  EXPECT_EQ(last.done_ns, 1'000'000'000u);
  const BlockTiers::Found first = tiers->look_up(1'000'000'000, block(0), 0);
  EXPECT_TRUE(first.hit && !first.in_first_tier);
  EXPECT_GT(first.done_ns, 1'000'000'000u + 1'500) << "4 KiB at 3 GB/s";
  EXPECT_LT(first.done_ns, 1'000'000'000u + 5'000) << "the rest stays where it is";
  EXPECT_FALSE(tiers->look_up(1'000'000'000, block(0, 1), 0).hit) << "of a later file";
}

TEST(SimulateBlockTiers, WithoutDramTheClientWritesAndOursIsAsFastAsRocksDbsOwn) {
  std::vector<uint64_t> took_ns;
  for (const char* name : {"32-128/naive-scm", "32-128/scm-only"}) {
    const auto options = complete(small_rocksdb(name));
    ASSERT_TRUE(options.ok());
    const auto tiers = make_block_tiers(*options, {.blocks = 1 << 20});
    EXPECT_GT(tiers->insert(1000, block(7)), 1000u + 7'000) << "the client writes";
    EXPECT_EQ(tiers->owed_blocks(), 0u);
    const BlockTiers::Found found = tiers->look_up(1'000'000'000, block(7), 0.5);
    EXPECT_TRUE(found.hit);
    took_ns.push_back(found.done_ns - 1'000'000'000);
  }
  EXPECT_EQ(took_ns[0], took_ns[1]);
  EXPECT_GT(took_ns[0], 1'500u);
}

// Copied, or promoted into the DRAM.
TEST(SimulateBlockTiers, AWholeBlockTakesLongerThanWhatASearchTouches) {
  std::vector<uint64_t> took_ns;
  for (const char* name : {"32-128/dram-first", "32-128/copied", "32-128/scm-first-2"}) {
    const auto options = complete(small_rocksdb(name));
    ASSERT_TRUE(options.ok());
    const auto tiers = make_block_tiers(*options, {.blocks = 1 << 20});
    for (uint64_t i = 0; i < 1000; ++i) tiers->insert(i, block(i));
    while (tiers->owed_blocks() > 0) tiers->write_owed(1000);
    uint64_t longest_ns = 0;
    for (uint64_t at_ns = 1; at_ns < 5; ++at_ns) {  // references: the third promotes
      const BlockTiers::Found found = tiers->look_up(at_ns * 1'000'000'000, block(3), 0);
      EXPECT_TRUE(found.hit) << name;
      longest_ns = std::max(longest_ns, found.done_ns - at_ns * 1'000'000'000);
    }
    EXPECT_EQ(tiers->look_up(6'000'000'000, block(3), 0).in_first_tier,
              std::string_view(name) == "32-128/scm-first-2");
    took_ns.push_back(longest_ns);
  }
  EXPECT_GT(took_ns[1], 2 * took_ns[0]);
  EXPECT_GT(took_ns[2], 2 * took_ns[0]);
}

TEST(SimulateBlockTiers, MemoryModePaysForLinesThatAreNotInDram) {
  const auto options = complete(small_rocksdb("32-128/memory-mode"));
  ASSERT_TRUE(options.ok());
  const auto tiers = make_block_tiers(
      *options, {.blocks = 1 << 16, .filter_bytes = 2 << 20, .index_bytes = 1 << 20});
  uint64_t now_ns = 1'000'000'000;
  const BlockTiers::Found missed = tiers->look_up(now_ns, block(7), 0);
  EXPECT_FALSE(missed.hit);
  EXPECT_GT(missed.done_ns, now_ns) << "filter and index are in SCM";
  tiers->insert(now_ns, block(7));
  now_ns += 1'000'000'000;
  EXPECT_EQ(tiers->look_up(now_ns, block(7), 0).done_ns, now_ns) << "all of it is in DRAM";
  // 25 MiB of blocks push each other out of 8 MiB of DRAM.
  for (uint64_t i = 100; i < 1600; ++i) tiers->insert(now_ns, block(i));
  now_ns += 1'000'000'000;
  uint64_t slow = 0;
  for (uint64_t i = 100; i < 1600; ++i) {
    const BlockTiers::Found found = tiers->look_up(now_ns, block(i), 0);
    EXPECT_TRUE(found.hit);
    if (found.done_ns > now_ns + 1'000) ++slow;
    now_ns += 100'000'000;
  }
  EXPECT_GT(slow, 500u);
}

}  // namespace
}  // namespace nvcache::simulate
