// The model of *Hybrid Cache*'s evaluation: it repeats itself, more cache hits more, and Memory
// Mode pays for lines that are not in DRAM.
#include "experiments/reproduce/hybrid_model.h"

#include <gtest/gtest.h>

#include "experiments/reproduce/model_caches.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

constexpr uint64_t kScmReadNs = 5'000;  // of 16 KiB, nearly

HybridModelPlan small_plan() {
  HybridModelPlan plan;
  plan.gb_bytes = 64 << 10;
  plan.operations = 5'000;
  plan.command = "test";
  return plan;
}

double metric(const json& document, const char* workload, const char* server, const char* policy,
              const char* name) {
  for (const json& run : document["runs"]) {
    if (run["workload"] == workload && run["variant"] == server && run["configuration"] == policy) {
      return run["metrics"][name].get<double>();
    }
  }
  ADD_FAILURE() << workload << " " << server << " " << policy;
  return 0;
}

TEST(HybridModel, RepeatsItselfAndMoreCacheHitsMore) {
  const auto first = run_hybrid_model(small_plan(), system_clock());
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = run_hybrid_model(small_plan(), system_clock());
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*first, *second);
  for (const char* workload : {"whatsapp", "tectonic", "laser"}) {
    const double base = metric(*first, workload, "64-0", "dram_only", "hit_ratio");
    EXPECT_GT(metric(*first, workload, "32-256", "dram_first", "hit_ratio"), base);
    EXPECT_GT(metric(*first, workload, "2P", "dram_only", "hit_ratio"), base);
    EXPECT_GT(metric(*first, workload, "64-0", "dram_only", "ops_per_second"),
              metric(*first, workload, "64-0", "scm_only", "ops_per_second"));
  }
}

TEST(HybridModel, MemoryModeAloneRunsOnlyWhatItNeeds) {
  HybridModelPlan plan = small_plan();
  plan.memory_mode_only = true;
  const auto document = run_hybrid_model(plan, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)["runs"].size(), 6u);
}

// ---- The caches ----

uint64_t took_ns(StepClock& clock, ModelCache& cache, uint64_t block) {
  const uint64_t begun_ns = clock.now_ns() + 1'000'000'000;  // no write is felt any more
  clock.set_ns(begun_ns);
  EXPECT_TRUE(cache.lookup(block, 0.5)) << block;
  return clock.now_ns() - begun_ns;
}

// With room for 64 blocks.
MemoryModeSizes sizes_with(uint64_t dram_bytes) {
  return {.dram_bytes = dram_bytes,
          .block_bytes = 64 * kModelBlockBytes,
          .filter_bytes = 4096,
          .index_bytes = 4096,
          .blocks = 128};
}

TEST(MemoryModeModel, DramThatHoldsAllCostsNothing) {
  StepClock clock;
  const auto cache = make_memory_mode_model(sizes_with(2 << 20), clock, 1);
  EXPECT_FALSE(cache->lookup(7, 0));
  for (uint64_t block = 0; block < 64; ++block) {
    cache->insert(block);
    (void)took_ns(clock, *cache, block);  // fetches its filter and index
  }
  for (uint64_t block = 0; block < 64; ++block) EXPECT_EQ(took_ns(clock, *cache, block), 0u);
}

TEST(MemoryModeModel, ReadsOfWhatDramDoesNotHoldWaitForScm) {
  StepClock clock;
  const auto cache = make_memory_mode_model(sizes_with(16 << 10), clock, 1);
  for (uint64_t block = 0; block < 64; ++block) cache->insert(block);
  uint64_t waited = 0;
  for (uint64_t block = 0; block < 64; ++block) waited += took_ns(clock, *cache, block) > 0;
  EXPECT_GT(waited, 48u);
  // The block used longest ago makes room.
  cache->insert(64);
  EXPECT_FALSE(cache->lookup(0, 0));
  EXPECT_TRUE(cache->lookup(64, 0));
}

TEST(MemoryModeModel, WhatWasWrittenIsWrittenBack) {
  StepClock clean_clock, dirty_clock;
  const auto clean = make_memory_mode_model(sizes_with(64 << 10), clean_clock, 1);
  const auto dirty = make_memory_mode_model(sizes_with(64 << 10), dirty_clock, 1);
  for (uint64_t block = 0; block < 64; ++block) {
    clean->insert(block);
    dirty->insert(block);
  }
  // Lookups leave DRAM clean.
  for (uint64_t block = 8; block < 64; ++block) (void)took_ns(clean_clock, *clean, block);
  uint64_t clean_ns = 0, dirty_ns = 0;
  for (uint64_t block = 0; block < 8; ++block) {
    clean_ns += took_ns(clean_clock, *clean, block);
    dirty_ns += took_ns(dirty_clock, *dirty, block);
  }
  EXPECT_LT(clean_ns, dirty_ns);
}

TEST(TieredModel, AHitInDramCostsNothingAndOneInScmItsRead) {
  StepClock clock;
  auto cache = make_tiered_model(
      "tiered://?policy=dram_first&dram=256KiB&shards=1&demote=foreground"
      "&tier=(size=8MiB,medium=emulated:optane)",
      clock);
  ASSERT_TRUE(cache.ok()) << cache.status();
  for (uint64_t block = 0; block < 100; ++block) (*cache)->insert(block);
  EXPECT_EQ(took_ns(clock, **cache, 99), 0u);
  EXPECT_GT(took_ns(clock, **cache, 0), kScmReadNs);
  EXPECT_FALSE((*cache)->lookup(1000, 0));
  EXPECT_EQ((*cache)->wrong(), 0u);
}

TEST(TieredModel, AWrongSpecificationIsRefused) {
  StepClock clock;
  EXPECT_FALSE(make_tiered_model("tiered://?policy=lfu", clock).ok());
}

}  // namespace
}  // namespace nvcache::reproduce
