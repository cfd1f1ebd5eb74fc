// Lives of a cache in regions that comes back after a restart, on a medium that fails by chance or
// for good: no life serves a block that is wrong, or older than one that was erased or replaced.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/test_hooks.h"
#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kWarmKeys = 500;
constexpr size_t kWarmBytes = 4000;
const Status kWarmEio = data_loss_error("Input/output error");

class RegionWarmFaults : public testing::Test {
 protected:
  RegionWarmFaults() : newest_(kWarmKeys) {}

  // Begins a phase in which these may be served of each key: version 1 of immutable keys, nothing
  // of others.
  void begin(bool immutable) {
    immutable_ = immutable;
    newest_.assign(kWarmKeys, immutable ? 1 : 0);
    wrong_ = 0;
  }

  // Null if the medium failed meanwhile.
  std::unique_ptr<BlockCacheImpl> open(bool format, uint32_t percent, uint64_t seed) {
    std::string spec =
        "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
        "&maintenance=0.01&restart=warm&medium=file:" +
        folder_.file("blocks");
    if (immutable_) spec += "&keys=immutable";
    if (format) spec += "&format=yes";
    const Config config = parse_config(spec).value();
    auto medium = open_medium(config.medium, options_of_medium(config), clock_);
    EXPECT_TRUE(medium.ok()) << medium.status();
    auto owned = std::make_unique<FailingMedium>(*std::move(medium));
    failing_ = owned.get();
    if (percent > 0) failing_->fail_some(kWarmEio, percent, seed);
    auto cache = BlockCacheImpl::make(config, std::move(owned), clock_);
    return cache.ok() ? *std::move(cache) : nullptr;
  }

  void replace(BlockCache& cache, uint64_t key) {
    if (!immutable_) {
      cache.erase({1, key});
      newest_[key] = 0;
    }
    const uint64_t version = immutable_ ? 1 : ++last_version_;
    if (test::put(cache, {1, key}, kWarmBytes, version).admitted()) newest_[key] = version;
  }
  void erase(BlockCache& cache, uint64_t key) {
    cache.erase({1, key});
    if (!immutable_) newest_[key] = 0;
  }
  bool look_up(BlockCache& cache, uint64_t key) {
    const Lookup lookup = cache.lookup({1, key});
    if (!lookup.hit()) return false;
    const bool right =
        newest_[key] != 0 && test::holds(lookup.pin.bytes(), {1, key}, kWarmBytes, newest_[key]);
    if (!right) ++wrong_;
    return true;
  }

  void live(BlockCache& cache, uint64_t seed, int steps) {
    Prng random(seed);
    for (int i = 0; i < steps; ++i) {
      const uint64_t key = random.below(kWarmKeys);
      const uint64_t dice = random.below(8);
      if (dice == 0) {
        erase(cache, key);
      } else if (dice < 4) {
        replace(cache, key);
      } else {
        (void)look_up(cache, key);
      }
      // A cache that is off tries its medium again after a time.
      if (i % 64 == 0) clock_.wait_until_ns(clock_.now_ns() + MediumHealth::kProbeEveryNs);
    }
  }
  uint64_t count_hits(BlockCache& cache) {
    uint64_t hits = 0;
    for (uint64_t key = 0; key < kWarmKeys; ++key) hits += look_up(cache, key) ? 1 : 0;
    return hits;
  }

  TempDir folder_;
  VirtualClock clock_;
  FailingMedium* failing_ = nullptr;
  bool immutable_ = false;
  std::vector<uint64_t> newest_;  // by key: the version that may be served; 0: none
  uint64_t last_version_ = 0;
  uint64_t wrong_ = 0;
};

TEST_F(RegionWarmFaults, NothingWrongIsServedInAnyLife) {
  constexpr uint32_t kPercents[] = {0, 2, 30};
  for (const bool immutable : {true, false}) {
    begin(immutable);
    Prng random(test_seed() + (immutable ? 1 : 0));
    uint64_t recovered = 0, errors = 0;
    for (int life = 0; life < 24; ++life) {
      const uint64_t seed = random();
      const uint32_t at_opening = life % 3 == 2 ? kPercents[random.below(3)] : 0;
      const auto cache = open(life == 0, at_opening, seed);
      if (cache == nullptr) {
        EXPECT_GT(at_opening, 0u);
        continue;
      }
      live(*cache, seed + 1, 200);  // while blocks come back
      test::wait_for_recovery(*cache);
      failing_->fail_some(kWarmEio, kPercents[random.below(3)], seed + 2);
      live(*cache, seed + 3, 2000);
      if (life % 2 == 0) failing_->heal();
      live(*cache, seed + 4, 500);
      const Stats stats = cache->stats();
      recovered += stats.recovered_blocks;
      errors += stats.medium_errors;
      EXPECT_LE(stats.blocks, kWarmKeys) << stats.to_json();
    }
    const auto cache = open(/*format=*/false, 0, 0);
    ASSERT_NE(cache, nullptr);
    test::wait_for_recovery(*cache);
    for (uint64_t key = 0; key < kWarmKeys; ++key) {
      erase(*cache, key);
      newest_[key] = 1;
      test::put_for_sure(*cache, {1, key}, kWarmBytes, 1);
    }
    EXPECT_GT(count_hits(*cache), kWarmKeys / 2) << "a medium that is well again serves";
    EXPECT_EQ(wrong_, 0u) << "immutable keys: " << immutable;
    EXPECT_GT(recovered, 0u) << "no life had anything of the one before";
    EXPECT_GT(errors, 0u) << "the medium never failed";
  }
}

// A close that fails leaves nothing for the next life, where keys may be put again. The control
// believes it all the same: blocks that were erased are back, and are seen.
TEST_F(RegionWarmFaults, ACloseThatFailsBringsNothingErasedBack) {
  for (const bool control : {false, true}) {
    begin(/*immutable=*/false);
    {
      const auto cache = open(/*format=*/true, 0, 0);
      for (uint64_t key = 0; key < kWarmKeys; ++key) replace(*cache, key);
    }
    {
      const auto cache = open(/*format=*/false, 0, 0);
      test::wait_for_recovery(*cache);
      EXPECT_GT(count_hits(*cache), 0u);
      for (uint64_t key = 0; key < kWarmKeys; ++key) erase(*cache, key);
      failing_->fail_drains(kWarmEio);
    }
    test_hooks.believe_mutable_keys = control;
    const auto cache = open(/*format=*/false, 0, 0);
    test_hooks.believe_mutable_keys = false;
    ASSERT_NE(cache, nullptr);
    test::wait_for_recovery(*cache);
    (void)count_hits(*cache);
    EXPECT_EQ(wrong_ > 0, control) << wrong_;
  }
}

// The storage behind the device is gone while blocks come back, and comes back empty.
TEST_F(RegionWarmFaults, ADeviceThatVanishesWhileBlocksComeBackIsUsedAgain) {
  constexpr uint64_t kDeviceBytes = 8 << 20;
  const test::LoopDevice device(kDeviceBytes);
  if (device.path().empty()) GTEST_SKIP() << "no loop device: " << device.why();
  const std::string spec =
      "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
      "&restart=warm&keys=immutable&restart_rate=1MiB&medium=nvme:" +
      device.path();
  {
    const auto cache = test::open(spec);
    ASSERT_NE(cache, nullptr);
    test::put_blocks(*cache, 1, 600, kWarmBytes);
  }
  {
    const auto cache = test::open(spec);
    ASSERT_NE(cache, nullptr);
    std::filesystem::resize_file(device.file(), 0);
    (void)test::count_blocks(*cache, 1, 600, kWarmBytes);  // all that are found are right
    test::wait_for_recovery(*cache);
    (void)test::count_blocks(*cache, 1, 600, kWarmBytes);
  }
  std::filesystem::resize_file(device.file(), kDeviceBytes);
  const auto cache = test::open(spec);
  ASSERT_NE(cache, nullptr);
  test::wait_for_recovery(*cache);
  EXPECT_EQ(test::count_blocks(*cache, 1, 600, kWarmBytes), 0u) << "a new device is empty";
  test::put_blocks(*cache, 2, 300, kWarmBytes);
  EXPECT_EQ(test::count_blocks(*cache, 2, 300, kWarmBytes), 300u);
}

}  // namespace
}  // namespace nvcache
