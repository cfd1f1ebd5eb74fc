// discard=on: emptied regions go back to the medium, and only those; a failure turns it off; and no
// crash makes a wrong block of a discard, whether it came through or not.
#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "block_cache/region/region_table.h"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kDiscardRegionBytes = 128 << 10;
constexpr const char* kDiscardSpec =
    "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
    "&verify=always&maintenance=0&discard=on";

constexpr size_t kDiscardBlockBytes = 4000;

void fill_file(BlockCache& cache, uint64_t file, uint64_t count) {
  test::put_blocks(cache, file, count, kDiscardBlockBytes);
}
uint64_t count_file(BlockCache& cache, uint64_t file, uint64_t count) {
  return test::count_blocks(cache, file, count, kDiscardBlockBytes);
}

// False: the medium takes no discards.
bool wait_for_discards(const BlockCache& cache, uint64_t bytes) {
  for (;;) {
    const Stats stats = cache.stats();
    if (stats.discard_errors != 0) return false;
    if (stats.discarded_bytes >= bytes) return true;
    std::this_thread::yield();
  }
}

uint64_t allocated_bytes(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
  return static_cast<uint64_t>(found.st_blocks) * 512;
}

// Erases half of the blocks; `path` is the file whose space must fall.
void expect_space_to_fall(BlockCache& cache, const std::string& path, bool* takes_discards) {
  fill_file(cache, 1, 400);
  fill_file(cache, 2, 400);
  cache.drain();
  const uint64_t before = allocated_bytes(path);
  EXPECT_EQ(cache.stats().discarded_bytes, 0u) << "nothing was emptied";
  EXPECT_EQ(test::erase_file(cache, 1), 400u);
  // The blocks fill twelve regions; the last one holds blocks of both.
  constexpr uint64_t kLeastBytes = 11 * kDiscardRegionBytes;
  *takes_discards = wait_for_discards(cache, kLeastBytes);
  if (!*takes_discards) return;
  // A file in pieces takes a few more blocks for the list of them.
  EXPECT_LE(allocated_bytes(path) + kLeastBytes, before + kDiscardRegionBytes);
  EXPECT_EQ(count_file(cache, 2, 400), 400u) << "the regions that were not emptied are there";
  fill_file(cache, 3, 700);
  cache.drain();
  EXPECT_GT(count_file(cache, 3, 700), 500u) << "discarded regions are written again";
  EXPECT_EQ(cache.stats().damaged_blocks, 0u);
}

TEST(RegionDiscard, TheSpaceOfAFileFalls) {
  for (const std::string io : {"", ",io=direct"}) {
    const TempDir folder;
    const std::string path = folder.file("blocks");
    const auto cache = test::open(kDiscardSpec + ("&medium=file:" + path) + io);
    ASSERT_NE(cache, nullptr);
    bool takes_discards = false;
    expect_space_to_fall(*cache, path, &takes_discards);
    if (!takes_discards) GTEST_SKIP() << "a file system that cannot free parts of files";
  }
}

TEST(RegionDiscard, TheSpaceOfADeviceFalls) {
  const test::LoopDevice device(8 << 20);
  if (device.path().empty()) GTEST_SKIP() << "no loop device: " << device.why();
  const auto cache = test::open(kDiscardSpec + ("&medium=nvme:" + device.path()));
  ASSERT_NE(cache, nullptr);
  bool takes_discards = false;
  expect_space_to_fall(*cache, device.file(), &takes_discards);
  if (!takes_discards) GTEST_SKIP() << "a loop device that takes no discards";
}

TEST(RegionDiscard, WithoutTheSettingNothingIsDiscarded) {
  auto medium = std::make_unique<PowerLossMedium>(5 << 20);
  PowerLossMedium* const raw = medium.get();
  std::string spec = kDiscardSpec;
  spec.resize(spec.find("&discard"));
  const auto cache = test::make_on(spec, std::move(medium));
  for (uint64_t file = 1; file < 5; ++file) fill_file(*cache, file, 900);
  EXPECT_EQ(cache->stats().discarded_bytes, 0u);
  EXPECT_EQ(raw->discards(), 0u);
}

TEST(RegionDiscard, AFullCacheDiscardsWhatItEmpties) {
  auto medium = std::make_unique<PowerLossMedium>(5 << 20);
  PowerLossMedium* const raw = medium.get();
  const auto cache = test::make_on(kDiscardSpec, std::move(medium));
  for (uint64_t file = 1; file < 9; ++file) fill_file(*cache, file, 900);
  cache->drain();
  const Stats stats = cache->stats();
  EXPECT_GT(stats.discarded_bytes, 100 * kDiscardRegionBytes);
  EXPECT_LE(stats.discarded_bytes, raw->discards() * kDiscardRegionBytes);
  EXPECT_EQ(stats.discard_errors, 0u);
  EXPECT_GT(count_file(*cache, 8, 900), 600u);
  EXPECT_EQ(cache->stats().damaged_blocks, 0u);
}

TEST(RegionDiscard, AFailureTurnsItOffAndNothingElse) {
  const Status failures[] = {data_loss_error("Input/output error"),
                             unimplemented_error("no discards")};
  for (const Status& failure : failures) {
    auto owned = std::make_unique<FailingMedium>(std::make_unique<PowerLossMedium>(5 << 20));
    FailingMedium& medium = *owned;
    medium.fail_discards(failure, /*successes=*/3);
    const auto cache = test::make_on(kDiscardSpec, std::move(owned));
    for (uint64_t file = 1; file < 5; ++file) fill_file(*cache, file, 900);
    cache->drain();
    EXPECT_GT(count_file(*cache, 4, 900), 600u);
    const Stats stats = cache->stats();
    EXPECT_EQ(medium.discards(), 4u) << "none is asked for after the failure";
    EXPECT_EQ(stats.discarded_bytes, 3 * kDiscardRegionBytes);
    EXPECT_EQ(stats.discard_errors, 1u);
    EXPECT_EQ(stats.medium_errors, 0u);
    EXPECT_EQ(stats.failed, 0u);
  }
}

const std::string kWarmDiscards = std::string(kDiscardSpec) + "&restart=warm";

// The erased blocks are in regions whose discard the medium may have passed over.
TEST(RegionDiscard, WhatWasErasedStaysAwayAfterARestart) {
  std::vector<std::byte> image(5 << 20);
  for (uint64_t round = 0; round < 10; ++round) {
    auto medium = std::make_unique<PowerLossMedium>(image);
    medium->on_destruction(&image);
    auto cache = test::make_on(std::string(kWarmDiscards) + "&format=yes", std::move(medium));
    test::put_blocks(*cache, 1, 400, kDiscardBlockBytes, round);
    cache->drain();
    EXPECT_EQ(test::erase_file(*cache, 1), 400u);
    ASSERT_TRUE(wait_for_discards(*cache, 10 * kDiscardRegionBytes));
    cache.reset();
    cache = test::make_on(kWarmDiscards, std::make_unique<PowerLossMedium>(image));
    test::wait_for_recovery(*cache);
    EXPECT_EQ(test::count_blocks(*cache, 1, 400, kDiscardBlockBytes, round), 0u);
  }
}

// Blocks have versions: with mutable keys, a block that was erased before a crash stays away.
uint64_t lose_power_between_discards(bool immutable, uint64_t seed) {
  Prng random(seed);
  const std::string spec = kWarmDiscards + std::string(immutable ? "&keys=immutable" : "");
  uint64_t found = 0;
  uint64_t discards = 0;
  uint64_t version = 0;
  std::vector<std::byte> image(5 << 20);
  for (int life = 0; life < 10; ++life) {
    auto owned = std::make_unique<PowerLossMedium>(std::move(image));
    PowerLossMedium* const medium = owned.get();
    const auto cache = test::make_on(spec, std::move(owned));
    test::wait_for_recovery(*cache);
    for (uint64_t file = 1; file < 8; ++file) {
      found += test::count_blocks(*cache, file, 300, kDiscardBlockBytes, immutable ? 0 : version);
    }
    for (int i = 0; i < 10; ++i) {
      const uint64_t file = 1 + random.below(7);
      if (random.below(3) == 0) {
        test::erase_file(*cache, file);
        if (!immutable) {
          ++version;
          for (uint64_t other = 1; other < 8; ++other) test::erase_file(*cache, other);
        }
      } else {
        test::put_blocks(*cache, file, random.below(300), kDiscardBlockBytes,
                         immutable ? 0 : version);
      }
      if (random.below(4) == 0) cache->drain();
      if (random.below(4) == 0) {
        EXPECT_TRUE(medium->drain().ok());
      }
    }
    discards += medium->discards();
    image = medium->crash(random());
  }
  EXPECT_GT(discards, 0u);
  return found;
}

TEST(RegionDiscard, NoLossOfPowerMakesAWrongBlock) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < 5; ++i) found += lose_power_between_discards(true, test_seed() + i);
  EXPECT_GT(found, 500u) << "something came back";
  for (uint64_t i = 0; i < 5; ++i) lose_power_between_discards(false, test_seed() + 50 + i);
}

TEST(RegionDiscard, ARegionIsDiscardedOnceNobodyHoldsIt) {
  RegionTable table({.regions = 4, .limit = 4, .list_removals = true, .discards = true});
  const uint32_t region = *table.take_free();
  table.add(region, 3);
  table.seal(region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt);
  ASSERT_EQ(table.take_to_empty(/*only_without_blocks=*/false), region);
  table.let_go(region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt) << "a reader still pins the block";
  table.remove(region, 0, 3);
  EXPECT_EQ(table.free_regions(), 3u) << "nobody may write it yet";
  EXPECT_EQ(table.take_to_discard(), region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt);
  table.discarded(region);
  EXPECT_EQ(table.free_regions(), 4u);
  RemovalList list;
  table.list_removals(RegionTable::Unknown::kKept, &list);
  EXPECT_EQ(list.outdated().size(), 1u) << "its footer may be there, discarded or not";
}

TEST(RegionDiscard, ARegionThatLeavesUseMeanwhileIsNotDiscarded) {
  RegionTable table({.regions = 4, .limit = 4, .discards = true});
  for (uint32_t i = 0; i < 3; ++i) (void)table.take_free();
  const uint32_t region = *table.take_free();
  ASSERT_EQ(region, 3u);
  table.seal(region);
  ASSERT_TRUE(table.take_sealed(region));
  table.let_go(region);
  table.set_limit(2);
  EXPECT_EQ(table.take_to_discard(), std::nullopt);
  table.set_limit(4);
  EXPECT_EQ(table.free_regions(), 1u);
}

}  // namespace
}  // namespace nvcache
