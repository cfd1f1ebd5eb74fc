// The promises of preset=auto, whatever the uses are like: a whole cache on emulated media in
// virtual time, under an engine that reads its storage at each miss. Devices are left out: their
// writes are a real thread's.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint32_t kBlockBytes = 4096;
constexpr uint64_t kTierBlocks = 4096;  // that the tier has room for
constexpr uint64_t kUs = 1000;

struct Outcome {
  double hit_ratio = 0;
  double inserts = 0;  // a lookup
  double time = 0;     // of that without the cache
};

class AutoEngine {
 public:
  explicit AutoEngine(const std::string& medium, const std::string& policies = "preset=auto",
                      uint64_t storage_us = 80)
      : storage_ns_(storage_us * kUs) {
    const std::string spec = "nvcache://?size=16MiB&medium=" + medium + "&" + policies;
    const Config config = parse_config(spec).value();
    auto opened = open_medium(
        config.medium, {.size_bytes = config.size_bytes, .max_size_bytes = config.max_size_bytes},
        clock_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    cache_ = test::make_on(spec, *std::move(opened), clock_);
  }

  // So many lookups of the keys that `next` gives.
  Outcome run(uint64_t lookups, const std::function<uint64_t(uint64_t i)>& next) {
    const uint64_t begin_ns = clock_.now_ns();
    const Stats before = cache_->stats();
    for (uint64_t i = 0; i < lookups; ++i) look_up(next(i));
    cache_->drain();
    const Stats after = cache_->stats();
    const auto all = static_cast<double>(lookups);
    return {.hit_ratio = static_cast<double>(after.hits - before.hits) / all,
            .inserts = static_cast<double>(after.inserts - before.inserts) / all,
            .time = static_cast<double>(clock_.now_ns() - begin_ns) /
                    (all * static_cast<double>(storage_ns_))};
  }

  // Lookups of new keys until the share of the tier is full.
  uint64_t lookups_to_fill(double share) {
    uint64_t lookups = 0;
    while (static_cast<double>(cache_->stats().blocks) < share * kTierBlocks) {
      look_up(1'000'000'000 + lookups);
      if (++lookups > 1000 * kTierBlocks) break;
    }
    return lookups;
  }

  // The engine writes the block: the old one goes, and the new one is offered.
  void write(uint64_t number) {
    clock_.wait_until_ns(clock_.now_ns() + storage_ns_);
    cache_->erase({1, number});
    (void)cache_->put({1, number}, block_, Origin::kWrite);
  }

 private:
  void look_up(uint64_t number) {
    const BlockKey key{1, number};
    const Lookup found = cache_->lookup(key);
    if (found.hit()) return;
    clock_.wait_until_ns(clock_.now_ns() + storage_ns_);
    cache_->note_storage_read(storage_ns_);
    (void)cache_->put(key, block_, Origin::kRead, found.token);
  }

  const uint64_t storage_ns_;
  const std::vector<std::byte> block_ = std::vector<std::byte>(kBlockBytes);
  VirtualClock clock_;
  std::unique_ptr<BlockCacheImpl> cache_;
};

// Keys of a skewed popularity: the first tenth get half of the lookups.
std::function<uint64_t(uint64_t)> skewed(Prng& random, uint64_t keys, uint64_t first = 0) {
  return [&random, keys, first](uint64_t) {
    const double unit = random.unit();
    return first + static_cast<uint64_t>(unit * unit * unit * static_cast<double>(keys));
  };
}

class PresetAuto : public ::testing::TestWithParam<std::string> {};

// The bound that holds for every medium: a cache that is of no use costs a twentieth, and the first
// blocks that it tries.
TEST_P(PresetAuto, AScanCostsLittle) {
  AutoEngine engine(GetParam());
  const auto scan = [](uint64_t i) { return i; };
  const Outcome first = engine.run(4 * kTierBlocks, scan);
  EXPECT_LE(first.time, 1.3) << "an empty tier fills";
  const Outcome later = engine.run(8 * kTierBlocks, [&](uint64_t i) { return 1'000'000 + i; });
  EXPECT_LE(later.time, 1.06);
  EXPECT_LE(later.inserts, 0.25) << "old blocks leave for new ones that are no better";
}

TEST_P(PresetAuto, ALoopLargerThanTheTierIsHitInPart) {
  AutoEngine engine(GetParam());
  const auto loop = [](uint64_t i) { return i % (2 * kTierBlocks); };
  engine.run(20 * kTierBlocks, loop);
  const Outcome outcome = engine.run(20 * kTierBlocks, loop);
  EXPECT_LE(outcome.time, 1.06);
  EXPECT_LE(outcome.inserts, 0.25);
  EXPECT_GE(outcome.hit_ratio, 0.2) << "the best is a half, that of lru nothing";
}

TEST_P(PresetAuto, AWriteStormCostsLittle) {
  AutoEngine engine(GetParam());
  Prng random(test_seed());
  const auto reads = skewed(random, 8 * kTierBlocks);
  engine.run(10 * kTierBlocks, reads);
  const double before = engine.run(4 * kTierBlocks, reads).time;
  for (uint64_t i = 0; i < 8 * kTierBlocks; ++i) engine.write(random.below(8 * kTierBlocks));
  const double after = engine.run(4 * kTierBlocks, reads).time;
  EXPECT_LE(after, std::min(1.06, before + 0.3)) << "what was written over has to come back";
}

TEST_P(PresetAuto, ANewPhaseIsFollowed) {
  AutoEngine engine(GetParam());
  Prng random(test_seed());
  const Outcome old = engine.run(30 * kTierBlocks, skewed(random, 4 * kTierBlocks));
  engine.run(30 * kTierBlocks, skewed(random, 4 * kTierBlocks, 1'000'000));
  const Outcome now = engine.run(4 * kTierBlocks, skewed(random, 4 * kTierBlocks, 1'000'000));
  EXPECT_GE(now.hit_ratio, 0.8 * old.hit_ratio);
  EXPECT_LE(now.time, 1.06);
}

TEST_P(PresetAuto, AFullTierWritesLittle) {
  AutoEngine engine(GetParam());
  Prng random(test_seed());
  const auto reads = skewed(random, 8 * kTierBlocks);
  engine.run(30 * kTierBlocks, reads);
  const Outcome full = engine.run(10 * kTierBlocks, reads);
  EXPECT_LE(full.inserts, 0.1);
  EXPECT_LE(full.time, 1.06);
}

INSTANTIATE_TEST_SUITE_P(Media, PresetAuto,
                         ::testing::Values("dram", "emulated:cxl", "emulated:optane",
                                           "emulated:cxl,load=64", "emulated:optane,load=64"),
                         [](const auto& instance) {
                           std::string name;
                           for (const char c : instance.param) {
                             name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           }
                           return name;
                         });

// On media that do not mind writes.
TEST(PresetAutoFill, AnEmptyTierFillsAsFastAsUnderAlways) {
  for (const std::string medium : {"dram", "emulated:cxl"}) {
    AutoEngine all(medium, "admission=always&eviction=lru");
    AutoEngine engine(medium);
    EXPECT_LE(static_cast<double>(engine.lookups_to_fill(0.9)),
              1.2 * static_cast<double>(all.lookups_to_fill(0.9)))
        << medium;
  }
}

}  // namespace
}  // namespace nvcache
