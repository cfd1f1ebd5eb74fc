// A block erased durably from a cache with immutable keys never comes back, whatever is lost.
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "block_cache/region/inspect.h"
#include "block_cache/region/removal_list.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::put;
using test::put_blocks;
using test::wait_for_recovery;

constexpr uint64_t kEraseBytes = 5 << 20;
constexpr uint64_t kFiles = 12;
constexpr uint64_t kBlocksOfAFile = 100;
constexpr const char* kEraseSpec =
    "nvcache://?size=5MiB&space=regions&region=64KiB&admission=always&eviction=clock"
    "&maintenance=0&restart=warm&keys=immutable";

enum class How { kDurably, kInDramAlone };

// Lives that end in a loss of power, now and then in order. Keys that were erased are not put
// again. How many of them were found later.
class Lives {
 public:
  Lives(How how, uint64_t seed) : how_(how), random_(seed) {}

  uint64_t run() {
    std::vector<std::byte> image(kEraseBytes);
    for (int life = 0; life < 12; ++life) {
      auto owned = std::make_unique<PowerLossMedium>(std::move(image));
      PowerLossMedium& medium = *owned;
      const auto cache = test::make_on(kEraseSpec, std::move(owned));
      if (random_.below(2) == 0) wait_for_recovery(*cache);
      const auto steps = 3 + random_.below(4);
      for (uint64_t step = 0; step < steps; ++step) {
        put_some(*cache);
        if (random_.below(2) == 0) cache->drain();
        if (random_.below(3) == 0) {
          EXPECT_TRUE(medium.drain().ok());
        }
        erase_some(*cache);
      }
      wait_for_recovery(*cache);
      look_for_erased(*cache);
      put_some(*cache);
      image = random_.below(5) == 0 ? medium.bytes() : medium.crash(random_());
    }
    return found_again_;
  }
  uint64_t came_back() const { return came_back_; }

 private:
  bool is_gone(const BlockKey& key) const {
    return gone_files_.contains(key.file) || gone_.contains({key.file, key.offset});
  }
  BlockKey any_key() { return {1 + random_.below(kFiles), random_.below(kBlocksOfAFile)}; }

  void put_some(BlockCache& cache) {
    for (uint64_t i = random_.below(600); i > 0; --i) {
      const BlockKey key = any_key();
      if (!is_gone(key)) (void)put(cache, key, 500 + key.offset * 37 % 4000);
    }
  }
  void erase_some(BlockCache& cache) {
    std::vector<BlockKey> keys;
    for (uint64_t i = random_.below(6); i > 0; --i) keys.push_back(any_key());
    std::vector<uint64_t> files;
    if (random_.below(40) == 0) files.push_back(1 + random_.below(kFiles));
    const Gone gone = how_ == How::kDurably ? Gone::kDurable : Gone::kForGood;
    EXPECT_TRUE(cache.erase({.keys = keys, .files = files}, gone).ok());
    for (const BlockKey& key : keys) gone_.emplace(key.file, key.offset);
    gone_files_.insert(files.begin(), files.end());
  }
  void look_for_erased(BlockCache& cache) {
    for (uint64_t file = 1; file <= kFiles; ++file) {
      for (uint64_t block = 0; block < kBlocksOfAFile; ++block) {
        if (!cache.contains({file, block})) continue;
        ++came_back_;
        if (is_gone({file, block})) ++found_again_;
      }
    }
  }

  const How how_;
  Prng random_;
  std::set<std::pair<uint64_t, uint64_t>> gone_;
  std::set<uint64_t> gone_files_;
  uint64_t found_again_ = 0;
  uint64_t came_back_ = 0;
};

uint64_t found_again(How how) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    Lives lives(how, test_seed() + i);
    found += lives.run();
    EXPECT_GT(lives.came_back(), 100u);
  }
  return found;
}

TEST(RegionErase, WhatWasErasedDurablyNeverComesBack) { EXPECT_EQ(found_again(How::kDurably), 0u); }

TEST(RegionErase, ControlWhatWasErasedInDramAloneDoes) {
  EXPECT_GT(found_again(How::kInDramAlone), 0u);
}

// A cache on the image that erases; then the image as its closing leaves it.
std::vector<std::byte> after_erasing(std::vector<std::byte> image, std::vector<BlockKey> keys,
                                     std::vector<uint64_t> files, uint64_t blocks_to_put) {
  std::vector<std::byte> closed;
  auto medium = std::make_unique<PowerLossMedium>(std::move(image));
  medium->on_destruction(&closed);
  auto cache = test::make_on(kEraseSpec, std::move(medium));
  put_blocks(*cache, 7, blocks_to_put, 1000);
  put_blocks(*cache, 8, blocks_to_put, 1000);
  EXPECT_TRUE(cache->erase({.keys = keys, .files = files}, Gone::kDurable).ok());
  cache.reset();  // fills `closed`
  return closed;
}

Inspection inspect_erased(const std::vector<std::byte>& image) {
  const auto found = inspect_regions(
      [&image](uint64_t offset, MutableBytes into) -> Status {
        if (offset + into.size() > image.size()) return data_loss_error("it ends");
        std::memcpy(into.data(), image.data() + offset, into.size());
        return ok_status();
      },
      image.size(), {.read_blocks = true});
  EXPECT_TRUE(found.ok()) << found.status();
  return found.value_or(Inspection());
}

TEST(RegionErase, AnInspectionAgrees) {
  std::vector<std::byte> image =
      after_erasing(std::vector<std::byte>(kEraseBytes), {{7, 3}}, {8}, 100);
  const Inspection first = inspect_erased(image);
  EXPECT_EQ(first.live.blocks, 99u);
  EXPECT_EQ(first.outdated.blocks, 101u);
  EXPECT_TRUE(first.comes_back());
  EXPECT_TRUE(first.is_whole());
  image = after_erasing(std::move(image), {{7, 4}}, {}, 0);
  EXPECT_EQ(inspect_erased(image).live.blocks, 98u);
  // Both halves are there by now. The older one does not matter; without the newer one it is not
  // known what was erased last.
  for (const uint64_t half : {1, 0}) {
    EXPECT_TRUE(inspect_erased(image).comes_back());
    image[Geometry::kRemovedAt + half * RemovalList::kHalfBytes + 30] ^= std::byte{1};
  }
  EXPECT_FALSE(inspect_erased(image).comes_back());
  EXPECT_EQ(inspect_erased(image).live.blocks, 0u);
  const auto cache = test::make_on(kEraseSpec, std::make_unique<PowerLossMedium>(std::move(image)));
  wait_for_recovery(*cache);
  EXPECT_EQ(cache->stats().recovered_blocks, 0u);
}

class RegionEraseFile : public testing::Test {
 protected:
  std::unique_ptr<BlockCache> open() const {
    return test::open(kEraseSpec + ("&medium=file:" + folder_.file("blocks")));
  }
  TempDir folder_;
};

TEST_F(RegionEraseFile, OthersAreThereAfterAClosing) {
  {
    const auto cache = open();
    put_blocks(*cache, 1, 100, 1000);
    put_blocks(*cache, 2, 100, 1000);
    const std::vector<BlockKey> keys = {{1, 3}, {1, 99}, {9, 9}};
    EXPECT_TRUE(cache->erase(Blocks{.keys = keys}, Gone::kDurable).ok());
  }
  {
    const auto cache = open();
    wait_for_recovery(*cache);
    EXPECT_EQ(cache->stats().recovered_blocks, 198u);
    EXPECT_FALSE(cache->contains({1, 3}));
    test::erase_files(*cache, {2}, Gone::kDurable);
  }
  const auto cache = open();
  wait_for_recovery(*cache);
  EXPECT_EQ(cache->stats().recovered_blocks, 98u);
  EXPECT_EQ(test::count_blocks(*cache, 2, 100, 1000), 0u);
}

TEST_F(RegionEraseFile, MoreThanTheListHoldsStayAwayWithAllThatIsOlder) {
  {
    const auto cache = open();
    put_blocks(*cache, 1, 100, 1000);
    std::vector<BlockKey> keys;
    for (uint64_t i = 0; i <= RemovalList::kMostKeys; ++i) keys.push_back({3, i});
    EXPECT_TRUE(cache->erase(Blocks{.keys = keys}, Gone::kDurable).ok());
  }
  {
    const auto cache = open();
    wait_for_recovery(*cache);
    EXPECT_EQ(cache->stats().recovered_blocks, 0u);
    put_blocks(*cache, 4, 50, 1000);
  }
  const auto cache = open();
  wait_for_recovery(*cache);
  EXPECT_EQ(test::count_blocks(*cache, 4, 50, 1000), 50u);
}

}  // namespace
}  // namespace nvcache
