// The promises of every block cache while its size changes, and for blocks as large as it.
#include <atomic>
#include <string>
#include <thread>

#include "support/block_cache_kinds.h"

namespace nvcache {
namespace {

using test::holds;
using test::put;

class BlockCacheSizeContract : public test::BlockCacheOfKind {};

INSTANTIATE_TEST_SUITE_P(Caches, BlockCacheSizeContract, test::kCacheKinds, test::name_of);

TEST_P(BlockCacheSizeContract, ResizesDownAndUp) {
  const auto cache = open_cache("4MiB", "&max_size=" + std::to_string(size_for(8 << 20)));
  for (uint64_t i = 0; i < 900; ++i) put(*cache, {1, i}, 4096);
  cache->drain();
  ASSERT_TRUE(cache->resize(size_for(1 << 20)).ok());
  EXPECT_LE(cache->stats().used_bytes, 1u << 20);
  EXPECT_EQ(cache->stats().size_bytes, 1u << 20);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 900; ++i) {
    const Lookup lookup = cache->lookup({1, i});
    if (!lookup.hit()) continue;
    ++kept;
    ASSERT_TRUE(holds(lookup.pin.bytes(), {1, i}, 4096));
  }
  EXPECT_GT(kept, 100u);
  EXPECT_EQ(cache->resize(size_for(16 << 20)).code(), StatusCode::kOutOfRange);
  ASSERT_TRUE(cache->resize(size_for(8 << 20)).ok());
  for (uint64_t i = 0; i < 1500; ++i) put(*cache, {2, i}, 4096);
  cache->drain();
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 1500; ++i) {
    const Lookup lookup = cache->lookup({2, i});
    if (!lookup.hit()) continue;
    ++hits;
    ASSERT_TRUE(holds(lookup.pin.bytes(), {2, i}, 4096));
  }
  EXPECT_GT(hits, 1000u);
}

TEST_P(BlockCacheSizeContract, ResizedToNothingItIsOffAndComesBack) {
  const auto cache = open_cache("4MiB");
  for (uint64_t i = 0; i < 500; ++i) put(*cache, {1, i}, 4096);
  cache->drain();
  Lookup pinned = cache->lookup({1, 3});
  ASSERT_TRUE(pinned.hit());
  ASSERT_TRUE(cache->resize(0).ok());
  EXPECT_EQ(cache->stats().size_bytes, 0u);
  EXPECT_EQ(cache->stats().blocks, 0u);
  EXPECT_TRUE(holds(pinned.pin.bytes(), {1, 3}, 4096)) << "as long as it is pinned";
  pinned = Lookup();
  EXPECT_EQ(put(*cache, {1, 7}, 4096).reason, Reason::kNoSpace);
  EXPECT_EQ(put(*cache, {1, 8}, 1).reason, Reason::kNoSpace);
  for (uint64_t i = 0; i < 500; ++i) ASSERT_FALSE(cache->lookup({1, i}).hit());
  ASSERT_TRUE(cache->resize(size_for(4 << 20)).ok());
  for (uint64_t i = 0; i < 500; ++i) ASSERT_FALSE(cache->lookup({1, i}).hit());
  for (uint64_t i = 0; i < 500; ++i) EXPECT_TRUE(put(*cache, {1, i}, 4000).admitted());
  cache->drain();
  for (uint64_t i = 0; i < 500; ++i) {
    const Lookup found = cache->lookup({1, i});
    ASSERT_TRUE(found.hit());
    EXPECT_TRUE(holds(found.pin.bytes(), {1, i}, 4000));
  }
}

// Puts under way included.
TEST_P(BlockCacheSizeContract, ConcurrentPutsLeaveNothingInACacheThatIsOff) {
  const auto cache = open_cache("1MiB");
  std::atomic<bool> done{false};
  std::thread putter([&] {
    for (uint64_t i = 0; !done.load(std::memory_order_relaxed); ++i) {
      put(*cache, {1, i % 64}, 4096);
    }
  });
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(cache->resize(0).ok());
    std::this_thread::yield();
    for (uint64_t i = 0; i < 64; ++i) ASSERT_FALSE(cache->lookup({1, i}).hit()) << round;
    ASSERT_TRUE(cache->resize(size_for(1 << 20)).ok());
    std::this_thread::yield();
  }
  done = true;
  putter.join();
}

// Shards have no part of the space of their own.
TEST_P(BlockCacheSizeContract, ABlockMayBeAsLargeAsTheCacheOrItsRegions) {
  const uint32_t largest_bytes = GetParam().largest_block_bytes;
  for (const char* shards : {"1", "64"}) {
    const auto cache = open_cache("1MiB", std::string("&shards=") + shards);
    EXPECT_TRUE(put(*cache, {1, 1}, largest_bytes).admitted());
    cache->drain();
    const Lookup found = cache->lookup({1, 1});
    ASSERT_TRUE(found.hit());
    EXPECT_TRUE(holds(found.pin.bytes(), {1, 1}, largest_bytes));
  }
}

TEST_P(BlockCacheSizeContract, ABlockThatCanNeverFitEvictsNothing) {
  const bool in_regions = GetParam().head_bytes > 0;  // of 64 KiB, eight at least
  const auto cache = open_cache(in_regions ? "512KiB" : "64KiB");
  for (uint64_t i = 0; i < 14; ++i) EXPECT_TRUE(put(*cache, {1, i}, 4096).admitted());
  cache->drain();
  EXPECT_EQ(put(*cache, {2, 1}, (64 << 10) + 1).reason, Reason::kNoSpace);
  EXPECT_EQ(put(*cache, {2, 2}, kMaxBlockBytes).reason, Reason::kNoSpace);
  EXPECT_EQ(put(*cache, {2, 3}, kMaxBlockBytes + 1).reason, Reason::kBadSize);
  EXPECT_EQ(cache->stats().blocks, 14u);
}

}  // namespace
}  // namespace nvcache
