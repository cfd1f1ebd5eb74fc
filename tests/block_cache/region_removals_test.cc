// Erasing while blocks come back, openings with the other promise about keys, and heads of a medium
// that are damaged in part: what was erased stays away, and nothing else does.
#include <string>
#include <utility>
#include <vector>

#include "base/virtual_clock.h"
#include "block_cache/region/geometry.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"

namespace nvcache {
namespace {

using test::put;
using test::put_blocks;
using test::wait_for_recovery;

constexpr uint64_t kRemovalsBytes = 5 << 20;
constexpr const char* kRemovalsSpec =
    "nvcache://?space=regions&region=64KiB&admission=always&eviction=clock&maintenance=0"
    "&restart=warm";
constexpr const char* kRemovalsSize = "&size=5MiB";
// The index of one region is read, and no other before the clock moves.
constexpr const char* kSlowly = "&restart_rate=64KiB";

// Openings of one medium, each closed in order.
class RegionRemovals : public testing::Test {
 protected:
  template <typename Use>
  void open(const std::string& more, const Use& use, const std::string& size = kRemovalsSize) {
    auto medium = std::make_unique<PowerLossMedium>(std::move(image_));
    medium->on_destruction(&image_);
    const auto cache = test::make_on(kRemovalsSpec + size + more, std::move(medium), clock_);
    use(*cache);
  }
  // 40 blocks of 1000 bytes in each of so many files, a region or less each.
  void fill(const std::string& more, uint64_t files) {
    open(more, [&](BlockCacheImpl& cache) {
      for (uint64_t file = 1; file <= files; ++file) {
        put_blocks(cache, file, 40, 1000);
        cache.drain();
      }
    });
  }
  static uint64_t count(BlockCache& cache, uint64_t file, uint64_t version = 0) {
    return test::count_blocks(cache, file, 40, 1000, version);
  }

  VirtualClock clock_;
  std::vector<std::byte> image_ = std::vector<std::byte>(kRemovalsBytes);
};

// The block that the erase finds is not the only one: an older one was not read yet.
TEST_F(RegionRemovals, AnEraseThatFindsItsBlockKeepsAnOlderOneAway) {
  fill("", 20);
  open(kSlowly, [&](BlockCacheImpl& cache) {
    ASSERT_FALSE(cache.contains({1, 5}));
    put_blocks(cache, 1, 10, 1000, 1);
    for (uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(cache.erase({1, i}));
    EXPECT_TRUE(cache.recovering());
  });
  for (int opening = 0; opening < 2; ++opening) {
    open("", [&](BlockCacheImpl& cache) {
      wait_for_recovery(cache);
      EXPECT_EQ(count(cache, 1), 30u) << "those that were not erased, and no other";
      EXPECT_EQ(count(cache, 2), 40u);
    });
  }
}

// The opening in between leaves a list of its own.
TEST_F(RegionRemovals, WhatWasErasedDurablyStaysAwayWhateverIsPromisedLater) {
  fill("&keys=immutable", 20);
  open("&keys=immutable", [&](BlockCacheImpl& cache) {
    wait_for_recovery(cache);
    const std::vector<BlockKey> keys = {{1, 1}, {20, 2}};
    const std::vector<uint64_t> files = {3};
    EXPECT_TRUE(cache.erase({.keys = keys, .files = files}, Gone::kDurable).ok());
  });
  for (const char* how : {"", kSlowly, "", ""}) {
    open(how, [&](BlockCacheImpl& cache) {
      if (*how == '\0') wait_for_recovery(cache);
      EXPECT_FALSE(cache.contains({1, 1}));
      EXPECT_FALSE(cache.contains({20, 2}));
      EXPECT_EQ(count(cache, 3), 0u);
      if (*how == '\0') {
        EXPECT_EQ(cache.stats().recovered_blocks, 20 * 40 - 42u);
      }
    });
  }
}

// More keys than the list has room for: all that is older is on it.
TEST_F(RegionRemovals, AListThatIsFullCoversOldRegionsWhateverIsPromisedLater) {
  fill("&keys=immutable", 10);
  open("&keys=immutable", [&](BlockCacheImpl& cache) {
    std::vector<BlockKey> keys;
    for (uint64_t i = 0; i <= RemovalList::kMostKeys; ++i) keys.push_back({99, i});
    EXPECT_TRUE(cache.erase(Blocks{.keys = keys}, Gone::kDurable).ok());
  });
  for (int opening = 0; opening < 3; ++opening) {
    open("", [&](BlockCacheImpl& cache) {
      wait_for_recovery(cache);
      EXPECT_EQ(cache.stats().recovered_blocks, 0u);
    });
  }
}

// An engine that takes blocks back into its own cache erases them here, many of which are not there
// yet, or never were.
TEST_F(RegionRemovals, ErasesWhileBlocksComeBackKeepNoOthersAway) {
  fill("&keys=immutable", 60);
  for (const Gone gone : {Gone::kMayReturn, Gone::kForGood}) {
    for (const char* keys : {"", "&keys=immutable"}) {
      const std::vector<std::byte> before = image_;
      open(keys + std::string("&restart_rate=64KiB"), [&](BlockCacheImpl& cache) {
        for (uint64_t i = 0; i < 12'000; ++i) EXPECT_FALSE(cache.erase({1000, i}, gone));
        test::erase_files(cache, {60}, gone);
        test::let_recover(cache, clock_);
        uint64_t back = 0;
        for (uint64_t file = 1; file < 60; ++file) back += count(cache, file);
        EXPECT_EQ(back, 59 * 40u);
        EXPECT_EQ(count(cache, 60), 0u) << "for good, or a file that is gone";
      });
      image_ = before;
    }
  }
}

// A smaller cache in between does not know what lies behind it; a larger one after that does not
// believe it, and neither does the next.
TEST_F(RegionRemovals, WhatLayBehindASmallerCacheNeverComesBack) {
  fill("", 60);
  const auto erase_all = [&](BlockCacheImpl& cache) {
    wait_for_recovery(cache);
    for (uint64_t file = 1; file <= 60; ++file) test::erase_file(cache, file);
  };
  open("", erase_all, "&size=2MiB");
  for (int opening = 0; opening < 3; ++opening) {
    open("", [&](BlockCacheImpl& cache) {
      wait_for_recovery(cache);
      EXPECT_EQ(cache.stats().recovered_blocks, 0u) << opening;
    });
  }
}

TEST(RegionRemovalsFile, ARestartIsWarmHoweverManyRegionsTheCacheMayGrowTo) {
  const TempDir folder;
  const std::string spec =
      "nvcache://?size=5MiB&max_size=8GiB&space=regions&region=64KiB&admission=always"
      "&eviction=clock&maintenance=0&restart=warm&medium=file:" +
      folder.file("blocks");
  for (int opening = 0; opening < 3; ++opening) {
    const auto cache = test::open(spec);
    ASSERT_NE(cache, nullptr);
    wait_for_recovery(*cache);
    EXPECT_EQ(cache->stats().recovered_blocks, opening == 0 ? 0u : 300u);
    put_blocks(*cache, 1, 300, 1000);
  }
}

// ---- a head that is bad in part

// Some of its bytes can be neither read nor written.
class BadSpotMedium final : public Medium {
 public:
  BadSpotMedium(std::vector<std::byte> image, Extent bad) : inner_(std::move(image)), bad_(bad) {}

  uint64_t size_bytes() const override { return inner_.size_bytes(); }
  const Traits& traits() const override { return inner_.traits(); }
  Status read(uint64_t offset, MutableBytes into) override {
    return meets(offset, into.size()) ? eio() : inner_.read(offset, into);
  }
  Status write(uint64_t offset, ByteView from) override {
    return meets(offset, from.size()) ? eio() : inner_.write(offset, from);
  }
  Status drain() override { return inner_.drain(); }
  Status resize(uint64_t size_bytes) override { return inner_.resize(size_bytes); }
  void on_destruction(std::vector<std::byte>* durable) { inner_.on_destruction(durable); }

 private:
  static Status eio() { return internal_error("EIO"); }
  bool meets(uint64_t offset, uint64_t bytes) const {
    return offset < bad_.offset + bad_.size_bytes && bad_.offset < offset + bytes;
  }

  PowerLossMedium inner_;
  const Extent bad_;
};

TEST(RegionHeadFaults, OneBadSpotOfTheHeadRefusesNoOpening) {
  const Extent spots[] = {{0, 4096},
                          {Geometry::kCopyBytes, 4096},
                          {Geometry::kRemovedAt, 4096},
                          {Geometry::kRemovedAt + RemovalList::kHalfBytes, 4096}};
  for (const Extent& bad : spots) {
    for (const char* keys : {"", "&keys=immutable"}) {
      std::vector<std::byte> image(kRemovalsBytes);
      for (int opening = 0; opening < 6; ++opening) {
        auto medium = std::make_unique<BadSpotMedium>(image, bad);
        medium->on_destruction(&image);
        const auto config = parse_config(std::string(kRemovalsSpec) + kRemovalsSize + keys +
                                         (opening < 2 ? "&format=yes" : ""));
        ASSERT_TRUE(config.ok());
        const auto cache = BlockCacheImpl::make(*config, std::move(medium), system_clock());
        ASSERT_TRUE(cache.ok()) << bad.offset << keys << cache.status();
        wait_for_recovery(**cache);
        const bool is_list = bad.offset >= Geometry::kRemovedAt;
        if (opening > 2 && !is_list) {
          EXPECT_EQ((*cache)->stats().recovered_blocks, 90u) << bad.offset << keys << opening;
        }
        put_blocks(**cache, 1, 100, 1000);
        for (uint64_t i = 0; i < 10; ++i) EXPECT_TRUE((*cache)->erase({1, i * 3})) << opening;
        if (*keys != '\0') {
          std::vector<BlockKey> erased;
          for (uint64_t i = 0; i < 10; ++i) erased.push_back({1, i * 3});
          const auto durable = (*cache)->erase(Blocks{.keys = erased}, Gone::kDurable);
          EXPECT_TRUE(durable.ok() || is_list) << durable.status();
        }
      }
    }
  }
}

}  // namespace
}  // namespace nvcache
