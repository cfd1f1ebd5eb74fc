// discard=on: emptied regions go back to the medium, and only those; a failure turns it off.
#include <sys/stat.h>

#include <string>
#include <thread>

#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"

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
  EXPECT_EQ(cache.erase_file(1), 400u);
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
  const absl::Status failures[] = {absl::DataLossError("Input/output error"),
                                   absl::UnimplementedError("no discards")};
  for (const absl::Status& failure : failures) {
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

TEST(RegionDiscard, ARegionIsDiscardedOnceNobodyHoldsIt) {
  RegionTable table({.regions = 4, .limit = 4, .discards = true});
  const uint32_t region = *table.take_free();
  table.add(region, 3);
  table.seal(region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt);
  ASSERT_EQ(table.take_to_empty(/*only_without_blocks=*/false), region);
  table.let_go(region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt) << "a reader still pins the block";
  table.remove(region, 3);
  EXPECT_EQ(table.free_regions(), 3u) << "nobody may write it yet";
  EXPECT_EQ(table.take_to_discard(), region);
  EXPECT_EQ(table.take_to_discard(), std::nullopt);
  table.discarded(region);
  EXPECT_EQ(table.free_regions(), 4u);
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
