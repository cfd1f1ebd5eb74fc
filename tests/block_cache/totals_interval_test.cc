// An admission policy that needs totals at one question in many gets them in every cache.
#include <memory>
#include <string>
#include <vector>

#include "base/virtual_clock.h"
#include "block_cache/face/block_cache_impl.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

constexpr uint64_t kStorageReadNs = 1000;  // less than the emulated medium takes for a block

std::unique_ptr<BlockCache> open_weighing_cache(Clock& clock) {
  const auto config =
      parse_config("nvcache://?size=64MiB&medium=emulated:optane&maintenance=0&eviction=lru");
  EXPECT_TRUE(config.ok()) << config.status();
  auto medium = open_medium(config->medium, options_of_medium(*config), clock);
  EXPECT_TRUE(medium.ok()) << medium.status();
  auto cache = BlockCacheImpl::make(*config, *std::move(medium), clock);
  EXPECT_TRUE(cache.ok()) << cache.status();
  (*cache)->note_storage_read(kStorageReadNs);
  return *std::move(cache);
}

// None of the blocks is ever hit: break_even refuses once it has settled its account. The caches
// never fill, so that each put asks once.
TEST(TotalsInterval, AThreadThatAsksCachesByTurnsBringsEachItsTotals) {
  VirtualClock clock;
  std::vector<std::unique_ptr<BlockCache>> caches;
  for (int i = 0; i < 4; ++i) caches.push_back(open_weighing_cache(clock));
  const std::vector<std::byte> block(4096);
  for (uint64_t offset = 0; offset < 2000; ++offset) {
    const BlockKey key{.file = 1, .offset = offset};
    for (const auto& cache : caches) cache->put(key, block, Origin::kRead);
  }
  for (const auto& cache : caches) {
    EXPECT_GT(cache->stats().refused[static_cast<size_t>(Reason::kOverhead)], 1000u);
  }
}

}  // namespace
}  // namespace nvcache
