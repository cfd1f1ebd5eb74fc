// `nvcache bench writes-hurt`: the scale, the workloads and the caches that are compared.
#include "experiments/writes_hurt/configurations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/workloads.h"
#include "nvcache/block_cache.h"

namespace nvcache::writes_hurt {
namespace {

using testing::HasSubstr;

TEST(PaperScaleTest, KeepsTheProportions) {
  EXPECT_EQ(scaled_bytes(252), 1008ull << 20);
  EXPECT_EQ(scaled_bytes(32), 128ull << 20);
  EXPECT_EQ(scaled_bytes(16), 64ull << 20);
  EXPECT_EQ(scaled_bytes(120), 480ull << 20);
  EXPECT_EQ(scaled_threads(16), 4u);
  EXPECT_EQ(scaled_threads(10), 3u);
  EXPECT_EQ(scaled_threads(1), 1u);
  EXPECT_EQ(scaled_threads(400), 8u);
  EXPECT_EQ(scaled_seconds(600), 10u);
  EXPECT_EQ(scaled_seconds(10), 1u);
}

TEST(PaperScaleTest, CostsAreThoseOfTable4) {
  for (const CostRow& row : table4()) {
    EXPECT_NEAR(relative_cost(row.nvram_gb, row.dram_gb), row.printed_cost, 0.006) << row.nvram_gb;
  }
}

TEST(PaperWorkloadsTest, AllAreBuiltInAndOfTheScale) {
  EXPECT_EQ(workloads().size(), 10u);
  for (const Workload& workload : workloads()) {
    for (const Variant variant : {Variant::kSmall, Variant::kLarge}) {
      const auto text = wtperf_options(workload, variant, "");
      ASSERT_TRUE(text.ok()) << text.status();
      EXPECT_THAT(*text, HasSubstr("threads=(("));
      EXPECT_THAT(*text, testing::EndsWith("\n"));
      EXPECT_EQ(text->find("direct_io") != std::string::npos, variant == Variant::kLarge);
      const bool compressed =
          workload.name == "500m-btree-50r50u" || workload.name == "chkpt-stress";
      EXPECT_EQ(text->find("compression=\"snappy\"") != std::string::npos, compressed);
      EXPECT_EQ(text->find("scan_icount") != std::string::npos,
                workload.name == "evict-btree-scan");
    }
  }
  const auto btree = find_workload("evict-btree");
  ASSERT_TRUE(btree.ok());
  EXPECT_THAT(*wtperf_options(**btree, Variant::kLarge, ""), HasSubstr("icount=3906250\n"));
  EXPECT_FALSE(find_workload("evict").ok());
  EXPECT_FALSE(wtperf_options(**btree, Variant::kLarge, "/nonexistent").ok());
}

TEST(PaperConfigurationsTest, AreThePapers) {
  const Options options;
  const auto small = figure4_choices(options);
  ASSERT_EQ(small.size(), 4u);
  EXPECT_EQ(small[3].spec,
            "nvcache://?size=1008MiB&medium=emulated:optane&space=in_place"
            "&admission=small_bypass(64MiB)+obp(0.1)"
            "&eviction=none");
  EXPECT_EQ(figure6_choices(options, "").size(), 6u);
  EXPECT_EQ(figure6_choices(options, "/tmp").size(), 7u);
  Options few;
  few.configurations = {"open-cas-like"};
  const auto chosen = figure6_choices(few, "/tmp");
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].name, "none");
  EXPECT_EQ(chosen[1].writes, "update");
}

// Times are scaled like the runs: an evictor that wakes once a second is not eager in a
// cache that turns over in half a second.
TEST(PaperConfigurationsTest, Table1EvictsByThePapersPolicy) {
  const auto choices = table1_choices(Options());
  ASSERT_EQ(choices.size(), 3u);
  EXPECT_EQ(choices[0].spec,
            "nvcache://?size=256MiB&medium=emulated:optane&space=in_place&admission=always"
            "&eviction=lfru(0.1667)&maintenance=0.0167");
  EXPECT_THAT(choices[1].spec, HasSubstr("admission=always&eviction=lru"));
  EXPECT_THAT(choices[2].spec, HasSubstr("admission=always&eviction=none"));
  for (const CacheChoice& choice : choices) {
    std::string spec = choice.spec;
    spec.replace(spec.find("emulated:optane"), 15, "dram");
    EXPECT_TRUE(open_block_cache(spec).ok()) << choice.spec;
  }
}

TEST(PaperConfigurationsTest, QuotesForWtperf) {
  const Tools tools{"/w/wtperf", "/w/ext.so", "/w/snappy.so"};
  const CacheChoice cache{"x", "", "nvcache://?size=1MiB", "update", ""};
  EXPECT_EQ(connection_config(cache, tools, true, "/s.json"),
            R"(extensions=[/w/ext.so=(early_load=true,config=(cache=\"nvcache://?size=1MiB\",)"
            R"(writes=update,stats=\"/s.json\",stats_interval=0)),/w/snappy.so])");
  EXPECT_EQ(connection_config({}, {"/w/wtperf", "", ""}, false, ""), "extensions=[]");
}

}  // namespace
}  // namespace nvcache::writes_hurt
