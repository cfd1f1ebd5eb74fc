// The promises of BlockCache::lookup_all(), on every kind of cache: what lookup() finds, together.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/block_cache_kinds.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::CacheKind;
using test::holds;
using test::make_block;
using test::put;

constexpr uint64_t kFilled = 60;  // blocks

size_t size_of(uint64_t number) { return 512 + 397 * number; }

class LookupAllContract : public test::BlockCacheOfKind {
 protected:
  // A cache that holds kFilled blocks of file 1, on its medium.
  std::unique_ptr<BlockCache> open_filled() {
    std::unique_ptr<BlockCache> cache = open_cache("4MiB");
    for (uint64_t number = 0; number < kFilled; ++number) {
      EXPECT_TRUE(put(*cache, {1, number}, size_of(number)).admitted()) << number;
    }
    cache->drain();
    return cache;
  }
};

INSTANTIATE_TEST_SUITE_P(Caches, LookupAllContract, test::kCacheKinds, test::name_of);
// Only these differ from those above in how they read many.
INSTANTIATE_TEST_SUITE_P(
    Ways, LookupAllContract,
    testing::Values(CacheKind{"Threads", "file:FILE,io=direct,async=threads", "clock"},
                    CacheKind{"OneByOne", "file:FILE,io=direct,async=off", "clock"},
                    CacheKind{"EmulatedFlash", "emulated:flash", "lru"},
                    CacheKind{"EmulatedFlashOnFile", "emulated:flash,on=file:FILE,io=direct",
                              "clock"}),
    test::name_of);

// Of a batch: blocks that are there in any order, some twice, and others that are not.
std::vector<BlockLookup> mixed_lookups(size_t count) {
  Prng random(test_seed());
  std::vector<BlockLookup> lookups(count);
  for (BlockLookup& each : lookups) {
    each.key = {1 + random.below(2), random.below(kFilled)};
    each.options.caller = random.below(4) == 0 ? Caller::kBackground : Caller::kForeground;
  }
  return lookups;
}

TEST_P(LookupAllContract, FindsAndCountsWhatLookupsFind) {
  const auto cache = open_filled();
  for (const size_t count : {1, 2, 32, 300}) {
    SCOPED_TRACE(count);
    std::vector<BlockLookup> lookups = mixed_lookups(count);
    const Stats before = cache->stats();
    for (const BlockLookup& each : lookups) (void)cache->lookup(each.key, each.options);
    const Stats between = cache->stats();
    cache->lookup_all(lookups);
    const Stats after = cache->stats();
    for (const BlockLookup& each : lookups) {
      ASSERT_EQ(each.result.hit(), each.key.file == 1);
      if (each.result.hit()) {
        EXPECT_TRUE(holds(each.result.pin.bytes(), each.key, size_of(each.key.offset)));
        EXPECT_EQ(each.result.size_bytes, size_of(each.key.offset));
      } else {
        EXPECT_TRUE(each.result.token.checked);
      }
    }
    EXPECT_EQ(after.hits - between.hits, between.hits - before.hits);
    EXPECT_EQ(after.misses - between.misses, between.misses - before.misses);
    EXPECT_EQ(after.background_hits - between.background_hits,
              between.background_hits - before.background_hits);
    EXPECT_EQ(after.background_misses - between.background_misses,
              between.background_misses - before.background_misses);
    EXPECT_LE(after.medium_read_bytes - between.medium_read_bytes,
              between.medium_read_bytes - before.medium_read_bytes);
  }
  cache->lookup_all({});
}

TEST_P(LookupAllContract, CopiesIntoTheMemoryOfTheCaller) {
  const auto cache = open_filled();
  constexpr size_t kRoom = 32 << 10;
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, 6 * kRoom)), &std::free);
  const auto room = [&](size_t number) {
    return MutableBytes(memory.get() + number * kRoom, kRoom);
  };
  ASSERT_TRUE(put(*cache, {7, 7}, 8192).admitted());
  cache->drain();
  std::array<BlockLookup, 6> lookups;
  lookups[0] = {.key = {7, 7}, .options = {.copy_into = room(0)}};           // whole sectors
  lookups[1] = {.key = {1, 5}, .options = {.copy_into = room(1)}};           // others
  lookups[2] = {.key = {7, 7}, .options = {.copy_into = room(2)}};           // again
  lookups[3] = {.key = {7, 7}};                                              // again, pinned
  lookups[4] = {.key = {1, 6}, .options = {.copy_into = room(4).first(9)}};  // too large
  lookups[5] = {.key = {2, 5}, .options = {.copy_into = room(5)}};           // not there
  cache->lookup_all(lookups);
  for (const size_t copied : {0, 1, 2}) {
    const BlockLookup& each = lookups[copied];
    EXPECT_FALSE(each.result.pin);
    EXPECT_TRUE(holds(room(copied).first(each.result.size_bytes), each.key,
                      each.key.file == 7 ? 8192 : size_of(5)))
        << copied;
  }
  EXPECT_TRUE(holds(lookups[3].result.pin.bytes(), {7, 7}, 8192));
  EXPECT_EQ(lookups[4].result.size_bytes, size_of(6));
  EXPECT_FALSE(lookups[5].result.hit());
}

TEST_P(LookupAllContract, ReadsABlockOnceThatIsAskedForOftener) {
  const auto cache = open_filled();
  const auto read_bytes = [&](const std::vector<uint64_t>& numbers) {
    std::vector<BlockLookup> lookups(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) lookups[i].key = {1, numbers[i]};
    const uint64_t before = cache->stats().medium_read_bytes;
    cache->lookup_all(lookups);
    for (const BlockLookup& each : lookups) {
      EXPECT_TRUE(holds(each.result.pin.bytes(), each.key, size_of(each.key.offset)));
    }
    return cache->stats().medium_read_bytes - before;
  };
  const uint64_t of_two = read_bytes({3, 4});
  const uint64_t of_many = read_bytes({3, 4, 3, 3, 4});
  // Where blocks are read one after the other, or in place, each lookup counts.
  const std::string medium = GetParam().medium;
  const auto names = [&](std::string_view part) { return medium.find(part) != medium.npos; };
  const bool side_by_side =
      (names("io=direct") || names("flash") || names("on=file")) && !names("async=off");
  EXPECT_EQ(of_many == of_two, side_by_side) << of_two << ' ' << of_many;
}

TEST_P(LookupAllContract, PinsOutliveTheBlocks) {
  const auto cache = open_filled();
  std::vector<BlockLookup> lookups(20);
  for (uint64_t number = 0; number < lookups.size(); ++number) lookups[number].key = {1, number};
  cache->lookup_all(lookups);
  test::erase_file(*cache, 1);
  for (uint64_t i = 0; i < 200; ++i) put(*cache, {3, i}, 20'000);
  for (const BlockLookup& each : lookups) {
    EXPECT_TRUE(holds(each.result.pin.bytes(), each.key, size_of(each.key.offset)));
  }
}

// Writers replace blocks while readers look up many: whatever is found is one of a block's
// versions, whole.
TEST_P(LookupAllContract, ConcurrentWritersDoNotTearWhatIsFound) {
  const auto cache = open_filled();
  constexpr uint64_t kVersions = 3;
  constexpr int kRounds = 60;
  std::vector<int> wrong(2, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<BlockLookup> lookups = mixed_lookups(40);
        cache->lookup_all(lookups);
        for (const BlockLookup& each : lookups) {
          if (!each.result.hit()) continue;
          bool right = false;
          for (uint64_t version = 0; version < kVersions; ++version) {
            right |= holds(each.result.pin.bytes(), each.key, size_of(each.key.offset), version);
          }
          wrong[t] += !right;
        }
      }
    });
  }
  Prng random(test_seed() + 1);
  for (int i = 0; i < 4 * kRounds; ++i) {
    const BlockKey key{1, random.below(kFilled)};
    cache->erase(key);
    put(*cache, key, size_of(key.offset), random.below(kVersions));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong[0] + wrong[1], 0);
}

}  // namespace
}  // namespace nvcache
