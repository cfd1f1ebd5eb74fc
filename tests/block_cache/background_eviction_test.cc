#include "block_cache/in_place/background_eviction.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/hash.h"
#include "base/virtual_clock.h"
#include "block_cache/in_place/slab_space.h"
#include "medium/dram.h"
#include "support/volume_parts.h"

namespace nvcache {
namespace {

constexpr uint64_t kSpaceBytes = 1 << 20;
constexpr uint32_t kBlockBytes = 4096;  // a full space holds 256 blocks

// A shard with blocks, and the background eviction of it.
class Fixture {
 public:
  explicit Fixture(std::string_view eviction)
      : space_(kSpaceBytes, kSpaceBytes, 256),
        parts_(test::small_config(kSpaceBytes, eviction),
               DramMedium::open({.size_bytes = kSpaceBytes}).value(), clock_) {
    EXPECT_TRUE(parts_.shards.open(space_).ok());
    background = BackgroundEviction::make(parts_.shards, parts_.admission, space_, clock_);
  }

  void fill(uint64_t blocks) {
    const std::atomic<uint32_t> generation{0};
    for (uint64_t id = 0; id < blocks; ++id) {
      const std::optional<uint32_t> grain = space_.allocate(kBlockBytes);
      uint32_t slot = 0;
      ASSERT_TRUE(grain);
      ASSERT_EQ(parts_.shards.at(0).reserve(parts_.shards.hash_of({1, id}), {1, id}, kBlockBytes,
                                            *grain, generation, std::nullopt, &slot),
                Reason::kAdmitted);
      parts_.shards.at(0).publish(slot);
    }
  }
  void pass_after_seconds(uint64_t seconds) {
    clock_.wait_until_ns(clock_.now_ns() + seconds * 1'000'000'000);
    background->run_pass();
  }
  // Erases every other block: half of the space is free, in runs of one block.
  void erase_every_other(uint64_t blocks) {
    for (uint64_t id = 0; id < blocks; id += 2) {
      ASSERT_TRUE(parts_.shards.at(0).erase(parts_.shards.hash_of({1, id}), {1, id}, Gone::kForGood,
                                            nullptr));
    }
  }
  bool has_room(uint32_t size_bytes) const { return space_.has_room(size_bytes); }
  uint64_t blocks() const { return space_.used_bytes() / kBlockBytes; }

  void set_may_evict(bool may) { parts_.may_evict = may; }

  std::unique_ptr<BackgroundEviction> background;

 private:
  VirtualClock clock_;
  SlabSpace space_;
  test::VolumeParts parts_;
};

TEST(BackgroundEviction, IsOnlyForPoliciesThatEvictInPasses) {
  EXPECT_EQ(Fixture("lru").background, nullptr);
  EXPECT_NE(Fixture("lfru(1)").background, nullptr);
}

TEST(BackgroundEviction, LetsBlocksBeUpTo95Percent) {
  Fixture cache("lfru(1)");
  cache.background->run_pass();
  cache.fill(243);  // 94.9%
  cache.pass_after_seconds(5);
  EXPECT_EQ(cache.blocks(), 243u);
}

TEST(BackgroundEviction, MakesRoomDownTo90Percent) {
  Fixture cache("lfru(1)");
  cache.background->run_pass();
  cache.fill(256);
  cache.pass_after_seconds(5);
  EXPECT_EQ(cache.blocks(), 230u);  // 89.8%
}

// Half of the space is free, but no put of two blocks finds room. Without the put that was refused
// there is no reason for a pass; with it passes go on, a twentieth of the blocks each, until
// two neighbours are free.
TEST(BackgroundEviction, MakesRoomForAPutThatFragmentationRefused) {
  Fixture fixture("lfru(1)");
  fixture.fill(256);
  fixture.erase_every_other(256);
  fixture.pass_after_seconds(0);
  ASSERT_FALSE(fixture.has_room(2 * kBlockBytes));
  fixture.pass_after_seconds(10);
  EXPECT_EQ(fixture.blocks(), 128u);
  fixture.background->note_refused(2 * kBlockBytes);
  fixture.pass_after_seconds(10);
  EXPECT_TRUE(fixture.has_room(2 * kBlockBytes));
  EXPECT_EQ(fixture.blocks(), 127u) << "and no more than that";
  fixture.background->note_refused(2 * kBlockBytes);
  fixture.pass_after_seconds(10);
  EXPECT_EQ(fixture.blocks(), 127u) << "there is room by now";
}

// Small puts that are refused as well do not hide a large one.
TEST(BackgroundEviction, MakesRoomForTheLargestPutThatWasRefused) {
  Fixture fixture("lfru(1)");
  fixture.fill(256);
  fixture.erase_every_other(256);
  fixture.background->note_refused(4 * kBlockBytes);
  fixture.background->note_refused(kBlockBytes);
  for (int pass = 0; pass < 30 && !fixture.has_room(4 * kBlockBytes); ++pass) {
    fixture.pass_after_seconds(1);
    fixture.background->note_refused(4 * kBlockBytes);
    fixture.background->note_refused(kBlockBytes);
  }
  EXPECT_TRUE(fixture.has_room(4 * kBlockBytes));
}

TEST(BackgroundEviction, StopsWhereThePolicyHasNoVictim) {
  Fixture cache("lfru(10)");
  cache.background->run_pass();
  cache.fill(256);
  cache.pass_after_seconds(5);
  EXPECT_EQ(cache.blocks(), 256u) << "all blocks were used within the window";
}

TEST(BackgroundEviction, StopsWhereAdmissionForbidsIt) {
  Fixture cache("lfru(1)");
  cache.background->run_pass();
  cache.fill(256);
  cache.set_may_evict(false);
  cache.pass_after_seconds(5);
  EXPECT_EQ(cache.blocks(), 256u);
  cache.set_may_evict(true);
  cache.pass_after_seconds(1);
  EXPECT_EQ(cache.blocks(), 230u);
}

}  // namespace
}  // namespace nvcache
