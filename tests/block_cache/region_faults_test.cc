// Regions on a medium that fails: blocks are lost, nothing wrong is served, and the cache comes
// back when the medium does.
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kFaultsMiB = 1 << 20;
const Status kEio = data_loss_error("Input/output error");
const Status kEnospc = resource_exhausted_error("No space left on device");

class RegionFaults : public testing::Test {
 protected:
  std::string spec(const std::string& more = "") const {
    return "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
           "&maintenance=0.01&medium=file:" +
           path() + more;
  }
  std::string path() const { return folder_.file("blocks"); }

  // Opens the cache on a medium that fails on demand, with a clock that stands still.
  std::unique_ptr<BlockCacheImpl> open(const std::string& more = "") {
    const Config config = parse_config(spec(more)).value();
    auto medium = open_medium(config.medium, options_of_medium(config), clock_);
    EXPECT_TRUE(medium.ok()) << medium.status();
    if (!medium.ok()) return nullptr;
    auto owned = std::make_unique<FailingMedium>(*std::move(medium));
    failing_ = owned.get();
    return test::make_on(spec(more), std::move(owned), clock_);
  }
  template <typename Holds>
  static void wait_until(const BlockCache& cache, Holds&& holds) {
    while (!holds(cache.stats())) std::this_thread::yield();
  }
  // Puts until the medium is used again, a second after it was tried last.
  void come_back(BlockCache& cache) {
    clock_.wait_until_ns(clock_.now_ns() + MediumHealth::kProbeEveryNs);
    (void)test::put(cache, {77, 1}, 4000);
    wait_until(cache, [](const Stats& stats) { return stats.failed == 0; });
  }
  static uint64_t count_right(BlockCache& cache, uint64_t count) {
    return test::count_blocks(cache, 1, count, 4000);
  }

  TempDir folder_;
  VirtualClock clock_;
  FailingMedium* failing_ = nullptr;
};

// A full disk, or one that fails: what is there is served, and what comes later is lost.
TEST_F(RegionFaults, WritesThatFailLoseWhatTheyWrite) {
  for (const Status& error : {kEio, kEnospc}) {
    const auto cache = open("&format=yes");
    test::put_blocks(*cache, 1, 200, 4000);
    cache->drain();
    failing_->fail_writes(error);
    for (uint64_t i = 200; i < 240; ++i) test::put(*cache, {1, i}, 4000);
    cache->drain();
    // It tries the next regions by itself, before there are blocks for them.
    wait_until(*cache, [](const Stats& stats) { return stats.failed == 1; });
    EXPECT_LE(cache->stats().medium_errors, 18u) << "two writes may be under way";
    EXPECT_EQ(test::put(*cache, {1, 999}, 4000).reason, Reason::kMediumFailed);
    EXPECT_EQ(count_right(*cache, 200), 200u) << "what can be read is served";
    const Stats lost = cache->stats();
    EXPECT_LE(lost.failed_blocks, 64u) << "of one region, or of two that were under way";
    EXPECT_GT(lost.failed_blocks, 0u);
    EXPECT_GT(lost.set_aside_bytes, 0u);
    failing_->heal();
    come_back(*cache);
    wait_until(*cache, [](const Stats& stats) { return stats.set_aside_bytes == 0; });
    test::put_blocks(*cache, 1000, 100, 4000);
    cache->drain();
    EXPECT_TRUE(cache->lookup({1000, 99}).hit());
    const Stats stats = cache->stats();
    EXPECT_EQ(stats.blocks, stats.inserts - stats.removals) << stats.to_json();
    EXPECT_GT(stats.medium_errors, 0u);
  }
}

TEST_F(RegionFaults, AMediumThatFailsForGoodIsSwitchedOffAndComesBack) {
  const auto cache = open();
  test::put_blocks(*cache, 1, 200, 4000);
  cache->drain();
  failing_->fail_reads(kEio);
  failing_->fail_writes(kEio);
  for (uint64_t i = 0; i < 60; ++i) EXPECT_FALSE(cache->lookup({1, i}).hit());
  EXPECT_EQ(cache->stats().failed, 1u) << cache->stats().to_json();
  EXPECT_EQ(test::put(*cache, {2, 1}, 4000).reason, Reason::kMediumFailed);
  failing_->heal();
  clock_.wait_until_ns(clock_.now_ns() + MediumHealth::kProbeEveryNs);
  EXPECT_GE(count_right(*cache, 200), 100u) << "those that were not asked for meanwhile";
  EXPECT_EQ(cache->stats().failed, 0u);
  test::put_blocks(*cache, 300, 100, 4000);
  EXPECT_TRUE(cache->lookup({300, 99}).hit());
}

TEST_F(RegionFaults, ASyncThatFailsAtTheOpeningIsTold) {
  const Config config = parse_config(spec()).value();
  for (const bool drains : {true, false}) {
    auto medium = open_medium(config.medium, options_of_medium(config), clock_);
    ASSERT_TRUE(medium.ok()) << medium.status();
    auto owned = std::make_unique<FailingMedium>(*std::move(medium));
    if (drains) {
      owned->fail_drains(kEio);
    } else {
      owned->fail_reads(kEio);
    }
    const auto cache = BlockCacheImpl::make(config, std::move(owned), clock_);
    ASSERT_FALSE(cache.ok());
    EXPECT_NE(cache.status().message().find("Input/output error"), std::string::npos);
  }
}

// An index that cannot be read costs its region, no more.
TEST_F(RegionFaults, RegionsThatCannotBeReadAreEmptiedAllTheSame) {
  const auto cache = open();
  test::put_blocks(*cache, 1, 800, 4000);
  cache->drain();
  failing_->fail_reads(kEio);
  test::put_blocks(*cache, 2, 200, 4000);
  failing_->heal();
  EXPECT_EQ(test::count_blocks(*cache, 2, 200, 4000), 200u);
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.rewritten_blocks, 0u);
  EXPECT_EQ(stats.blocks, stats.inserts - stats.removals);
  EXPECT_EQ(stats.damaged_blocks, 0u);
}

// A medium that could not be made durable is not called closed.
TEST_F(RegionFaults, ASyncThatFailsAtTheCloseLeavesTheMediumOpen) {
  for (const bool immutable : {true, false}) {
    const std::string keys = std::string("&restart=warm") + (immutable ? "&keys=immutable" : "");
    {
      const auto cache = open(keys + "&format=yes");
      test::put_blocks(*cache, 1, 300, 4000);
      failing_->fail_drains(kEio);
    }
    const auto cache = open(keys);
    test::wait_for_recovery(*cache);
    const uint64_t found = count_right(*cache, 300);
    if (immutable) {
      EXPECT_GT(found, 200u);
    } else {
      EXPECT_EQ(found, 0u) << "what was removed is not known";
    }
  }
}

// Reads of indexes that fail while blocks come back: their regions are dropped.
TEST_F(RegionFaults, IndexesThatCannotBeReadCostTheirRegions) {
  {
    const auto cache = open("&restart=warm&keys=immutable");
    test::put_blocks(*cache, 1, 600, 4000);
  }
  const Config config = parse_config(spec("&restart=warm&keys=immutable")).value();
  auto medium = open_medium(config.medium, options_of_medium(config), clock_);
  ASSERT_TRUE(medium.ok()) << medium.status();
  auto owned = std::make_unique<FailingMedium>(*std::move(medium));
  FailingMedium& failing = *owned;
  constexpr uint64_t kHead = 4;          // two superblocks, two lists of what was erased
  failing.fail_reads(kEio, kHead + 34);  // footers of 32 regions, then two indexes
  const auto cache = test::make_on(spec("&restart=warm&keys=immutable"), std::move(owned), clock_);
  test::wait_for_recovery(*cache);
  failing.heal();
  const Stats stats = cache->stats();
  EXPECT_GT(stats.damaged_regions, 10u) << stats.to_json();
  EXPECT_GT(stats.recovered_blocks, 0u) << stats.to_json();
  EXPECT_EQ(count_right(*cache, 600), stats.recovered_blocks);
  test::put_blocks(*cache, 1000, 500, 4000);
  EXPECT_TRUE(cache->lookup({1000, 499}).hit());
}

TEST_F(RegionFaults, AFileCutShortLosesBlocks) {
  for (const std::string io : {"", ",io=direct"}) {
    const auto cache = test::open(spec(io + "&format=yes"));
    ASSERT_NE(cache, nullptr);
    test::put_blocks(*cache, 1, 400, 4000);
    cache->drain();
    std::filesystem::resize_file(path(), 2 * kFaultsMiB);
    EXPECT_LT(count_right(*cache, 400), 400u);
    EXPECT_GT(cache->stats().medium_errors, 0u);
  }
}

TEST_F(RegionFaults, RandomBytesAreNoCache) {
  Prng random(test_seed());
  std::string noise(5 * kFaultsMiB, '\0');
  for (char& each : noise) each = static_cast<char>(random());
  FILE* file = std::fopen(path().c_str(), "w");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(noise.data(), 1, noise.size(), file), noise.size());
  std::fclose(file);
  const Status refused = open_block_cache(spec()).status();
  EXPECT_TRUE(is_failed_precondition(refused)) << "somebody's file: " << refused;

  std::filesystem::remove(path());
  ASSERT_NE(test::open(spec("&restart=warm")), nullptr);  // leaves its file
  file = std::fopen(path().c_str(), "r+");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(noise.data(), 1, noise.size(), file), noise.size());
  std::fclose(file);
  const auto cache = test::open(spec());
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(count_right(*cache, 100), 0u);
  test::put_blocks(*cache, 1, 100, 4000);
  EXPECT_EQ(count_right(*cache, 100), 100u);
}

// The device's own storage vanishes: every access fails from then on.
TEST_F(RegionFaults, ADeviceThatVanishesIsSwitchedOff) {
  const test::LoopDevice device(8 * kFaultsMiB);
  if (device.path().empty()) GTEST_SKIP() << "no loop device: " << device.why();
  const auto cache = test::open(
      "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
      "&medium=nvme:" +
      device.path());
  ASSERT_NE(cache, nullptr);
  test::put_blocks(*cache, 1, 400, 4000);
  cache->drain();
  std::filesystem::resize_file(device.file(), 0);
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 400; ++i) {
      const Lookup lookup = cache->lookup({1, i});
      EXPECT_TRUE(!lookup.hit() || test::holds(lookup.pin.bytes(), {1, i}, 4000)) << i;
    }
  }
  const Stats stats = cache->stats();
  EXPECT_GT(stats.medium_errors + stats.damaged_blocks, 0u) << stats.to_json();
}

}  // namespace
}  // namespace nvcache
