// A cache in regions loses power, at any moment and any number of times: what comes back is right.
// With immutable keys all regions that were sealed and durable come back; with mutable ones nothing
// does, for a block that was removed must not return.
#include <atomic>
#include <string>
#include <vector>

#include "base/prng.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::holds;
using test::put;
using test::wait_for_recovery;

constexpr uint64_t kCrashBytes = 5 << 20;
constexpr uint64_t kCrashKeys = 1500;
constexpr const char* kCrashSpec =
    "nvcache://?size=5MiB&space=regions&region=64KiB&admission=always&eviction=clock&verify=always"
    "&maintenance=0&restart=warm";

size_t crash_size_of(uint64_t key) { return 500 + key * 37 % 4000; }

// Puts, looks up and erases keys; a key's version is that of its last erase.
class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {}

  void run(BlockCache& cache, int operations, bool erases) {
    for (int i = 0; i < operations; ++i) {
      const uint64_t key = random_.below(kCrashKeys);
      switch (random_.below(8)) {
        case 0:
          if (erases) {
            cache.erase({1, key});
            ++versions_[key];
            break;
          }
          [[fallthrough]];
        case 1:
        case 2:
        case 3:
          (void)put(cache, {1, key}, crash_size_of(key), versions_[key]);
          break;
        default:
          check_one(cache, key);
      }
    }
  }
  // Whether the block is there, and right if it is.
  bool check_one(BlockCache& cache, uint64_t key) {
    const Lookup lookup = cache.lookup({1, key});
    if (!lookup.hit()) return false;
    EXPECT_TRUE(holds(lookup.pin.bytes(), {1, key}, crash_size_of(key), versions_[key])) << key;
    return true;
  }
  uint64_t check_all(BlockCache& cache) {
    uint64_t found = 0;
    for (uint64_t key = 0; key < kCrashKeys; ++key) found += check_one(cache, key) ? 1 : 0;
    return found;
  }

 private:
  Prng random_;
  std::vector<uint64_t> versions_ = std::vector<uint64_t>(kCrashKeys);
};

struct OwnedCache {
  PowerLossMedium* medium;
  std::unique_ptr<BlockCacheImpl> cache;
};

OwnedCache open_on(std::unique_ptr<PowerLossMedium> medium, const std::string& more) {
  PowerLossMedium* const raw = medium.get();
  return {raw, test::make_on(kCrashSpec + more, std::move(medium))};
}

// The cache goes on after the crash image was made, and is dropped: the next one opens the image.
uint64_t lose_power_again_and_again(const std::string& more, bool erases, uint64_t seed) {
  Prng random(seed);
  History history(seed);
  uint64_t found = 0;
  std::vector<std::byte> image(kCrashBytes);
  for (int life = 0; life < 12; ++life) {
    OwnedCache now = open_on(std::make_unique<PowerLossMedium>(std::move(image)), more);
    if (random.below(2) == 0) wait_for_recovery(*now.cache);
    found += history.check_all(*now.cache);
    history.run(*now.cache, 200 + static_cast<int>(random.below(4000)), erases);
    if (random.below(3) == 0) now.cache->drain();
    if (random.below(3) == 0) {
      EXPECT_TRUE(now.medium->drain().ok());
    }
    if (random.below(5) == 0) {  // closed in order
      now.cache->drain();
      now = open_on(std::make_unique<PowerLossMedium>([&] {
                      PowerLossMedium* const medium = now.medium;
                      std::vector<std::byte> closed;
                      medium->on_destruction(&closed);
                      now.cache.reset();
                      return closed;
                    }()),
                    more);
      wait_for_recovery(*now.cache);
      EXPECT_GT(history.check_all(*now.cache), 0u);
    }
    image = now.medium->crash(random());
  }
  return found;
}

TEST(RegionCrash, ImmutableKeysComeBackRight) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    found += lose_power_again_and_again("&keys=immutable", /*erases=*/false, test_seed() + i);
  }
  EXPECT_GT(found, 1000u) << "something came back";
}

TEST(RegionCrash, MutableKeysNeverComeBackOld) {
  for (uint64_t i = 0; i < 8; ++i) {
    lose_power_again_and_again("", /*erases=*/true, test_seed() + 100 + i);
  }
}

TEST(RegionCrash, SealedAndDurableRegionsComeBackWhole) {
  for (uint64_t i = 0; i < 20; ++i) {
    OwnedCache now = open_on(std::make_unique<PowerLossMedium>(kCrashBytes), "&keys=immutable");
    for (uint64_t key = 0; key < 300; ++key)
      EXPECT_TRUE(put(*now.cache, {1, key}, 4096).admitted());
    now.cache->drain();
    EXPECT_TRUE(now.medium->drain().ok());
    for (uint64_t key = 300; key < 400; ++key) (void)put(*now.cache, {1, key}, 4096);
    OwnedCache next = open_on(std::make_unique<PowerLossMedium>(now.medium->crash(test_seed() + i)),
                              "&keys=immutable");
    wait_for_recovery(*next.cache);
    for (uint64_t key = 0; key < 300; ++key) {
      const Lookup lookup = next.cache->lookup({1, key});
      ASSERT_TRUE(lookup.hit()) << key;
      EXPECT_TRUE(holds(lookup.pin.bytes(), {1, key}, 4096));
    }
  }
}

}  // namespace
}  // namespace nvcache
