// The bytes beside the blocks of regions: what was encoded is decoded, and nothing that is damaged,
// of another version, of another cache or of another region.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "block_cache/region/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nvcache/status.h"

namespace nvcache {
namespace {

using SuperblockBytes = std::array<std::byte, Superblock::kBytes>;
using FooterBytes = std::array<std::byte, RegionFooter::kBytes>;

constexpr Geometry kGeometry{.grain_bytes = 64, .unit_bytes = 4096, .region_bytes = 64 << 10};
constexpr uint64_t kNonce = 0x1234567890abcdef;

Superblock some_superblock() {
  return {.geometry = kGeometry,
          .nonce = kNonce,
          .opening = 7,
          .closed = true,
          .immutable_keys = true,
          .regions = 12,
          .owner = 77,
          .list_number = 3};
}

SuperblockBytes encoded(const Superblock& superblock) {
  SuperblockBytes bytes{};
  superblock.encode(bytes);
  return bytes;
}

FooterBytes encoded(const RegionFooter& footer) {
  FooterBytes bytes{};
  footer.encode(kNonce, bytes);
  return bytes;
}

TEST(Superblock, IsReadAsItWasWritten) {
  const Superblock written = some_superblock();
  const auto read = Superblock::decode(encoded(written));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((*read)->geometry, written.geometry);
  EXPECT_EQ((*read)->nonce, written.nonce);
  EXPECT_EQ((*read)->opening, written.opening);
  EXPECT_TRUE((*read)->closed);
  EXPECT_TRUE((*read)->immutable_keys);
  EXPECT_EQ((*read)->regions, written.regions);
  EXPECT_EQ((*read)->owner, written.owner);
  EXPECT_EQ((*read)->list_number, written.list_number);
  EXPECT_EQ((*read)->version_1.count, 0u);
}

TEST(Superblock, ZerosAndOtherBytesAreNone) {
  SuperblockBytes bytes{};
  auto read = Superblock::decode(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
  bytes.fill(std::byte{0xa5});
  read = Superblock::decode(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
  read = Superblock::decode(ByteView(encoded(some_superblock())).first(Superblock::kBytes - 1));
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value()) << "too few bytes";
}

TEST(Superblock, NoFlippedBitIsBelieved) {
  for (size_t bit = 0; bit < 8 * Superblock::kBytes; ++bit) {
    SuperblockBytes bytes = encoded(some_superblock());
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto read = Superblock::decode(bytes);
    EXPECT_FALSE(read.ok() && read->has_value()) << bit;
    EXPECT_TRUE(read.ok() || is_data_loss(read.status())) << bit << read.status();
  }
}

// As a later version would write it: its own number, under a checksum of its own.
TEST(Superblock, OfAnotherVersionIsRefused) {
  SuperblockBytes bytes = encoded(some_superblock());
  bytes[8] = std::byte{Superblock::kVersion + 1};
  bytes[Superblock::kBytes - 1] ^= std::byte{1};
  const auto read = Superblock::decode(bytes);
  EXPECT_TRUE(is_failed_precondition(read.status())) << read.status();
  EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr("version 3"));
}

TEST(Superblock, AGeometryThatCannotBeIsDamage) {
  std::vector<Geometry> wrong(7, kGeometry);
  wrong[0].grain_bytes = 48;
  wrong[1].grain_bytes = 8192;  // more than a unit
  wrong[2].unit_bytes = 256;
  wrong[3].unit_bytes = 128 << 10;
  wrong[4].region_bytes = 96 << 10;
  wrong[5].region_bytes = 2048;
  wrong[6].region_bytes = uint64_t{2} << 30;
  for (const Geometry& geometry : wrong) {
    Superblock superblock = some_superblock();
    superblock.geometry = geometry;
    EXPECT_TRUE(is_data_loss(Superblock::decode(encoded(superblock)).status()))
        << geometry.grain_bytes << ' ' << geometry.unit_bytes << ' ' << geometry.region_bytes;
  }
}

TEST(RegionFooter, IsReadAsItWasWrittenUnderItsNonceAndInItsRegion) {
  const RegionFooter written{.region = 5, .count = 9, .sequence = 77, .checksum = 12345};
  const FooterBytes bytes = encoded(written);
  const auto read = RegionFooter::decode_of(kGeometry, kNonce, 5, bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->region, 5u);
  EXPECT_EQ(read->count, 9u);
  EXPECT_EQ(read->sequence, 77u);
  EXPECT_EQ(read->checksum, 12345u);
  EXPECT_FALSE(RegionFooter::decode_of(kGeometry, kNonce, 6, bytes)) << "of another region";
  EXPECT_FALSE(RegionFooter::decode_of(kGeometry, kNonce + 1, 5, bytes)) << "of another cache";
  EXPECT_FALSE(RegionFooter::decode(kNonce, ByteView(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(RegionFooter::decode(kNonce, FooterBytes{}));
}

TEST(RegionFooter, NoFlippedBitIsBelieved) {
  const RegionFooter written{.region = 5, .count = 9, .sequence = 77, .checksum = 12345};
  for (size_t bit = 0; bit < 8 * RegionFooter::kBytes; ++bit) {
    FooterBytes bytes = encoded(written);
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(RegionFooter::decode(kNonce, bytes)) << bit;
  }
}

TEST(RegionFooter, MoreRecordsThanARegionHoldsAreNotBelieved) {
  const auto most =
      static_cast<uint32_t>((kGeometry.region_bytes - RegionFooter::kBytes) / sizeof(BlockRecord));
  for (const uint32_t count : {most, most + 1, ~uint32_t{0}}) {
    const FooterBytes bytes = encoded(RegionFooter{.region = 1, .count = count});
    EXPECT_EQ(RegionFooter::decode_of(kGeometry, kNonce, 1, bytes).has_value(), count == most);
  }
}

TEST(BlockRecords, AreWholeIfNothingChangedAndAllLieBeforeTheIndex) {
  const uint64_t data_bytes = kGeometry.region_bytes - RegionFooter::tail_bytes(2);
  const auto last_grain = static_cast<uint32_t>((data_bytes - 4000) / kGeometry.grain_bytes);
  std::vector<BlockRecord> records(2);
  records[0] = {.key = {1, 2}, .offset_grains = 0, .size_bytes = 4000, .checksum = 7};
  records[1] = {.key = {1, 3}, .offset_grains = last_grain, .size_bytes = 4000, .checksum = 8};
  const auto whole = [&] {
    const RegionFooter footer{.count = 2, .checksum = checksum_records(kNonce, records)};
    return is_whole(kGeometry, kNonce, footer, records);
  };
  EXPECT_TRUE(whole());
  const RegionFooter before{.count = 2, .checksum = checksum_records(kNonce, records)};
  EXPECT_FALSE(is_whole(kGeometry, kNonce + 1, before, records));
  EXPECT_FALSE(is_whole(kGeometry, kNonce, before, std::span(records).first(1)));
  records[0].key.offset ^= 1;
  EXPECT_FALSE(is_whole(kGeometry, kNonce, before, records));
  records[1].offset_grains += 1;
  EXPECT_FALSE(whole()) << "reaches into the index";
  records[1].offset_grains = ~uint32_t{0};
  EXPECT_FALSE(whole());
  records[1] = {.size_bytes = (1 << 20) + 1};
  EXPECT_FALSE(whole()) << "larger than a block may be";
}

// What 16 TiB need: places beyond 2^32 grains, regions far out.
TEST(Geometry, PlacesOf16TiBAreToldApart) {
  constexpr uint64_t kTiB = uint64_t{1} << 40;
  const Geometry geometry{.grain_bytes = 1024, .unit_bytes = 4096, .region_bytes = 16 << 20};
  const uint32_t regions = geometry.regions_in(16 * kTiB);
  EXPECT_EQ(regions, (1u << 20) - 1) << "the head takes a part of one";
  for (const uint32_t region : {0u, 1u, regions / 2, regions - 1}) {
    for (const uint32_t offset : {0u, 1u, geometry.region_grains() - 1}) {
      const uint64_t place = geometry.place_of(region, offset);
      EXPECT_EQ(geometry.region_of(place), region);
      EXPECT_EQ(geometry.offset_in_region(place), offset);
      EXPECT_EQ(geometry.region_at(region) + uint64_t{offset} * 1024,
                Geometry::kHeadBytes + place * 1024);
    }
    EXPECT_LE(geometry.end_of(region), 16 * kTiB);
  }
  EXPECT_EQ(geometry.regions_in(0), 0u);
  EXPECT_EQ(geometry.regions_in(Geometry::kHeadBytes + geometry.region_bytes - 1), 0u);
}

}  // namespace
}  // namespace nvcache
