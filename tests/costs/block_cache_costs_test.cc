// How many locks the block cache's operations take: what threads could meet in. One shard, and
// eviction on the caller's thread where the space is in place, so that each number is exact.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"
#include "support/block_cache_fixture.h"
#include "support/lock_counter.h"

namespace nvcache {
namespace {

using test::make_block;

constexpr uint32_t kCostBlockBytes = 4096;
constexpr uint64_t kCostTimes = 100;

// The most that operation(i) takes, for i in [kCostTimes, 2 kCostTimes), after the others to warm
// up.
uint64_t locks_of(const std::function<void(uint64_t)>& operation) {
  for (uint64_t i = 0; i < kCostTimes; ++i) operation(i);
  uint64_t most = 0;
  for (uint64_t i = kCostTimes; i < 2 * kCostTimes; ++i) {
    const uint64_t before = test::locks_of_this_thread();
    operation(i);
    most = std::max(most, test::locks_of_this_thread() - before);
  }
  return most;
}

std::unique_ptr<BlockCache> open_one_shard(const std::string& more) {
  return test::open("nvcache://?shards=1&maintenance=0&admission=always&eviction=clock" + more);
}

void put_one(BlockCache& cache, uint64_t id) {
  static const std::vector<std::byte> block = make_block({1, 1}, kCostBlockBytes);
  EXPECT_TRUE(cache.put({1, id}, block, Origin::kRead).admitted());
}

TEST(BlockCacheLocks, AreCounted) {
  Mutex mutex;
  EXPECT_EQ(locks_of([&](uint64_t) { const MutexLock lock(mutex); }), 1u);
}

TEST(BlockCacheLocks, ALookupTakesNone) {
  for (const char* space : {"", "&space=regions&region=1MiB"}) {
    const auto cache = open_one_shard("&size=16MiB" + std::string(space));
    put_one(*cache, 1);
    EXPECT_EQ(locks_of([&](uint64_t) { EXPECT_TRUE(cache->lookup({1, 1}).hit()); }), 0u) << space;
    EXPECT_EQ(locks_of([&](uint64_t) { EXPECT_FALSE(cache->lookup({1, 2}).hit()); }), 0u) << space;
  }
}

TEST(BlockCacheLocks, APutInPlaceTakesThoseOfTheSpaceAndOfItsShard) {
  const auto cache = open_one_shard("&size=4MiB");
  EXPECT_EQ(locks_of([&](uint64_t i) { put_one(*cache, i); }), 2u);
}

// None of the whole cache. Opening a region, which none of these puts does, takes two more.
TEST(BlockCacheLocks, APutIntoARegionTakesThatOfItsShard) {
  const auto cache = open_one_shard("&size=64MiB&space=regions&region=4MiB");
  EXPECT_EQ(locks_of([&](uint64_t i) { put_one(*cache, i); }), 1u);
}

TEST(BlockCacheLocks, AnEraseInARegionTakesThatOfItsShard) {
  const auto cache = open_one_shard("&size=64MiB&space=regions&region=4MiB");
  for (uint64_t i = 0; i < 2 * kCostTimes; ++i) put_one(*cache, i);
  EXPECT_EQ(locks_of([&](uint64_t i) { EXPECT_TRUE(cache->erase({1, i})); }), 1u);
}

}  // namespace
}  // namespace nvcache
