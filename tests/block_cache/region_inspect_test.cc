// An inspection of a medium in regions agrees with the blocks that a restart brings back, whatever
// is damaged, and whatever bytes lie there.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "block_cache/region/inspect.h"
#include "block_cache/region/removal_list.h"
#include "gmock/gmock.h"
#include "nvcache/status.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSizeBytes = 5 << 20;
constexpr uint64_t kRegionBytes = 128 << 10;
constexpr uint64_t kHashedFile = 0xfeed'beef'0123'4567;

using Image = std::vector<std::byte>;

std::string spec(const std::string& more = "&restart=warm") {
  return "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=fifo"
         "&maintenance=0.01&shards=1" +
         more;
}

ReadMedium reader_of(const Image& image) {
  return [&image](uint64_t offset, MutableBytes into) -> Status {
    if (offset > image.size() || image.size() - offset < into.size()) {
      return data_loss_error("it ends");
    }
    std::memcpy(into.data(), image.data() + offset, into.size());
    return ok_status();
  };
}

StatusOr<Inspection> inspect_image(const Image& image, const InspectOptions& options = {}) {
  return inspect_regions(reader_of(image), image.size(), options);
}

Inspection inspected(const Image& image, const InspectOptions& options = {.read_blocks = true}) {
  auto found = inspect_image(image, options);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *std::move(found) : Inspection{};
}

// `use` with a cache on the image; then the image as a close leaves it.
template <typename Use>
Image after(Image image, const std::string& cache_spec, Use use) {
  Image closed;
  auto medium = std::make_unique<PowerLossMedium>(std::move(image));
  medium->on_destruction(&closed);
  auto cache = test::make_on(cache_spec, std::move(medium));
  use(*cache);
  cache.reset();  // fills `closed`
  return closed;
}

// 270 live blocks of 4000 bytes in two files, 30 erased ones, 20 that were replaced.
void fill(BlockCache& cache) {
  for (uint64_t i = 0; i < 300; ++i) {
    test::put_for_sure(cache, {i % 3 == 0 ? 7 : kHashedFile, i}, 4000);
  }
  cache.drain();
  for (uint64_t i = 0; i < 300; i += 6) cache.erase({7, i});
  for (uint64_t i = 0; i < 120; i += 6) test::put_for_sure(cache, {7, i}, 4000, 1);
}
Image filled(const std::string& more = "&restart=warm") {
  return after(Image(kSizeBytes), spec(more), fill);
}

uint64_t a_region_with_blocks(const Inspection& found) {
  for (const InspectedRegion& region : found.regions) {
    if (region.live.blocks > 1) return region.region;
  }
  ADD_FAILURE() << "no region holds blocks";
  return 0;
}

TEST(RegionInspect, AgreesWithWhatARestartBringsBack) {
  const Image image = filled();
  const Inspection found = inspected(image);
  EXPECT_TRUE(found.is_whole());
  EXPECT_TRUE(found.superblock.closed);
  EXPECT_TRUE(found.comes_back());
  EXPECT_EQ(found.live.blocks, 270u);
  EXPECT_EQ(found.live.bytes, 270u * 4000);
  EXPECT_EQ(found.outdated.blocks, 50u);
  EXPECT_EQ(found.region_count, (kSizeBytes - Geometry::kHeadBytes) / kRegionBytes);
  EXPECT_EQ(found.sealed_regions() + found.free_regions, found.region_count);
  EXPECT_EQ(found.strange_footers, 0u);
  ASSERT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.files[0].file, kHashedFile);
  EXPECT_FALSE(found.files[0].is_numbered());
  EXPECT_EQ(found.files[0].live.blocks, 200u);
  EXPECT_EQ(found.files[1].file, 7u);
  EXPECT_TRUE(found.files[1].is_numbered());
  EXPECT_EQ(found.files[1].live.blocks, 70u);
  EXPECT_EQ(found.files[1].first_offset, 0u);
  EXPECT_EQ(found.files[1].last_offset, 297u);

  after(image, spec(), [&](BlockCache& cache) {
    test::wait_for_recovery(cache);
    EXPECT_EQ(cache.stats().recovered_blocks, found.live.blocks);
    EXPECT_EQ(cache.stats().damaged_regions, 0u);
  });
}

TEST(RegionInspect, SaysWhetherBlocksComeBack) {
  struct Case {
    std::string more;
    bool closes;
    bool comes_back;
  };
  for (const Case& each :
       {Case{"&restart=warm", true, true}, Case{"&restart=warm", false, false},
        Case{"&restart=warm&keys=immutable", false, true}, Case{"&restart=cold", false, false}}) {
    auto medium = std::make_unique<PowerLossMedium>(kSizeBytes);
    PowerLossMedium* const seen = medium.get();
    Image image;
    medium->on_destruction(&image);
    auto cache = test::make_on(spec(each.more), std::move(medium));
    fill(*cache);
    if (each.closes) {
      cache.reset();
    } else {
      image = seen->bytes();
      seen->on_destruction(nullptr);
    }
    const Inspection found = inspected(image);
    EXPECT_TRUE(found.is_whole()) << each.more;
    EXPECT_EQ(found.comes_back(), each.comes_back) << each.more << each.closes;
    EXPECT_GT(found.live.blocks, 0u) << each.more;
    uint64_t recovered = 0;
    after(image, spec(each.more), [&](BlockCache& again) {
      test::wait_for_recovery(again);
      recovered = again.stats().recovered_blocks;
    });
    EXPECT_EQ(recovered, each.comes_back ? found.live.blocks : 0u) << each.more << each.closes;
  }
}

// An opening with less knows nothing of the regions behind its end; immutable keys bring them back.
TEST(RegionInspect, FindsWhatLiesBehindASmallerOpening) {
  const std::string immutable = "&restart=warm&keys=immutable";
  Image image = filled(immutable);
  const Inspection before = inspected(image);
  std::string small = spec(immutable);
  small.replace(small.find("5MiB"), 4, "2MiB");
  image = after(std::move(image), small, [](BlockCache& cache) { test::wait_for_recovery(cache); });
  const Inspection found = inspected(image);
  EXPECT_TRUE(found.is_whole());
  EXPECT_LT(found.superblock.regions, before.region_count);
  EXPECT_EQ(found.live.blocks, before.live.blocks);
}

TEST(RegionInspect, CountsDamagedBlocks) {
  Image image = filled();
  const Inspection before = inspected(image);
  const uint64_t region = a_region_with_blocks(before);
  image[before.superblock.geometry.region_at(static_cast<uint32_t>(region)) + 4100] ^= std::byte{1};
  const Inspection found = inspected(image);
  // It may be one that was erased: then nothing is lost.
  EXPECT_LE(found.damaged_blocks, 1u);
  EXPECT_EQ(found.live.blocks, before.live.blocks);
  for (uint64_t at = 0; at < kRegionBytes / 2; at += 4000) {
    image[before.superblock.geometry.region_at(static_cast<uint32_t>(region)) + at] ^= std::byte{2};
  }
  const Inspection more = inspected(image);
  EXPECT_GT(more.damaged_blocks, 1u);
  EXPECT_FALSE(more.is_whole());
  EXPECT_EQ(more.damaged_regions, 0u);
  EXPECT_EQ(inspected(image, {}).damaged_blocks, 0u) << "they were not to be read";
}

TEST(RegionInspect, CountsDamagedIndexesAndStrangeFooters) {
  Image image = filled();
  const Inspection before = inspected(image);
  const auto region = static_cast<uint32_t>(a_region_with_blocks(before));
  const uint64_t end = before.superblock.geometry.end_of(region);
  image[end - RegionFooter::kBytes - 5] ^= std::byte{1};
  const Inspection index = inspected(image);
  EXPECT_EQ(index.damaged_regions, 1u);
  EXPECT_FALSE(index.is_whole());
  EXPECT_LT(index.live.blocks, before.live.blocks);
  EXPECT_EQ(index.sealed_regions() + 1, before.sealed_regions());
  image[end - 20] ^= std::byte{1};
  const Inspection footer = inspected(image);
  EXPECT_EQ(footer.damaged_regions, 0u) << "an earlier cache's looks the same";
  EXPECT_EQ(footer.strange_footers, 1u);
  EXPECT_EQ(footer.free_regions, before.free_regions + 1);
}

TEST(RegionInspect, ADamagedListOfRemovedBlocksBringsNothingBack) {
  Image image = filled();
  for (const uint64_t half : {0, 1}) {
    image[Geometry::kRemovedAt + half * RemovalList::kHalfBytes] ^= std::byte{1};
  }
  const Inspection found = inspected(image);
  EXPECT_TRUE(found.removed_list_damaged);
  EXPECT_FALSE(found.comes_back());
  EXPECT_FALSE(found.is_whole());
  EXPECT_EQ(found.live.blocks, 0u);
  after(std::move(image), spec(), [&](BlockCache& cache) {
    test::wait_for_recovery(cache);
    EXPECT_EQ(cache.stats().recovered_blocks, 0u);
  });
}

TEST(RegionInspect, OneCopyOfTheSuperblockIsEnough) {
  const Image image = filled();
  const Inspection whole = inspected(image);
  for (const uint64_t copy : {uint64_t{0}, Geometry::kCopyBytes}) {
    Image one = image;
    one[copy + 60] ^= std::byte{1};
    const Inspection found = inspected(one);
    EXPECT_TRUE(found.copy_damaged);
    EXPECT_FALSE(found.is_whole());
    EXPECT_NE(found.copies[0], found.copies[1]);
    std::fill_n(one.begin() + static_cast<ptrdiff_t>(copy), 64, std::byte{0});  // half of it
    EXPECT_TRUE(inspected(one).copy_damaged);
    one[(copy ^ Geometry::kCopyBytes) + 60] ^= std::byte{1};
    EXPECT_FALSE(inspect_image(one).ok());
  }
  EXPECT_FALSE(whole.copy_damaged);
}

TEST(RegionInspect, AnotherVersionIsRefused) {
  Image image = filled();
  image[8] = std::byte{Superblock::kVersion + 1};
  image[Superblock::kBytes - 1] ^= std::byte{1};
  const auto found = inspect_image(image);
  EXPECT_TRUE(is_failed_precondition(found.status())) << found.status();
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("version 3"));
}

// As a file that was cut short: what is left is shown.
TEST(RegionInspect, TakesAMediumOfAnyLength) {
  const Image image = filled();
  const Inspection whole = inspected(image);
  for (uint64_t bytes = 0; bytes < image.size(); bytes += 37'777) {
    const Image cut(image.begin(), image.begin() + static_cast<ptrdiff_t>(bytes));
    const auto found = inspect_image(cut, {.read_blocks = true});
    if (!found.ok()) {
      EXPECT_LT(bytes, Superblock::kBytes + Geometry::kCopyBytes) << found.status();
      continue;
    }
    EXPECT_FALSE(found->is_whole()) << bytes;
    EXPECT_LT(found->live.blocks, whole.live.blocks + 1) << bytes;
    if (found->superblock.closed) {
      EXPECT_GT(found->missing_regions, 0u) << bytes;
    }
  }
}

TEST(RegionInspect, TakesAnyBytes) {
  Prng random(test_seed());
  Image image(kSizeBytes);
  for (int round = 0; round < 20; ++round) {
    for (std::byte& each : image) each = static_cast<std::byte>(random());
    EXPECT_TRUE(is_not_found(inspect_image(image).status())) << round;
  }
  // A superblock of any values under a right checksum.
  const Image right = filled();
  for (int round = 0; round < 200; ++round) {
    Image damaged = right;
    Superblock superblock = inspected(right, {}).superblock;
    superblock.opening += 1;
    superblock.geometry.grain_bytes = 1u << random.below(14);
    superblock.geometry.unit_bytes = 512u << random.below(8);
    superblock.geometry.region_bytes = uint64_t{512} << random.below(22);
    superblock.regions = static_cast<uint32_t>(random() >> random.below(64));
    superblock.list_number = random() >> random.below(64);
    superblock.closed = random.below(2) == 0;
    superblock.immutable_keys = random.below(2) == 0;
    superblock.encode(damaged);
    (void)inspect_image(damaged, {.read_blocks = true});
  }
}

TEST(RegionInspect, ZerosAreNotFound) {
  EXPECT_TRUE(is_not_found(inspect_image(Image(kSizeBytes)).status()));
  EXPECT_TRUE(is_not_found(inspect_image(Image()).status()));
}

// Between the footer and the index, as a cache does it that has the medium open.
TEST(RegionInspect, ARegionThatIsWrittenAtTheSameTimeIsFreeAndNotDamaged) {
  const Image image = filled();
  const Inspection before = inspected(image);
  const auto region = static_cast<uint32_t>(a_region_with_blocks(before));
  const uint64_t begin = before.superblock.geometry.region_at(region);
  const uint64_t end = before.superblock.geometry.end_of(region);
  for (const bool footer_goes : {true, false}) {
    for (const bool index : {true, false}) {
      Image now = image;
      const auto read = [&](uint64_t offset, MutableBytes into) {
        const bool footer = offset == end - RegionFooter::kBytes;
        Status status = reader_of(now)(offset, into);
        if (footer) {
          const uint64_t at = index ? end - RegionFooter::kBytes - 32 : begin;
          const ptrdiff_t bytes = index ? 32 : kRegionBytes / 2;
          std::fill_n(now.begin() + static_cast<ptrdiff_t>(at), bytes, std::byte{0x5a});
          if (footer_goes) now[end - 1] ^= std::byte{1};
        }
        return status;
      };
      const auto found = inspect_regions(read, now.size(), {.read_blocks = true});
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->is_whole(), footer_goes);
      EXPECT_EQ(found->free_regions, before.free_regions + (footer_goes ? 1 : 0));
      EXPECT_EQ(found->damaged_regions, !footer_goes && index ? 1u : 0u);
      EXPECT_EQ(found->damaged_blocks > 1, !footer_goes && !index);
    }
  }
}

TEST(RegionInspect, ARunningCacheNeverLooksDamaged) {
  auto medium = std::make_unique<PowerLossMedium>(kSizeBytes, 512);
  PowerLossMedium* const on = medium.get();
  const auto cache = test::make_on(spec(), std::move(medium));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t i = 0; !stop; ++i) test::put(*cache, {1, i}, 4000);
  });
  const auto read = [on](uint64_t offset, MutableBytes into) {
    const uint64_t begin = offset / 512 * 512;
    Image units((offset + into.size() - begin + 511) / 512 * 512 + 512);
    auto* const aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(units.data()) + 511) / 512 * 512);
    Status status = on->read(begin, {aligned, units.size() - 512});
    if (!into.empty()) std::memcpy(into.data(), aligned + (offset - begin), into.size());
    return status;
  };
  uint64_t live = 0;
  for (int round = 0; round < 50 || live == 0; ++round) {
    const auto found = inspect_regions(read, kSizeBytes, {.read_blocks = true});
    if (!found.ok() || !found->is_whole()) {
      ADD_FAILURE() << round << ": " << found.status();
      break;
    }
    live += found->live.blocks;
  }
  stop = true;
  writer.join();
}

TEST(RegionInspect, AMediumThatFailsIsDamagedHereAndThereOrGone) {
  const Image image = filled();
  const Inspection before = inspected(image);
  const auto region = static_cast<uint32_t>(a_region_with_blocks(before));
  for (const bool gone : {false, true}) {
    const auto read = [&](uint64_t offset, MutableBytes into) -> Status {
      const Geometry& geometry = before.superblock.geometry;
      const bool fails = gone ? offset >= Geometry::kHeadBytes
                              : offset == geometry.end_of(region) - RegionFooter::kBytes;
      return fails ? unavailable_error("gone") : reader_of(image)(offset, into);
    };
    const auto found = inspect_regions(read, image.size());
    ASSERT_EQ(found.ok(), !gone) << found.status();
    if (gone) {
      EXPECT_TRUE(is_unavailable(found.status())) << found.status();
    } else {
      EXPECT_EQ(found->damaged_regions, 1u);
    }
  }
}

TEST(RegionInspect, EndsWhenToldTo) {
  const Image image = filled();
  int steps = 0;
  const InspectOptions options = {.progress = [&](std::string_view, uint64_t done, uint64_t of) {
    EXPECT_LT(done, of);
    return ++steps < 40 ? ok_status() : cancelled_error("enough");
  }};
  EXPECT_TRUE(is_cancelled(inspect_image(image, options).status()));
  EXPECT_EQ(steps, 40);
}

}  // namespace
}  // namespace nvcache
