// Whole simulations, small ones.
#include "experiments/simulate/simulate.h"

#include <string>
#include <vector>

#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/study.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/test_seed.h"

namespace nvcache::simulate {
namespace {

using testing::HasSubstr;

// Some ten thousand operations: 1/2048 of the machine, for six minutes.
Options small(const std::string& configuration, const std::string& workload = "c") {
  Options options;
  options.configuration = configuration;
  options.workload = workload;
  options.scale = 2048;
  options.minutes = 6;
  options.seed = test_seed();
  return options;
}

Result result_of(const Options& options) {
  const StatusOr<Result> result = simulate(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Result();
}

std::string text_of(const Result& result) {
  std::vector<Run> runs{{result.options.configuration, result.options, result}};
  return document(runs, "test").dump();
}

TEST(Simulate, TheSameOptionsGiveTheSameResult) {
  for (const Named& configuration : configurations()) {
    const Options options = small(std::string(configuration.name), "a");
    const std::string first = text_of(result_of(options));
    EXPECT_EQ(text_of(result_of(options)), first) << configuration.name;
    Options other = options;
    ++other.seed;
    EXPECT_NE(text_of(result_of(other)), first) << configuration.name;
  }
}

TEST(Simulate, NothingGetsLost) {
  for (const Named& configuration : configurations()) {
    for (const char* workload : {"a", "d", "e"}) {
      const Result result = result_of(small(std::string(configuration.name), workload));
      SCOPED_TRACE(std::string(configuration.name) + " " + workload);
      EXPECT_GT(result.operations, 1000u);
      EXPECT_EQ(result.operations, result.reads + result.updates + result.inserts + result.scans);
      const uint64_t page_misses = result.page_lookups - result.page_hits;
      const uint64_t os_misses = result.os_lookups - result.os_hits;
      const uint64_t tier_misses = result.tier_lookups - result.tier_hits;
      EXPECT_LE(result.page_hits, result.page_lookups);
      // Of what was missed above, all is looked up below, but for what is on its way in the end.
      const auto follows = [&result](uint64_t lookups, uint64_t misses) {
        EXPECT_LE(lookups, misses);
        EXPECT_GE(lookups + result.options.clients, misses);
      };
      const bool below = configuration.name == "open-cas";
      const bool has_tier = result.tier_lookups > 0;
      if (has_tier && !below) follows(result.tier_lookups, page_misses);
      follows(result.os_lookups, has_tier && !below ? tier_misses : page_misses);
      if (below) follows(result.tier_lookups, os_misses);
      const uint64_t disk_reads = result.storage_read_bytes / (28 << 10);
      EXPECT_EQ(result.storage_read_bytes % (28 << 10), 0u);
      follows(disk_reads, below ? tier_misses : os_misses);
      EXPECT_EQ(result.storage_written_bytes, result.blocks_written * (28 << 10));
      EXPECT_LE(result.tier_removals, result.tier_inserts);
      double interval_operations = 0;
      for (const double rate : result.interval_ops_per_second) {
        interval_operations += rate * result.seconds / 60;
      }
      EXPECT_NEAR(interval_operations, static_cast<double>(result.operations), 0.5);
    }
  }
}

TEST(Simulate, ALargerTierUnderLruHitsNoLess) {
  double before = 0;
  for (const uint64_t gib : {16u, 64u, 128u, 252u}) {
    Options options = small("admit-all");
    options.nvram_bytes = gib * kGiB;
    options.minutes = 20;
    const double ratio = result_of(options).tier_hit_ratio;
    EXPECT_GE(ratio, before - 0.005) << gib;
    before = ratio;
  }
  EXPECT_GT(before, 0.2);
}

TEST(Simulate, NvcacheWritesFarLessThanWhatAdmitsAll) {
  const Result all = result_of(small("admit-all"));
  const Result nvcache = result_of(small("nvcache"));
  EXPECT_LT(nvcache.nvram_written_bytes * 3, all.nvram_written_bytes);
  EXPECT_LE(nvcache.tier_inserts + nvcache.tier_removals, nvcache.tier_lookups / 10 + 1);
}

TEST(Simulate, TheScaleChangesLittle) {
  for (const char* configuration : {"none", "nvcache", "memory-mode"}) {
    Options options = small(configuration);
    options.minutes = 30;
    const Result smaller = result_of(options);
    options.scale /= 2;
    const Result larger = result_of(options);
    EXPECT_NEAR(smaller.ops_per_second / larger.ops_per_second, 1, 0.05) << configuration;
    EXPECT_NEAR(smaller.page_hit_ratio(), larger.page_hit_ratio(), 0.01) << configuration;
    EXPECT_NEAR(smaller.tier_hit_ratio, larger.tier_hit_ratio, 0.02) << configuration;
  }
}

TEST(Simulate, MoreClientsThanCoresShareThem) {
  Options options = small("none");
  options.dataset_bytes = 8 * kGiB;  // the page cache holds it: nobody waits for the disk
  options.minutes = 5;
  options.clients = 64;
  options.cores = 4;
  const double few = result_of(options).ops_per_second;
  options.cores = 64;
  const double many = result_of(options).ops_per_second;
  EXPECT_LT(few, 4 / 5e-6) << "5 us of a core each";
  EXPECT_GT(many, 4 * few);
}

TEST(Simulate, ThrottledClientsDoWhatTheyMayUnlessTheDiskHoldsThemUp) {
  Options options = small("none", "evict-btree-scan");
  options.dataset_bytes = 12 * kGiB;  // the page cache holds it
  options.minutes = 40;
  options.clients = 60;
  options.cores = 8;
  const Result cached = result_of(options);
  EXPECT_NEAR(static_cast<double>(cached.inserts) / cached.seconds, 20 * 500, 20 * 500 * 0.02);
  EXPECT_NEAR(static_cast<double>(cached.updates) / cached.seconds, 10 * 500, 10 * 500 * 0.02);
  EXPECT_GT(cached.reads, 5 * cached.inserts) << "the other 30 are not throttled";
  EXPECT_GE(cached.table_scans, 1u);
  options.dataset_bytes = 0;
  options.clients = 0;
  const Result whole = result_of(options);
  EXPECT_EQ(whole.options.clients, 430u);
  EXPECT_NEAR(static_cast<double>(whole.inserts) / whole.seconds, 20 * 500, 20 * 500 * 0.02)
      << "what is appended is in the page cache";
  EXPECT_LT(static_cast<double>(whole.updates) / whole.seconds, 10 * 500 * 0.9)
      << "400 readers have the disk before them";
}

TEST(Simulate, AnErrorOfTheProgressEndsIt) {
  const StatusOr<Result> result =
      simulate(small("none"), [](double) { return cancelled_error("enough"); });
  EXPECT_TRUE(is_cancelled(result.status()));
}

TEST(Simulate, WrongOptionsAreNamedWithWhatIsAllowed) {
  const auto complaint = [](auto change) {
    Options options = small("nvcache");
    change(options);
    const StatusOr<Result> result = simulate(options);
    EXPECT_TRUE(is_invalid_argument(result.status())) << result.status();
    return std::string(result.status().message());
  };
  EXPECT_THAT(complaint([](Options& o) { o.engine = "oracle"; }), HasSubstr("wiredtiger"));
  EXPECT_THAT(complaint([](Options& o) { o.configuration = "magic"; }), HasSubstr("memory-mode"));
  EXPECT_THAT(complaint([](Options& o) { o.storage = "tape"; }), HasSubstr("p4800x"));
  EXPECT_THAT(complaint([](Options& o) { o.medium = "tape"; }), HasSubstr("optane"));
  EXPECT_THAT(complaint([](Options& o) { o.workload = "f"; }), HasSubstr("a, b, c, d, e"));
  EXPECT_THAT(complaint([](Options& o) {
                o.workload = "evict-btree-scan";
                o.clients = 30;
              }),
              HasSubstr("31 to 100000"));
  EXPECT_THAT(complaint([](Options& o) { o.scale = 0; }), HasSubstr("1 to 4096"));
  EXPECT_THAT(complaint([](Options& o) { o.minutes = 0; }), HasSubstr("more than 0"));
  EXPECT_THAT(complaint([](Options& o) { o.page_cache_bytes = 64 * kGiB; }),
              HasSubstr("--page-cache"));
  EXPECT_THAT(complaint([](Options& o) { o.tier_bytes = 65 * kGiB; }), HasSubstr("--tier"));
  EXPECT_THAT(complaint([](Options& o) {
                o.configuration = "memory-mode";
                o.nvram_bytes = 16 * kGiB;
              }),
              HasSubstr("memory-mode"));
}

StudyOptions small_study() {
  StudyOptions study;
  study.base = small("nvcache");
  study.workloads = {"c", "a"};
  study.configurations = {"none", "memory-mode", "memory-mode:80GiB", "dram"};
  study.nvram_bytes = {64 * kGiB, 128 * kGiB};
  study.rounds = 2;
  return study;
}

TEST(SimulateStudy, LeavesOutWhatIsTheSameAndWhatHasNoRoom) {
  const auto runs = plan(small_study());
  ASSERT_TRUE(runs.ok()) << runs.status();
  // Of a workload: none once, memory-mode and dram twice, 80GiB at 128 GiB; two seeds each.
  EXPECT_EQ(runs->size(), 2u * 2 * (1 + 2 + 2 + 1));
  EXPECT_EQ((*runs)[1].options.seed, test_seed() + 1);
  StudyOptions study = small_study();
  study.configurations = {"memory-mode:big"};
  EXPECT_THAT(std::string(plan(study).status().message()), HasSubstr("--config: memory-mode:big"));
}

TEST(SimulateStudy, AnyNumberOfJobsGivesTheSamePage) {
  std::string before;
  for (const uint32_t jobs : {1u, 3u}) {
    auto runs = plan(small_study());
    ASSERT_TRUE(runs.ok());
    ASSERT_TRUE(carry_out(*runs, jobs, {}).ok());
    const std::string text = page(*runs, "test") + document(*runs, "test").dump();
    EXPECT_TRUE(before.empty() || before == text);
    EXPECT_THAT(text_tables(*runs), HasSubstr("SIMULATED at 1/2048"));
    before = text;
  }
}

TEST(SimulateStudy, AnErrorOfTheProgressEndsAll) {
  auto runs = plan(small_study());
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(is_cancelled(carry_out(*runs, 2, [](double) { return cancelled_error("enough"); })));
}

}  // namespace
}  // namespace nvcache::simulate
