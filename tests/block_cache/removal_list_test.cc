// The list of removals by itself: what it covers, what it gives up when it is full, its bytes, and
// those of version 1.
#include "block_cache/region/removal_list.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/hash.h"
#include "base/prng.h"
#include "block_cache/region/region_head.h"
#include "gtest/gtest.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using Place = RemovalList::Place;
using Regions = RemovalList::Run;

TEST(RemovalList, CoversKeysAndFilesUpToASequence) {
  RemovalList list;
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.covers({1, 2}, 0));
  list.add({1, 2}, 10);
  list.add({7, kWholeFile}, 20);
  list.add({1, 2}, 5);  // what was erased stays so
  EXPECT_TRUE(list.covers({1, 2}, 9));
  EXPECT_FALSE(list.covers({1, 2}, 10));
  EXPECT_FALSE(list.covers({1, 3}, 0));
  EXPECT_TRUE(list.covers({7, 12345}, 19));
  EXPECT_FALSE(list.covers({7, 12345}, 20));
  EXPECT_FALSE(list.covers({8, 0}, 0));
}

TEST(RemovalList, ThatIsFullCoversAllThatIsOlder) {
  RemovalList list;
  for (uint64_t i = 0; i < RemovalList::kMostKeys; ++i) list.add({1, i}, 50);
  EXPECT_FALSE(list.covers({2, 0}, 3));
  EXPECT_LE(list.encoded_bytes(), RemovalList::kHalfBytes);
  list.add({1, RemovalList::kMostKeys}, 40);
  EXPECT_EQ(list.all_until(), 50u);
  EXPECT_TRUE(list.covers({2, 0}, 49));
  EXPECT_FALSE(list.covers({1, 0}, 50));
}

TEST(RemovalList, IsReadAsItWasWrittenOrNotAtAll) {
  RemovalList list;
  Prng random(test_seed());
  for (int i = 0; i < 300; ++i) list.add({random.below(9), random.below(99)}, random.below(1000));
  list.set_number(1);
  std::vector<std::byte> bytes(list.encoded_bytes() + 100);
  list.encode(77, bytes);
  EXPECT_EQ(RemovalList::size_in(77, bytes), list.encoded_bytes());
  EXPECT_EQ(RemovalList::size_in(78, bytes), std::nullopt) << "an earlier cache's";
  const auto read = RemovalList::decode(77, bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->number(), 1u);
  for (uint64_t file = 0; file < 9; ++file) {
    for (uint64_t sequence = 0; sequence < 1000; sequence += 37) {
      EXPECT_EQ(read->covers({file, 5}, sequence), list.covers({file, 5}, sequence));
    }
  }
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> damaged = bytes;
    const uint64_t at = random.below(list.encoded_bytes());
    damaged[at] ^= static_cast<std::byte>(1 + random.below(255));
    EXPECT_FALSE(RemovalList::decode(77, damaged).has_value()) << at;
  }
  for (size_t size = 0; size < list.encoded_bytes(); size += 11) {
    EXPECT_FALSE(RemovalList::decode(77, ByteView(bytes).first(size)).has_value()) << size;
  }
}

TEST(RemovalList, PlacesAndRegionsAreReadAsTheyWereWritten) {
  RemovalList list;
  list.add({3, 4}, 9);
  list.set_places(77, {{1, 5}, {1, 8}, {4, 0}}, {{0, 1}, {2, 2}});
  list.set_number(6);
  std::vector<std::byte> bytes(list.encoded_bytes());
  list.encode(5, bytes);
  const auto read = RemovalList::decode(5, bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->places_until(), 77u);
  EXPECT_TRUE(std::ranges::equal(read->places(), list.places()));
  EXPECT_TRUE(std::ranges::equal(read->outdated(), list.outdated()));
  EXPECT_TRUE(read->covers({3, 4}, 8));
}

TEST(RemovalList, ThatIsTooLongGivesUpTheRegionsWithMostInIt) {
  RemovalList list;
  std::vector<Place> places;
  for (const auto& [region, count] :
       std::vector<std::pair<uint32_t, uint32_t>>{{1, 3}, {2, 10}, {4, 1}, {5, 6}}) {
    for (uint32_t i = 0; i < count; ++i) places.push_back({region, i});
  }
  list.set_places(1, places, {{3, 1}});
  const uint64_t all = list.encoded_bytes();
  list.shorten(all);
  EXPECT_EQ(list.places().size(), 20u);
  list.shorten(all - 1);
  EXPECT_EQ(list.places().size(), 10u);
  EXPECT_EQ(list.outdated().size(), 1u);
  EXPECT_EQ(list.outdated()[0], (Regions{2, 2})) << "beside the one that was there";
  list.shorten(list.encoded_bytes() - 30);
  ASSERT_EQ(list.outdated().size(), 2u);
  EXPECT_EQ(list.outdated()[0], (Regions{1, 3}));
  EXPECT_EQ(list.outdated()[1], (Regions{5, 1}));
  EXPECT_EQ(list.places().size(), 1u) << "of region 4";
}

// Every other region is outdated, and there are more of them than the list has room for: those
// between some of them are given up.
TEST(RemovalList, OfMoreRegionsThanItHasRoomForJoinsThem) {
  constexpr uint32_t kRegions = 200'000;
  std::vector<Regions> outdated;
  for (uint32_t region = 0; region < kRegions; region += 2) outdated.push_back({region, 1});
  outdated.push_back({kRegions + 1000, 1});
  RemovalList list;
  list.set_places(1, {}, outdated);
  list.shorten();
  EXPECT_LE(list.encoded_bytes(), RemovalList::kHalfBytes);
  EXPECT_GT(list.encoded_bytes(), RemovalList::kHalfBytes - 16);
  std::vector<bool> gone(kRegions + 1001);
  for (const Regions& run : list.outdated()) {
    for (uint32_t i = 0; i < run.count; ++i) gone[run.first + i] = true;
  }
  for (const Regions& run : outdated) EXPECT_TRUE(gone[run.first]);
  EXPECT_FALSE(gone[kRegions + 500]) << "the widest gap stays";
}

// ---- version 1

// A medium in DRAM.
class ImageOfVersion1 {
 public:
  RemovalList::Read read() {
    return [this](uint64_t offset, MutableBytes into) -> Status {
      if (into.size() > bytes_.size() - offset) return out_of_range_error("");
      std::memcpy(into.data(), bytes_.data() + offset, into.size());
      return ok_status();
    };
  }
  void put(uint64_t at, const void* from, size_t count) {
    std::memcpy(bytes_.data() + at, from, count);
  }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(Geometry::kHeadBytes);
};

TEST(RemovalListOfVersion1, HasBlocksAndWholeRegions) {
  const std::vector<Place> removed = {{1, 7}, {2, kWholeRegionOfVersion1}, {5, 3}};
  ImageOfVersion1 image;
  image.put(Geometry::kRemovedAt, removed.data(), removed.size() * sizeof(Place));
  Superblock superblock{.geometry = {}, .nonce = 9, .closed = true};
  superblock.version_1 = {.count = 3, .checksum = checksum_of_version_1(removed)};
  const RemovalList list = read_removals(superblock, 100, image.read());
  EXPECT_EQ(list.places().size(), 2u);
  ASSERT_EQ(list.outdated().size(), 1u);
  EXPECT_EQ(list.outdated()[0], (Regions{2, 1}));
  EXPECT_EQ(list.all_until(), 0u);
  superblock.version_1.checksum ^= 1;
  EXPECT_GT(read_removals(superblock, 100, image.read()).all_until(), uint64_t{1} << 63)
      << "a damaged one covers all";
  superblock.closed = false;
  EXPECT_TRUE(read_removals(superblock, 100, image.read()).empty()) << "it means nothing";
}

TEST(RemovalListOfVersion1, HasKeysThatWereErasedDurably) {
  struct {
    uint64_t magic = 0x3164657361726576;
    uint64_t nonce = 9;
    uint64_t checksum = 0;
    uint64_t number = 4;
    uint64_t all_until = 2;
    uint64_t count = 1;
    uint64_t unused[2] = {};
    BlockKey key = {7, 8};
    uint64_t until = 50;
  } raw;
  const auto* const bytes = reinterpret_cast<const char*>(&raw);
  raw.checksum = hash_bytes({bytes + 24, sizeof raw - 24});
  ImageOfVersion1 image;
  image.put(Geometry::kRemovedAt, &raw, sizeof raw);
  const Superblock immutable{.geometry = {}, .nonce = 9, .immutable_keys = true};
  const RemovalList list = read_removals(immutable, 100, image.read());
  EXPECT_EQ(list.number(), 4u);
  EXPECT_TRUE(list.covers({7, 8}, 49));
  EXPECT_FALSE(list.covers({7, 8}, 50));
  EXPECT_TRUE(list.covers({1, 1}, 1));
  // Mutable keys came after it: its keys do not count, but the next list must have a higher number.
  const RemovalList none =
      read_removals({.geometry = {}, .nonce = 9, .closed = true}, 100, image.read());
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.number(), 4u);
}

}  // namespace
}  // namespace nvcache
