// The blocks of files that an engine deleted leave at once, and do not come in again.
#include "block_cache/index/gone_files.h"

#include <string>
#include <vector>

#include "base/key_bytes.h"
#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"
#include "support/region_cache.h"
#include "support/temp_dir.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::put_blocks;
using test::wait_for_recovery;

constexpr const char* kGoneSpec =
    "nvcache://?size=16MiB&admission=always&eviction=lru&maintenance=0";

TEST(GoneFiles, AllTheirBlocksLeaveInOnePassAndNoOthers) {
  const auto cache = test::open(kGoneSpec);
  for (uint64_t file = 1; file <= 20; ++file) put_blocks(*cache, file, 50, 1000);
  const MissToken token = cache->lookup({30, 1}).token;
  EXPECT_EQ(test::erase_files(*cache, {3, 7, 8, 99}, Gone::kMayReturn), 150u);
  for (uint64_t file = 1; file <= 20; ++file) {
    const bool gone = file == 3 || file == 7 || file == 8;
    EXPECT_EQ(test::count_blocks(*cache, file, 50, 1000), gone ? 0u : 50u) << file;
  }
  EXPECT_EQ(cache->stats().erases, 150u);
  const std::vector<std::byte> block(1000);
  EXPECT_TRUE(cache->put({30, 1}, block, Origin::kRead, token).admitted())
      << "tokens of others stay good";
}

TEST(GoneFiles, APinnedBlockStaysReadable) {
  const auto cache = test::open(kGoneSpec);
  put_blocks(*cache, 5, 1, 1000);
  const Lookup held = cache->lookup({5, 0});
  EXPECT_EQ(test::erase_files(*cache, {5}, Gone::kMayReturn), 1u);
  EXPECT_FALSE(cache->lookup({5, 0}).hit());
  EXPECT_TRUE(test::holds(held.pin.bytes(), {5, 0}, 1000));
}

TEST(GoneFiles, NoBlockOfTheirsComesInUntilTheyAreForgotten) {
  VirtualClock clock;
  GoneFiles files(clock);
  EXPECT_FALSE(files.has(5));
  files.add(5);
  EXPECT_TRUE(files.has(5));
  EXPECT_FALSE(files.has(6));
  clock.wait_until_ns(GoneFiles::kRememberedNs - 1);
  EXPECT_TRUE(files.has(5));
  clock.wait_until_ns(GoneFiles::kRememberedNs);
  EXPECT_FALSE(files.has(5));

  const auto cache = test::open(kGoneSpec);
  EXPECT_EQ(test::erase_files(*cache, {5}, Gone::kMayReturn), 0u);
  EXPECT_EQ(test::put(*cache, {5, 1}, 1000).reason, Reason::kStaleToken);
  EXPECT_TRUE(test::put(*cache, {6, 1}, 1000).admitted());
}

// A file that was ingested twice, or that a checkpoint has, lives on under the same keys.
TEST(GoneFiles, ALookupTellsThatAFileLivesOn) {
  const auto cache = test::open(kGoneSpec);
  put_blocks(*cache, 5, 10, 1000);
  EXPECT_EQ(test::erase_files(*cache, {5, 6}, Gone::kMayReturn), 10u);
  EXPECT_FALSE(cache->lookup({5, 1}).hit());
  EXPECT_TRUE(test::put(*cache, {5, 1}, 1000).admitted());
  EXPECT_TRUE(test::put(*cache, {5, 2}, 1000).admitted());
  EXPECT_EQ(test::put(*cache, {6, 1}, 1000).reason, Reason::kStaleToken);
}

TEST(GoneFiles, MoreFilesThanTheTableHasPlacesAreAllErased) {
  const auto cache = test::open(kGoneSpec);
  std::vector<uint64_t> files;
  for (uint64_t file = 0; file < 3 * GoneFiles::kPlaces; ++file) {
    put_blocks(*cache, file, 1, 600);
    files.push_back(file);
  }
  put_blocks(*cache, files.size(), 1, 600);
  EXPECT_EQ(test::erase_files(*cache, files, Gone::kMayReturn), files.size());
  EXPECT_EQ(cache->stats().blocks, 1u);
}

// The clock stands still, so the rate does not let the recovery end.
TEST(GoneFiles, WhatHasNotComeBackYetStaysAwayAndNothingIsWritten) {
  const TempDir folder;
  const std::string spec =
      "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
      "&maintenance=0&restart=warm&restart_rate=64KiB&keys=immutable&medium=file:" +
      folder.file("blocks");
  {
    const auto cache = test::open(spec);
    for (uint64_t i = 0; i < 200; ++i) {
      for (const uint64_t file : {1, 2}) test::put_for_sure(*cache, {file, i}, 4096);
    }
  }
  VirtualClock clock;
  const Config config = parse_config(spec).value();
  auto medium = open_medium(config.medium, options_of_medium(config), clock);
  ASSERT_TRUE(medium.ok()) << medium.status();
  const auto cache = BlockCacheImpl::make(config, *std::move(medium), clock).value();
  const uint64_t writes = cache->stats().medium_writes;
  test::erase_files(*cache, {2}, Gone::kMayReturn);
  test::let_recover(*cache, clock);
  EXPECT_EQ(test::count_blocks(*cache, 1, 200, 4096), 200u);
  EXPECT_EQ(test::count_blocks(*cache, 2, 200, 4096), 0u);
  EXPECT_EQ(cache->stats().medium_writes, writes);
}

TEST(GoneFiles, TheirObjectsLeaveEveryTierOfATieredCache) {
  test::Engine engine(
      "tiered://?metadata=free&shards=1&high_priority=0&dram=64KiB&tier=(size=4MiB)");
  for (uint64_t id = 0; id < 100; ++id) engine.put_held(id);
  engine.cache->drain();
  EXPECT_GT(engine.blocks(1), 0u);
  BlockKey key;
  ASSERT_TRUE(parse_block_key(test::key_of(1), &key));
  engine.cache->erase_gone_files(std::vector<uint64_t>{key.file + 1});
  EXPECT_EQ(engine.blocks(0) + engine.blocks(1), 100u);
  engine.cache->erase_gone_files(std::vector<uint64_t>{key.file});
  EXPECT_EQ(engine.blocks(0) + engine.blocks(1), 0u);
  // Objects that are used a little longer stay in the first tier.
  for (uint64_t id = 0; id < 100; ++id) engine.put_held(id);
  EXPECT_EQ(engine.blocks(1), 0u);
}

}  // namespace
}  // namespace nvcache
