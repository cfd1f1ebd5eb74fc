#include "block_cache/in_place/slab_space.h"

#include <map>
#include <vector>

#include "base/prng.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

constexpr uint32_t kGrain = 256;

TEST(SlabSpace, HandsOutDisjointExtentsUntilFull) {
  SlabSpace space(1 << 20, 1 << 20, kGrain);
  std::vector<bool> taken((1 << 20) / kGrain);
  for (int i = 0; i < 256; ++i) {
    const auto at = space.allocate(4096);
    ASSERT_TRUE(at.has_value()) << i;
    for (uint32_t grain = *at; grain < *at + 16; ++grain) {
      ASSERT_LT(grain, taken.size());
      ASSERT_FALSE(taken[grain]);
      taken[grain] = true;
    }
  }
  EXPECT_FALSE(space.allocate(1).has_value());
  EXPECT_EQ(space.used_bytes(), 1u << 20);
}

TEST(SlabSpace, FindsARunThatCrossesSlabs) {
  SlabSpace space(1 << 20, 1 << 20, kGrain);  // four slabs
  const auto first = space.allocate(200 << 10);
  const auto middle = space.allocate(600 << 10);
  ASSERT_TRUE(first && middle);
  EXPECT_FALSE(space.allocate(300 << 10).has_value());
  space.release(*middle, 600 << 10);
  EXPECT_TRUE(space.allocate(800 << 10).has_value());
}

TEST(SlabSpace, ReleasedSpaceJoinsItsNeighbours) {
  SlabSpace space(64 << 10, 64 << 10, kGrain);
  std::vector<uint32_t> extents;
  while (const auto at = space.allocate(1000)) extents.push_back(*at);
  for (const uint32_t at : extents) space.release(at, 1000);
  EXPECT_EQ(space.used_bytes(), 0u);
  EXPECT_TRUE(space.allocate(64 << 10).has_value());
}

TEST(SlabSpace, AMixOf4To128KiBFillsNearlyAll) {
  for (uint64_t size_bytes : {uint64_t{8} << 20, uint64_t{64} << 20, uint64_t{1} << 30}) {
    for (const bool powers : {false, true}) {
      SlabSpace space(size_bytes, size_bytes, kGrain);
      Prng random(7);
      uint64_t data_bytes = 0;
      for (;;) {
        const uint32_t size = powers ? 4096u << random.below(6)
                                     : static_cast<uint32_t>(4096 + random.below(124 << 10));
        if (!space.allocate(size)) break;
        data_bytes += size;
      }
      const double share = static_cast<double>(data_bytes) / static_cast<double>(size_bytes);
      // One block of up to 128 KiB is always left over: 1.6% of 8 MiB.
      EXPECT_GE(share, 0.97) << size_bytes << (powers ? " powers of two" : " any size");
    }
  }
}

TEST(SlabSpace, HasRoomForWhatAllocateWouldFind) {
  SlabSpace space(1 << 20, 2 << 20, 256);
  EXPECT_TRUE(space.has_room(1 << 20));
  EXPECT_FALSE(space.has_room((1 << 20) + 1));
  const auto first = space.allocate(1000 << 10);
  ASSERT_TRUE(first);
  EXPECT_TRUE(space.has_room(24 << 10));
  EXPECT_FALSE(space.has_room((24 << 10) + 1));
  space.release(*first, 1000 << 10);
  EXPECT_TRUE(space.has_room(1 << 20));
  space.set_limit(2 << 20);
  EXPECT_TRUE(space.has_room(2 << 20));
  space.set_limit(0);
  EXPECT_FALSE(space.has_room(1));
}

TEST(SlabSpace, LimitMovesDownAndUp) {
  SlabSpace space(1 << 20, 2 << 20, kGrain);
  const auto low = space.allocate(512 << 10);
  const auto high = space.allocate(512 << 10);
  ASSERT_TRUE(low && high);
  space.set_limit(512 << 10);
  space.release(*high, 512 << 10);
  EXPECT_FALSE(space.allocate(kGrain).has_value()) << "beyond the limit";
  EXPECT_EQ(space.taken_end_bytes(), 512u << 10);
  space.set_limit(2 << 20);
  EXPECT_TRUE(space.allocate((2 << 20) - (512 << 10)).has_value());
  EXPECT_EQ(space.used_bytes(), 2u << 20);
}

TEST(SlabSpace, RandomHistoriesAgreeWithAModel) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng random(seed);
    const uint64_t grains = 3000 + random.below(9000);
    SlabSpace space(grains * kGrain, grains * kGrain, kGrain);
    std::vector<bool> taken(grains);
    std::map<uint32_t, uint32_t> extents;  // offset -> size
    for (int step = 0; step < 4000; ++step) {
      if (extents.empty() || random.below(5) < 3) {
        const auto size = static_cast<uint32_t>(1 + random.below(200 * kGrain));
        const uint32_t want = space.to_grains(size);
        uint64_t run = 0, first = 0;
        for (uint64_t g = 0; g < grains && run < want; ++g) {
          run = taken[g] ? 0 : run + 1;
          if (run == 1) first = g;
        }
        const auto at = space.allocate(size);
        ASSERT_EQ(at.has_value(), run >= want);
        if (!at) continue;
        ASSERT_EQ(*at, first) << "first fit";
        std::fill_n(taken.begin() + *at, want, true);
        extents[*at] = size;
      } else {
        auto victim = extents.begin();
        std::advance(victim, random.below(extents.size()));
        space.release(victim->first, victim->second);
        std::fill_n(taken.begin() + victim->first, space.to_grains(victim->second), false);
        extents.erase(victim);
      }
    }
  }
}

}  // namespace
}  // namespace nvcache
