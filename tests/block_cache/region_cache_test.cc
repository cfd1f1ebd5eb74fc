// A block cache whose space is in regions, for as long as it is open: what it serves, writes,
// evicts and refuses.
#include "support/region_cache.h"

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "gmock/gmock.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::count_blocks;
using test::holds;
using test::put;
using test::put_blocks;
using test::put_for_sure;

constexpr uint64_t kRegionsMiB = 1 << 20;
constexpr size_t kUsualBytes = 4096;

// 32 regions of 128 KiB.
constexpr const char* kRegionsSpec =
    "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
    "&maintenance=0";

class RegionCacheTest : public testing::Test {
 protected:
  std::string spec(const std::string& more = "") const {
    return kRegionsSpec + ("&medium=file:" + folder_.file("blocks")) + more;
  }
  std::unique_ptr<BlockCache> open(const std::string& more = "") const {
    return test::open(spec(more));
  }
  static std::string refused(const std::string& spec) {
    const auto cache = open_block_cache(spec);
    EXPECT_FALSE(cache.ok()) << spec;
    return cache.ok() ? std::string() : std::string(cache.status().message());
  }
  void overwrite(long at, const std::string& text) const {
    FILE* const file = std::fopen(folder_.file("blocks").c_str(), "r+");
    ASSERT_NE(file, nullptr);
    std::fseek(file, at, SEEK_SET);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  // A file that was there is kept when a cache on it is closed.
  void make_file() const {
    FILE* const file = std::fopen(folder_.file("blocks").c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  TempDir folder_;
};

TEST_F(RegionCacheTest, BlocksAreServedFromOpenRegions) {
  const auto cache =
      test::make_on(kRegionsSpec, std::make_unique<PowerLossMedium>(5 * kRegionsMiB));
  put_blocks(*cache, 1, 20, kUsualBytes);
  EXPECT_EQ(count_blocks(*cache, 1, 20, kUsualBytes), 20u);
  std::vector<std::byte> copy(kUsualBytes);
  EXPECT_TRUE(cache->lookup({1, 3}, {.copy_into = copy}).hit());
  EXPECT_TRUE(holds(copy, {1, 3}, kUsualBytes));
  const Stats open = cache->stats();
  EXPECT_EQ(open.medium_read_bytes, 0u);
  EXPECT_EQ(open.medium_writes, 0u);
  EXPECT_GE(open.pending_bytes, 20 * kUsualBytes);
  EXPECT_LE(open.pending_bytes, open.buffer_bytes);
  cache->drain();
  const Stats written = cache->stats();
  EXPECT_EQ(written.pending_bytes, 0u);
  EXPECT_GT(written.medium_written_bytes, 20 * kUsualBytes);
  EXPECT_EQ(count_blocks(*cache, 1, 20, kUsualBytes), 20u);
  EXPECT_GE(cache->stats().medium_read_bytes, 20 * kUsualBytes);
}

TEST_F(RegionCacheTest, AnEraseWritesNothing) {
  const auto cache =
      test::make_on(kRegionsSpec, std::make_unique<PowerLossMedium>(5 * kRegionsMiB));
  put_blocks(*cache, 1, 100, kUsualBytes);
  cache->drain();
  const Stats before = cache->stats();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(cache->erase({1, i}));
  EXPECT_EQ(count_blocks(*cache, 1, 100, kUsualBytes), 0u);
  const Stats after = cache->stats();
  EXPECT_EQ(after.medium_writes, before.medium_writes);
  EXPECT_EQ(after.medium_read_bytes, before.medium_read_bytes);
  EXPECT_EQ(after.used_bytes, 0u);
}

TEST_F(RegionCacheTest, RegionsLeaveOldestFirstAndUsedBlocksStay) {
  const auto cache = open();
  put_blocks(*cache, 1, 100, kUsualBytes);
  // Several times the medium, while the first blocks are used: fewer than half a region of them.
  for (uint64_t i = 0; i < 5000; ++i) {
    put_for_sure(*cache, {2, i}, kUsualBytes);
    if (i % 10 != 0) continue;
    EXPECT_EQ(count_blocks(*cache, 1, 12, kUsualBytes), 12u) << i;
  }
  EXPECT_EQ(count_blocks(*cache, 1, 100, kUsualBytes), 12u) << "all others were never used";
  const Stats stats = cache->stats();
  EXPECT_GT(stats.rewritten_blocks, 0u);
  EXPECT_EQ(stats.rewritten_bytes, stats.rewritten_blocks * kUsualBytes);
  EXPECT_GT(stats.evictions, 3000u);
  EXPECT_EQ(stats.damaged_blocks, 0u);
  EXPECT_EQ(stats.blocks, stats.inserts - stats.removals);
}

TEST_F(RegionCacheTest, NoneEvictsNothingAndRegionsWithoutBlocksAreUsedAgain) {
  const auto cache = test::open(
      "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=none"
      "&medium=file:" +
      folder_.file("none"));
  uint64_t entered = 0;
  while (put(*cache, {1, entered}, kUsualBytes).reason != Reason::kNoSpace) ++entered;
  EXPECT_GT(entered, 700u);
  EXPECT_EQ(count_blocks(*cache, 1, entered, kUsualBytes), entered);
  cache->drain();
  for (uint64_t i = 0; i < entered; ++i) cache->erase({1, i});
  put_blocks(*cache, 2, 500, kUsualBytes);
  EXPECT_EQ(count_blocks(*cache, 2, 500, kUsualBytes), 500u);
  EXPECT_EQ(cache->stats().evictions, 0u);
}

TEST_F(RegionCacheTest, WritesAreLargeAndLittleIsLost) {
  const auto cache = test::open(
      "nvcache://?size=65MiB&space=regions&region=2MiB&admission=always&eviction=fifo"
      "&write_queue=8MiB&medium=file:" +
      folder_.file("large"));
  constexpr uint64_t kBlocks = 40'000;
  put_blocks(*cache, 3, kBlocks, kUsualBytes);
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.rewritten_blocks, 0u) << "fifo keeps nothing";
  EXPECT_GE(stats.medium_written_bytes / stats.medium_writes, 512u << 10);
  // In the steady state: beside the open regions and those that are kept free, all is live.
  EXPECT_GE(static_cast<double>(stats.data_bytes + stats.buffer_bytes + 4 * (2 << 20)),
            0.95 * static_cast<double>(stats.size_bytes));
  // Alignment, index and footers.
  EXPECT_LE(static_cast<double>(stats.medium_written_bytes),
            1.02 * static_cast<double>(kBlocks * kUsualBytes));
}

TEST_F(RegionCacheTest, ABlockThatFitsIntoNoRegionIsRefused) {
  const auto cache = open();
  EXPECT_EQ(put(*cache, {1, 1}, 128 << 10).reason, Reason::kNoSpace) << "its record needs room";
  EXPECT_EQ(put(*cache, {1, 1}, kMaxBlockBytes + 1).reason, Reason::kBadSize);
  EXPECT_TRUE(put(*cache, {1, 1}, (128 << 10) - 128).admitted());
  cache->drain();
  EXPECT_TRUE(holds(cache->lookup({1, 1}).pin.bytes(), {1, 1}, (128 << 10) - 128));
}

TEST_F(RegionCacheTest, ShrinksAndGrows) {
  const auto cache = open("&max_size=9MiB");
  put_blocks(*cache, 1, 800, kUsualBytes);
  EXPECT_TRUE(cache->resize(3 * kRegionsMiB).ok());
  EXPECT_LE(cache->stats().used_bytes, 2 * kRegionsMiB);
  EXPECT_GT(count_blocks(*cache, 1, 800, kUsualBytes), 200u);
  EXPECT_TRUE(cache->resize(9 * kRegionsMiB).ok());
  put_blocks(*cache, 2, 1500, kUsualBytes);
  EXPECT_GT(cache->stats().used_bytes, 5 * kRegionsMiB);
  EXPECT_EQ(cache->resize(kRegionsMiB + kRegionsMiB / 2).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(cache->stats().damaged_blocks, 0u);
}

TEST_F(RegionCacheTest, RefusesWhatItCannotDo) {
  EXPECT_THAT(refused("nvcache://?size=1MiB&space=regions&region=128KiB"),
              testing::HasSubstr("at least 2.00 MiB, or space=in_place"));
  EXPECT_THAT(refused("nvcache://?size=64MiB&space=regions&region=100KiB"),
              testing::HasSubstr("power of two"));
  EXPECT_THAT(refused("nvcache://?size=64MiB&space=regions&verify=never"),
              testing::HasSubstr("verify"));
  for (const std::string setting : {"region=1MiB", "discard=on", "format=yes"}) {
    EXPECT_THAT(refused("nvcache://?size=64MiB&" + setting), testing::HasSubstr("space=regions"));
  }
}

TEST_F(RegionCacheTest, EachOpeningBeginsEmpty) {
  make_file();
  for (int opening = 0; opening < 3; ++opening) {
    const auto cache = open();
    EXPECT_EQ(count_blocks(*cache, 1, 300, kUsualBytes), 0u);
    put_blocks(*cache, 1, 300, kUsualBytes);
  }
}

TEST_F(RegionCacheTest, ASuperblockThatIsDamagedOrOfAnotherVersionIsRefusedUntilToldToFormat) {
  make_file();
  struct Case {
    long at;
    std::string text;
    const char* message;
  };
  for (const Case& each : {Case{40, "damage", "damaged superblock"},
                           Case{8, std::string("\x03\0\0\0", 4), "damaged superblock"}}) {
    ASSERT_NE(open("&format=yes"), nullptr);
    overwrite(each.at, each.text);
    EXPECT_NE(open(), nullptr) << "the other copy is whole";
    for (const long copy : {0L, 64L << 10}) overwrite(copy + each.at, each.text);
    const std::string message = refused(spec());
    EXPECT_THAT(message, testing::HasSubstr(each.message));
    EXPECT_THAT(message, testing::HasSubstr("format=yes"));
    EXPECT_EQ(refused(spec()), message) << "nothing was changed";
    EXPECT_NE(open("&format=yes"), nullptr);
    EXPECT_NE(open(), nullptr);
  }
  // As a later version would write it.
  overwrite(8, std::string("\x03\0\0\0", 4));
  overwrite(120, "its check");
  EXPECT_THAT(refused(spec()), testing::HasSubstr("version 3"));
  EXPECT_NE(open("&format=yes"), nullptr);
}

// Readers, writers and erasers beside emptying regions: whatever is found is right and not older
// than what was erased.
TEST_F(RegionCacheTest, ConcurrentUsersFindOnlyWhatIsRight) {
  constexpr uint64_t kKeys = 3000;
  const auto cache = open();
  std::vector<std::atomic<uint64_t>> versions(kKeys);  // the newest that may be there
  std::vector<std::atomic<uint64_t>> erased(kKeys);    // all below are gone
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + t);
      // It goes on until blocks were written again: where the thread that empties regions gets
      // little time, none is free, and puts are refused.
      for (int i = 0; i < 15000 || i % 1000 != 0 || cache->stats().rewritten_blocks == 0; ++i) {
        // A thread owns the versions of its keys; all read all keys.
        const uint64_t key = random.below(kKeys / 4) * 4 + t;
        const uint64_t size_bytes = 500 + key % 4000;
        switch (random.below(4)) {
          case 0:
            versions[key].fetch_add(1);
            cache->erase({1, key});
            erased[key].store(versions[key].load());
            break;
          case 1:
            put(*cache, {1, key}, size_bytes, versions[key].load());
            break;
          default: {
            const uint64_t any = random.below(kKeys);
            const uint64_t before = erased[any].load();
            const Lookup lookup = cache->lookup({1, any});
            if (!lookup.hit()) break;
            const uint64_t after = versions[any].load();
            bool right = false;
            for (uint64_t v = before; v <= after && !right; ++v) {
              right = holds(lookup.pin.bytes(), {1, any}, 500 + any % 4000, v);
            }
            if (!right) wrong = true;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong.load());
  EXPECT_EQ(cache->stats().damaged_blocks, 0u);
  EXPECT_GT(cache->stats().rewritten_blocks, 0u);
}

}  // namespace
}  // namespace nvcache
