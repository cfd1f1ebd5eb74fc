// Blocks come back by several threads: the same blocks as by one, the newest of each key, whatever
// is damaged, whatever users do meanwhile, and no faster than the rate.
#include <atomic>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "block_cache/region/region_space.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"
#include "support/volume_parts.h"

namespace nvcache {
namespace {

using test::holds;
using test::put;
using test::put_for_sure;
using test::wait_for_recovery;
using Image = std::vector<std::byte>;

constexpr uint64_t kRecoveryBytes = 5 << 20;
constexpr uint64_t kRecoveryRegionBytes = 64 << 10;
constexpr uint64_t kRecoveryKeys = 1500;
constexpr const char* kRecoverySpec =
    "nvcache://?size=5MiB&space=regions&region=64KiB&admission=always&eviction=clock&verify=always"
    "&maintenance=0&shards=8&restart=warm";

std::unique_ptr<BlockCacheImpl> open_with(uint32_t threads, std::unique_ptr<Medium> medium,
                                          const std::string& more = "",
                                          Clock& clock = system_clock()) {
  Config config = parse_config(kRecoverySpec + more).value();
  config.restart_threads = threads;
  auto cache = BlockCacheImpl::make(config, std::move(medium), clock);
  EXPECT_TRUE(cache.ok()) << cache.status();
  return *std::move(cache);
}

// The medium after a history of puts and erases: closed in order, or killed.
Image image_of_a_history(uint64_t seed, const std::string& more, bool closed) {
  Image image;
  auto medium = std::make_unique<PowerLossMedium>(kRecoveryBytes);
  PowerLossMedium* const raw = medium.get();
  if (closed) raw->on_destruction(&image);
  const auto cache = open_with(1, std::move(medium), more);
  Prng random(seed);
  for (int i = 0; i < 6000; ++i) {
    const uint64_t key = random.below(kRecoveryKeys);
    if (random.below(8) == 0) {
      cache->erase({1, key});
    } else {
      put_for_sure(*cache, {1, key}, 500 + key * 37 % 4000);
    }
  }
  cache->drain();
  if (!closed) image = raw->bytes();
  return image;
}

// By key, where the block came from is not told, but that it is right.
std::map<uint64_t, bool> keys_that_come_back(uint32_t threads, const Image& image,
                                             const std::string& more) {
  const auto cache = open_with(threads, std::make_unique<PowerLossMedium>(image), more);
  wait_for_recovery(*cache);
  std::map<uint64_t, bool> found;
  for (uint64_t key = 0; key < kRecoveryKeys; ++key) {
    const Lookup lookup = cache->lookup({1, key});
    if (lookup.hit()) {
      found[key] = holds(lookup.pin.bytes(), {1, key}, 500 + key * 37 % 4000);
      EXPECT_TRUE(found[key]) << key;
    }
  }
  EXPECT_EQ(cache->stats().recovered_blocks, found.size());
  EXPECT_EQ(cache->stats().damaged_regions, 0u);
  return found;
}

TEST(RegionRecovery, AnyNumberOfThreadsBringsTheSameBlocksBack) {
  for (const bool closed : {true, false}) {
    const std::string more = closed ? "" : "&keys=immutable";
    const Image image = image_of_a_history(test_seed(), more, closed);
    const auto by_one = keys_that_come_back(1, image, more);
    EXPECT_GT(by_one.size(), 500u);
    for (const uint32_t threads : {2u, 3u, 4u}) {
      EXPECT_EQ(keys_that_come_back(threads, image, more), by_one) << threads;
    }
  }
}

// The process is killed, so what was erased is not listed: both blocks of a key are on the medium.
TEST(RegionRecovery, TheNewestBlockOfAKeyComesBack) {
  constexpr uint64_t kTwiceKeys = 500;
  auto medium = std::make_unique<PowerLossMedium>(kRecoveryBytes);
  PowerLossMedium* const raw = medium.get();
  const auto cache = open_with(1, std::move(medium), "&keys=immutable");
  for (uint64_t version = 0; version < 2; ++version) {
    for (uint64_t i = 0; i < kTwiceKeys; ++i) cache->erase({1, i});
    for (uint64_t i = 0; i < kTwiceKeys; ++i) put_for_sure(*cache, {1, i}, 4096, version);
    cache->drain();
  }
  const Image image = raw->bytes();
  for (const uint32_t threads : {1u, 4u}) {
    for (int round = 0; round < 10; ++round) {
      const auto next =
          open_with(threads, std::make_unique<PowerLossMedium>(image), "&keys=immutable");
      wait_for_recovery(*next);
      for (uint64_t i = 0; i < kTwiceKeys; ++i) {
        const Lookup lookup = next->lookup({1, i});
        ASSERT_TRUE(lookup.hit()) << i;
        ASSERT_TRUE(holds(lookup.pin.bytes(), {1, i}, 4096, 1)) << i << ", threads " << threads;
      }
    }
  }
}

TEST(RegionRecovery, ADamagedIndexCostsItsRegionAlone) {
  const Image whole = image_of_a_history(test_seed() + 1, "", /*closed=*/true);
  const auto before = keys_that_come_back(1, whole, "");
  Prng random(test_seed());
  for (const uint32_t threads : {1u, 4u}) {
    Image image = whole;
    // The last record but one of the third region.
    const uint64_t end = Geometry::kHeadBytes + 3 * kRecoveryRegionBytes;
    image[end - RegionFooter::kBytes - 2 * sizeof(BlockRecord) + random.below(16)] ^= std::byte{1};
    const auto cache = open_with(threads, std::make_unique<PowerLossMedium>(image));
    wait_for_recovery(*cache);
    EXPECT_EQ(cache->stats().damaged_regions, 1u);
    uint64_t lost = 0;
    for (const auto& [key, right] : before) {
      const Lookup lookup = cache->lookup({1, key});
      lost += lookup.hit() ? 0 : 1;
      EXPECT_TRUE(!lookup.hit() || holds(lookup.pin.bytes(), {1, key}, 500 + key * 37 % 4000));
    }
    EXPECT_GT(lost, 0u);
    EXPECT_LE(lost, kRecoveryRegionBytes / 500);
    EXPECT_EQ(cache->stats().recovered_blocks, before.size() - lost);
  }
}

// The clock stands still, so the rate never lets the recovery end.
TEST(RegionRecovery, ACacheClosesWhileBlocksComeBackAndLosesNone) {
  Image image = image_of_a_history(test_seed() + 2, "", /*closed=*/true);
  const auto before = keys_that_come_back(1, image, "");
  for (int round = 0; round < 10; ++round) {
    VirtualClock clock;
    auto medium = std::make_unique<PowerLossMedium>(image);
    medium->on_destruction(&image);
    const auto cache = open_with(4, std::move(medium), "&restart_rate=100KiB", clock);
    while (round % 2 == 0 && cache->stats().recovered_blocks == 0) std::this_thread::yield();
    EXPECT_EQ(cache->stats().recovering, 1u);
  }
  EXPECT_EQ(keys_that_come_back(4, image, ""), before);
}

TEST(RegionRecovery, UsersFindOnlyWhatIsRightWhileBlocksComeBack) {
  const Image image = image_of_a_history(test_seed() + 3, "", /*closed=*/true);
  for (int round = 0; round < 10; ++round) {
    const auto cache = open_with(4, std::make_unique<PowerLossMedium>(image));
    const auto use = [&](uint64_t first) {
      for (uint64_t key = first; key < kRecoveryKeys; key += 4) {
        const Lookup lookup = cache->lookup({1, key});
        EXPECT_TRUE(!lookup.hit() || holds(lookup.pin.bytes(), {1, key}, 500 + key * 37 % 4000));
        if (key % 3 == 0) cache->erase({1, key});
        if (key % 9 == 0) (void)put(*cache, {1, key}, 1000, 1);
      }
    };
    std::thread other([&] { use(0); });
    use(2);
    other.join();
    wait_for_recovery(*cache);
    for (uint64_t key = 0; key < kRecoveryKeys; key += 2) {
      const Lookup lookup = cache->lookup({1, key});
      if (!lookup.hit()) continue;
      const bool old = key % 3 != 0;
      EXPECT_TRUE(old || key % 9 == 0) << "erased: " << key;
      EXPECT_TRUE(old ? holds(lookup.pin.bytes(), {1, key}, 500 + key * 37 % 4000)
                      : holds(lookup.pin.bytes(), {1, key}, 1000, 1))
          << key;
    }
    EXPECT_EQ(cache->stats().damaged_blocks, 0u);
  }
}

// A resize may come before the recovery has begun. Footers of a larger cache lie in the regions
// that come into use. These are free, and may be written before the recovery looks at them.
TEST(RegionRecovery, RegionsThatComeIntoUseBeforeItBringNothingBack) {
  const Image image = image_of_a_history(test_seed() + 5, "&keys=immutable", /*closed=*/false);
  const Config config = test::small_config(kRecoveryBytes, "clock", /*shards=*/8);
  test::VolumeParts parts(config, std::make_unique<PowerLossMedium>(image), system_clock(),
                          /*verify=*/true);
  const RegionWriter::Events events = {
      .wants_room = [] {},
      .wrote = [](uint64_t, const Status&) {},
      .lost = [](uint32_t, std::span<const BlockRecord>) {},
  };
  const auto space = RegionSpace::open(parts.medium,
                                       {.size_bytes = kRecoveryBytes / 2,
                                        .max_size_bytes = kRecoveryBytes,
                                        .region_bytes = kRecoveryRegionBytes,
                                        .warm = true,
                                        .immutable_keys = true},
                                       events);
  ASSERT_TRUE(space.ok()) << space.status();
  ASSERT_TRUE((*space)->holds_blocks());
  ASSERT_TRUE(parts.shards.open(**space).ok());
  const Geometry& geometry = (*space)->geometry();
  const uint32_t before = (*space)->regions();
  const uint32_t after = geometry.regions_in(kRecoveryBytes);
  (*space)->set_limit(after);
  EXPECT_EQ((*space)->free_regions(), after - before);
  const std::atomic<bool> stop{false};
  (*space)->recover({.shards = parts.shards, .gone_files = parts.gone_files, .stop = stop});
  EXPECT_GT(parts.counters.sum(Count::kRecovered), 100u);
  EXPECT_GE((*space)->free_regions(), after - before);
  for (uint64_t key = 0; key < kRecoveryKeys; ++key) {
    const uint64_t hash = parts.shards.hash_of({1, key});
    const PinnedBlock found = parts.shards.of(hash).find_and_pin(hash, {1, key});
    if (!found.found()) continue;
    EXPECT_LT(geometry.region_of(found.word.offset_grains()), before);
    parts.shards.of(hash).unpin(found.slot);
  }
}

// Compares what was read, but superblocks and footers, with what the rate allows at that time.
class PacedMedium final : public Medium {
 public:
  PacedMedium(const Image& image, double bytes_per_second, const Clock& clock,
              std::atomic<uint64_t>* excesses)
      : inner_(image), bytes_per_second_(bytes_per_second), clock_(clock), excesses_(*excesses) {}

  uint64_t size_bytes() const override { return inner_.size_bytes(); }
  const Traits& traits() const override { return inner_.traits(); }
  Status read(uint64_t offset, MutableBytes into) override {
    if (offset >= Geometry::kHeadBytes && footers_left_.fetch_sub(1) <= 0) {
      const uint64_t before = bytes_.fetch_add(into.size());
      const double seconds = static_cast<double>(clock_.now_ns()) / 1e9 + 0.05;
      if (static_cast<double>(before) > bytes_per_second_ * seconds) ++excesses_;
    }
    return inner_.read(offset, into);
  }
  Status write(uint64_t offset, ByteView from) override { return inner_.write(offset, from); }
  Status drain() override { return inner_.drain(); }
  Status resize(uint64_t size_bytes) override { return inner_.resize(size_bytes); }

 private:
  PowerLossMedium inner_;
  const double bytes_per_second_;
  const Clock& clock_;
  std::atomic<uint64_t>& excesses_;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<int64_t> footers_left_{(kRecoveryBytes - Geometry::kHeadBytes) /
                                     kRecoveryRegionBytes};
};

TEST(RegionRecovery, IndexesAreReadNoFasterThanTheRate) {
  constexpr double kRate = 100 << 10;
  const Image image = image_of_a_history(test_seed() + 4, "", /*closed=*/true);
  for (const bool bounded : {true, false}) {
    VirtualClock clock;
    std::atomic<uint64_t> excesses{0};
    const auto cache = open_with(4, std::make_unique<PacedMedium>(image, kRate, clock, &excesses),
                                 bounded ? "&restart_rate=100KiB" : "&restart_rate=0", clock);
    while (cache->stats().recovering != 0) {
      if (bounded) clock.wait_until_ns(clock.now_ns() + 1'000'000);
      std::this_thread::yield();
    }
    EXPECT_EQ(excesses.load() > 0, !bounded) << "the medium sees a rate that is not kept";
    EXPECT_GT(cache->stats().recovered_blocks, 500u);
  }
}

}  // namespace
}  // namespace nvcache
