// A block cache in regions comes back after a restart with what is right, and with nothing that is
// wrong.
#include <cstdio>
#include <string>
#include <vector>

#include "base/prng.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::holds;
using test::put_for_sure;
using test::wait_for_recovery;

class RegionRestart : public testing::Test {
 protected:
  // 32 regions of 128 KiB.
  std::string spec(const std::string& more = "") const {
    return "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
           "&maintenance=0.01&medium=file:" +
           folder_.file("blocks") + (more.find("restart=") == more.npos ? "&restart=warm" : "") +
           more;
  }
  std::unique_ptr<BlockCache> open(const std::string& more = "") const {
    return test::open(spec(more));
  }
  static uint64_t count_right(BlockCache& cache, uint64_t count, size_t size_bytes,
                              uint64_t version = 0) {
    return test::count_blocks(cache, 1, count, size_bytes, version);
  }
  TempDir folder_;
};

TEST_F(RegionRestart, ComesBackAfterACleanClose) {
  constexpr uint64_t kBlocks = 500;
  {
    const auto cache = open();
    for (uint64_t i = 0; i < kBlocks; ++i) put_for_sure(*cache, {1, i}, 4000 + i % 7);
  }
  const auto cache = open();
  wait_for_recovery(*cache);
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.recovered_blocks, kBlocks);
  EXPECT_EQ(stats.blocks, kBlocks);
  EXPECT_EQ(stats.inserts, 0u);
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const Lookup lookup = cache->lookup({1, i});
    ASSERT_TRUE(lookup.hit()) << i;
    EXPECT_TRUE(holds(lookup.pin.bytes(), {1, i}, 4000 + i % 7)) << i;
  }
  EXPECT_EQ(cache->stats().damaged_blocks, 0u);
}

TEST_F(RegionRestart, WhatWasErasedStaysAwayAfterARestart) {
  {
    const auto cache = open();
    for (uint64_t i = 0; i < 200; ++i) put_for_sure(*cache, {1, i}, 4096);
    cache->drain();
    for (uint64_t i = 0; i < 200; i += 2) EXPECT_TRUE(cache->erase({1, i}));
    // Put anew, after the old one was sealed.
    for (uint64_t i = 0; i < 200; i += 4) put_for_sure(*cache, {1, i}, 4096, 1);
  }
  for (int restart = 0; restart < 3; ++restart) {
    const auto cache = open();
    wait_for_recovery(*cache);
    for (uint64_t i = 0; i < 200; ++i) {
      const Lookup lookup = cache->lookup({1, i});
      ASSERT_EQ(lookup.hit(), i % 4 != 2) << i;
      if (lookup.hit()) {
        EXPECT_TRUE(holds(lookup.pin.bytes(), {1, i}, 4096, i % 4 == 0 ? 1 : 0)) << i;
      }
    }
  }
}

// A region that was emptied keeps its footer on the medium until it is written again.
TEST_F(RegionRestart, WhatWasErasedStaysAwayAfterItsRegionWasEmptied) {
  {
    const auto cache = open();
    for (uint64_t i = 0; i < 20; ++i) put_for_sure(*cache, {1, i}, 4096);
    cache->drain();
    for (uint64_t i = 0; i < 20; ++i) cache->erase({1, i});
    for (uint64_t i = 0; i < 870; ++i) put_for_sure(*cache, {2, i}, 4096);
  }
  const auto cache = open();
  wait_for_recovery(*cache);
  for (uint64_t i = 0; i < 20; ++i) EXPECT_FALSE(cache->lookup({1, i}).hit()) << i;
}

// A restart before the blocks of the last one are all in: nothing is lost but what was erased.
TEST_F(RegionRestart, ManyShortOpeningsLoseNothing) {
  {
    const auto cache = open();
    for (uint64_t i = 0; i < 300; ++i) put_for_sure(*cache, {1, i}, 4096);
    cache->drain();
    for (uint64_t i = 0; i < 300; i += 3) cache->erase({1, i});
  }
  for (int restart = 0; restart < 20; ++restart) open().reset();
  const auto cache = open();
  wait_for_recovery(*cache);
  EXPECT_EQ(count_right(*cache, 300, 4096), 200u);
}

// Regions that an opening does not use keep what lay there before.
TEST_F(RegionRestart, AfterASmallerCacheNothingErasedComesBack) {
  constexpr uint64_t kBlocks = 900;
  for (const char* size : {"size=3MiB", "size=3MiB&max_size=4MiB", "size=3MiB&max_size=5MiB"}) {
    std::vector<std::byte> image(5 << 20);
    const auto open_on_image = [&](const std::string& sizes) {
      auto medium = std::make_unique<PowerLossMedium>(image);
      medium->on_destruction(&image);
      auto cache = test::make_on("nvcache://?" + sizes +
                                     "&space=regions&region=128KiB&admission=always"
                                     "&eviction=none&maintenance=0&restart=warm",
                                 std::move(medium));
      wait_for_recovery(*cache);
      return cache;
    };
    auto cache = open_on_image("size=5MiB");
    for (uint64_t i = 0; i < kBlocks; ++i) put_for_sure(*cache, {1, i}, 4096);
    cache.reset();
    cache = open_on_image(size);
    for (uint64_t i = 0; i < kBlocks; ++i) cache->erase({1, i});
    cache.reset();
    for (int restart = 0; restart < 2; ++restart) {
      cache = open_on_image("size=5MiB");
      EXPECT_EQ(count_right(*cache, kBlocks, 4096), 0u) << size << ", restart " << restart;
      cache.reset();
    }
  }
}

TEST_F(RegionRestart, AKeyThatIsErasedWhileBlocksComeBackStaysAway) {
  {
    const auto cache = open();
    for (uint64_t i = 0; i < 900; ++i) put_for_sure(*cache, {1, i}, 4096);
  }
  for (int round = 0; round < 10; ++round) {
    const auto cache = open();
    for (uint64_t i = 0; i < 50; ++i) cache->erase({1, i});
    for (uint64_t i = 0; i < 50; ++i) EXPECT_FALSE(cache->lookup({1, i}).hit()) << i;
    wait_for_recovery(*cache);
    for (uint64_t i = 0; i < 50; ++i) EXPECT_FALSE(cache->lookup({1, i}).hit()) << i;
  }
}

// The cache is closed before all blocks are back: it has not seen what it erased.
TEST_F(RegionRestart, AKeyThatIsErasedBeforeItIsBackStaysAwayAfterAClosing) {
  for (int round = 0; round < 10; ++round) {
    auto cache = open("&format=yes");
    for (uint64_t i = 0; i < 900; ++i) put_for_sure(*cache, {1, i}, 4096);
    cache.reset();
    cache = open();
    for (uint64_t i = 0; i < 20; ++i) cache->erase({1, i});
    cache.reset();
    cache = open();
    wait_for_recovery(*cache);
    for (uint64_t i = 0; i < 20; ++i) ASSERT_FALSE(cache->lookup({1, i}).hit()) << i;
  }
}

TEST_F(RegionRestart, ColdAndFormatBeginEmpty) {
  for (const char* more : {"&restart=cold", "&format=yes"}) {
    {
      const auto cache = open();
      put_for_sure(*cache, {1, 1}, 4096);
    }
    EXPECT_EQ(open(more)->stats().recovered_blocks, 0u) << more;
    const auto cache = open();
    wait_for_recovery(*cache);
    EXPECT_FALSE(cache->lookup({1, 1}).hit()) << more;
  }
}

TEST_F(RegionRestart, AnotherRegionSizeBeginsEmpty) {
  {
    const auto cache = open();
    put_for_sure(*cache, {1, 1}, 4096);
  }
  const std::string other =
      "nvcache://?size=5MiB&space=regions&region=64KiB&restart=warm&admission=always&medium=file:" +
      folder_.file("blocks");
  EXPECT_FALSE(test::open(other)->lookup({1, 1}).hit());
}

// Each byte of what is beside the blocks, and of some blocks: a flip loses blocks at most.
TEST_F(RegionRestart, DamageLosesBlocksAndServesNoneThatIsWrong) {
  constexpr uint64_t kBlocks = 120;
  std::vector<char> image(5 << 20);
  {
    const auto cache = open();
    for (uint64_t i = 0; i < kBlocks; ++i) put_for_sure(*cache, {1, i}, 4096);
  }
  const std::string path = folder_.file("blocks");
  FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_EQ(std::fread(image.data(), 1, image.size(), file), image.size());
  std::fclose(file);
  Prng random(test_seed());
  uint64_t found = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<char> damaged = image;
    for (int flips = 0; flips < 50; ++flips) {
      const uint64_t within = random.below(6 * (128 << 10));
      damaged[Geometry::kHeadBytes + within] ^= static_cast<char>(1 + random.below(255));
    }
    file = std::fopen(path.c_str(), "w");
    ASSERT_EQ(std::fwrite(damaged.data(), 1, damaged.size(), file), damaged.size());
    std::fclose(file);
    const auto cache = open();
    wait_for_recovery(*cache);
    found += count_right(*cache, kBlocks, 4096);
  }
  EXPECT_GT(found, 0u);
  EXPECT_LT(found, 60 * kBlocks);
}

// How many blocks come back from a cache of 100, which was started on a medium with another's 800.
uint64_t recovered_on_anothers(uint64_t region_nonce) {
  std::vector<std::byte> image(5 << 20);
  const auto open_on_image = [&](const std::string& more) {
    auto medium = std::make_unique<PowerLossMedium>(image);
    medium->on_destruction(&image);
    Config config = parse_config(
                        "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always"
                        "&eviction=clock&maintenance=0&restart=warm" +
                        more)
                        .value();
    config.region_nonce = region_nonce;
    auto cache = BlockCacheImpl::make(config, std::move(medium), system_clock()).value();
    wait_for_recovery(*cache);
    return cache;
  };
  auto cache = open_on_image("");
  test::put_blocks(*cache, 1, 800, 4096, /*version=*/0);
  cache.reset();
  cache = open_on_image("&format=yes");
  test::put_blocks(*cache, 1, 100, 4096, /*version=*/1);
  cache.reset();
  cache = open_on_image("");
  EXPECT_EQ(test::count_blocks(*cache, 1, 100, 4096, /*version=*/1), 100u);
  return cache->stats().recovered_blocks;
}

// The bytes that a kill leaves, or that another life left before: an index under another nonce is
// not believed, though its region is not written again.
TEST(RegionNonce, WhatAnEarlierCacheLeftIsNotBelieved) {
  EXPECT_EQ(recovered_on_anothers(/*region_nonce=*/0), 100u);
}

TEST(RegionNonce, ControlWithTheSameNonceItIs) {
  EXPECT_GT(recovered_on_anothers(/*region_nonce=*/1), 100u);
}

TEST_F(RegionRestart, AShrinkWhileBlocksComeBackLeavesNoneBeyondIt) {
  { test::put_blocks(*open(), 1, 800, 4096); }
  for (int round = 0; round < 5; ++round) {
    const auto cache = open("&max_size=5MiB");
    EXPECT_TRUE(cache->resize(3 << 20).ok());
    wait_for_recovery(*cache);
    EXPECT_TRUE(cache->resize(3 << 20).ok());
    EXPECT_LE(cache->stats().used_bytes, 2u << 20);
    count_right(*cache, 800, 4096);
    EXPECT_EQ(cache->stats().medium_errors, 0u);
    EXPECT_TRUE(cache->resize(5 << 20).ok());
    test::put_blocks(*cache, 1, 800, 4096);
    EXPECT_EQ(cache->stats().damaged_blocks, 0u);
  }
}

TEST_F(RegionRestart, TheFileStaysAndIsOnesOwn) {
  { test::put_blocks(*open(), 1, 10, 4096); }
  FILE* const file = std::fopen(folder_.file("blocks").c_str(), "r");
  ASSERT_NE(file, nullptr) << "it was created by the cache, and kept";
  std::fclose(file);
  const auto cache = open();
  EXPECT_FALSE(open_block_cache(spec()).ok()) << "one cache per file";
  wait_for_recovery(*cache);
  EXPECT_EQ(count_right(*cache, 10, 4096), 10u);
}

}  // namespace
}  // namespace nvcache
