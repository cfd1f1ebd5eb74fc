// The promises of every block cache, whatever medium it lies on and whatever its policies are.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "support/block_cache_kinds.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::holds;
using test::make_block;
using test::put;

class BlockCacheContract : public test::BlockCacheOfKind {};

INSTANTIATE_TEST_SUITE_P(Caches, BlockCacheContract, test::kCacheKinds, test::name_of);

TEST_P(BlockCacheContract, ServesWhatWasPut) {
  const auto cache = open_cache("4MiB");
  for (uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(put(*cache, {1, i}, 512 + 997 * i).admitted());
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 50; ++i) {
      const Lookup lookup = cache->lookup({1, i});
      ASSERT_TRUE(lookup.hit()) << i;
      EXPECT_TRUE(holds(lookup.pin.bytes(), {1, i}, 512 + 997 * i)) << i;
    }
    cache->drain();  // the second round reads the medium
  }
  EXPECT_FALSE(cache->lookup({2, 0}).hit());
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.hits, 100u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.inserts, 50u);
  EXPECT_EQ(stats.blocks, 50u);
  EXPECT_GE(stats.medium_written_bytes, stats.data_bytes);
}

TEST_P(BlockCacheContract, RefusesBadSizesAndDuplicates) {
  const auto cache = open_cache("8MiB");
  EXPECT_EQ(cache->put({1, 1}, {}, Origin::kRead).reason, Reason::kBadSize);
  EXPECT_EQ(put(*cache, {1, 1}, kMaxBlockBytes + 1).reason, Reason::kBadSize);
  const uint32_t largest_bytes = GetParam().largest_block_bytes;
  EXPECT_TRUE(put(*cache, {1, 1}, largest_bytes).admitted());
  EXPECT_TRUE(put(*cache, {1, 2}, 1).admitted());
  EXPECT_EQ(put(*cache, {1, 1}, 100).reason, Reason::kDuplicate);
  cache->drain();
  EXPECT_TRUE(holds(cache->lookup({1, 1}).pin.bytes(), {1, 1}, largest_bytes));
  EXPECT_TRUE(holds(cache->lookup({1, 2}).pin.bytes(), {1, 2}, 1));
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.refused[static_cast<size_t>(Reason::kBadSize)], 2u);
  EXPECT_EQ(stats.refused[static_cast<size_t>(Reason::kDuplicate)], 1u);
}

TEST_P(BlockCacheContract, ErasedBlocksAreGoneAndCanBePutAnew) {
  const auto cache = open_cache("4MiB");
  put(*cache, {1, 1}, 5000);
  EXPECT_TRUE(cache->erase({1, 1}));
  EXPECT_FALSE(cache->erase({1, 1}));
  EXPECT_FALSE(cache->lookup({1, 1}).hit());
  EXPECT_TRUE(put(*cache, {1, 1}, 6000, 2).admitted());
  EXPECT_TRUE(holds(cache->lookup({1, 1}).pin.bytes(), {1, 1}, 6000, 2));
  EXPECT_EQ(cache->stats().erases, 1u);
}

TEST_P(BlockCacheContract, EraseOfAFileTakesAllItsBlocksAndNoOther) {
  const auto cache = open_cache("8MiB");
  for (uint64_t file = 1; file <= 3; ++file) {
    for (uint64_t i = 0; i < 100; ++i) put(*cache, {file, i}, 4096);
  }
  EXPECT_EQ(test::erase_file(*cache, 2), 100u);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(cache->lookup({1, i}).hit());
    EXPECT_FALSE(cache->lookup({2, i}).hit());
    EXPECT_TRUE(cache->lookup({3, i}).hit());
  }
}

TEST_P(BlockCacheContract, APutWithATokenFromBeforeAnEraseIsRefused) {
  const auto cache = open_cache("4MiB");
  const MissToken stale = cache->lookup({1, 1}).token;
  cache->erase({1, 1});
  EXPECT_EQ(cache->put({1, 1}, make_block({1, 1}, 4096), Origin::kRead, stale).reason,
            Reason::kStaleToken);
  const MissToken old_file = cache->lookup({1, 1}).token;
  test::erase_file(*cache, 1);
  EXPECT_EQ(cache->put({1, 1}, make_block({1, 1}, 4096), Origin::kRead, old_file).reason,
            Reason::kStaleToken);
  const MissToken fresh = cache->lookup({1, 1}).token;
  EXPECT_TRUE(cache->put({1, 1}, make_block({1, 1}, 4096), Origin::kRead, fresh).admitted());
}

// The control of the test above and of the concurrent one below: tokens are what
// keeps a reader's old block out.
TEST_P(BlockCacheContract, ADeadBlockIsErasedAndLeavesTokensAsTheyAre) {
  const auto cache = open_cache("4MiB");
  put(*cache, {1, 1}, 4096);
  const MissToken token = cache->lookup({2, 1}).token;
  for (uint64_t i = 0; i < 10'000; ++i) EXPECT_EQ(cache->erase({1, i}, Gone::kMayReturn), i == 1);
  EXPECT_FALSE(cache->lookup({1, 1}).hit());
  EXPECT_TRUE(cache->put({2, 1}, make_block({2, 1}, 4096), Origin::kRead, token).admitted());
  EXPECT_EQ(cache->stats().erases, 1u);
}

TEST_P(BlockCacheContract, WithoutATokenTheOldBlockIsServed) {
  const auto cache = open_cache("4MiB");
  const std::vector<std::byte> old_block = make_block({1, 1}, 4096, 0);  // read from disk
  cache->erase({1, 1});                                                  // then overwritten there
  EXPECT_TRUE(cache->put({1, 1}, old_block, Origin::kRead).admitted());
  EXPECT_TRUE(holds(cache->lookup({1, 1}).pin.bytes(), {1, 1}, 4096, 0));
}

TEST_P(BlockCacheContract, APinnedBlockKeepsItsBytesWhenItIsErased) {
  const auto cache = open_cache("4MiB");
  put(*cache, {1, 1}, 8192);
  cache->drain();
  Lookup lookup = cache->lookup({1, 1});
  ASSERT_TRUE(lookup.hit());
  EXPECT_TRUE(cache->erase({1, 1}));
  // Enough to overwrite all space that is free.
  for (uint64_t i = 0; i < 600; ++i) put(*cache, {2, i}, 8192);
  cache->drain();
  EXPECT_TRUE(holds(lookup.pin.bytes(), {1, 1}, 8192));
  lookup.pin = Pin();
  EXPECT_FALSE(cache->lookup({1, 1}).hit());
}

TEST_P(BlockCacheContract, NothingIsWrongAfterManyTimesItsSize) {
  const auto cache = open_cache("2MiB");
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    put(*cache, {1, i}, 1024 + (i * 7919) % 16000);
    if (i % 64 == 0) {
      cache->drain();
      if (std::string(GetParam().eviction) == "lfru") {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    const uint64_t back = i - std::min<uint64_t>(i, i % 50);
    const Lookup lookup = cache->lookup({1, back});
    if (!lookup.hit()) continue;
    ++hits;
    ASSERT_TRUE(holds(lookup.pin.bytes(), {1, back}, 1024 + (back * 7919) % 16000));
  }
  EXPECT_GT(hits, 0u);
  const Stats stats = cache->stats();
  EXPECT_LE(stats.used_bytes, 2u << 20);
  EXPECT_EQ(stats.damaged_blocks, 0u);
  EXPECT_EQ(stats.inserts - stats.removals, stats.blocks);
  if (std::string(GetParam().eviction) != "lfru") {
    EXPECT_GT(stats.evictions, 0u);
  }
}

TEST_P(BlockCacheContract, CopiesWhatItHolds) {
  const auto cache = open_cache("1MiB");
  const BlockKey odd{1, 1}, whole{1, 2};
  put(*cache, odd, 5000);
  put(*cache, whole, 8192);
  for (const bool drained : {false, true}) {  // on its way to a device, then there
    if (drained) cache->drain();
    std::vector<std::byte> room(8192 + 4096);
    const size_t to_aligned = 4096 - reinterpret_cast<uintptr_t>(room.data()) % 4096;
    for (const size_t skip : {to_aligned % 4096, size_t{1}}) {
      const MutableBytes into = MutableBytes(room).subspan(skip);
      EXPECT_EQ(cache->lookup(odd, {.copy_into = into.first(5000)}).size_bytes, 5000u);
      EXPECT_TRUE(holds(into.first(5000), odd, 5000));
      EXPECT_EQ(cache->lookup(whole, {.copy_into = into.first(8192)}).size_bytes, 8192u);
      EXPECT_TRUE(holds(into.first(8192), whole, 8192));
    }
    EXPECT_EQ(cache->lookup(odd, {.copy_into = room}).size_bytes, 5000u) << "more room than needed";
  }
  EXPECT_EQ(cache->stats().hits, 10u);
}

// In the queue, or live: at no instant in neither.
TEST_P(BlockCacheContract, ABlockIsFoundAllTheWayToItsMedium) {
  const auto cache = open_cache("4MiB");
  constexpr uint64_t kBlocks = 40;
  std::atomic<bool> drained{false};
  for (uint64_t i = 0; i < kBlocks; ++i) put(*cache, {1, i}, 4096);
  std::thread writer([&] {
    cache->drain();
    drained = true;
  });
  std::vector<std::byte> room(4096);
  uint64_t missed = 0, wrong = 0;
  for (bool last = false; !last;) {
    last = drained;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      const Lookup lookup = cache->lookup({1, i});
      if (!lookup.hit() || !cache->lookup({1, i}, {.copy_into = room}).hit()) {
        ++missed;
      } else {
        wrong += !holds(lookup.pin.bytes(), {1, i}, 4096) || !holds(room, {1, i}, 4096);
      }
    }
  }
  writer.join();
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(wrong, 0u);
}

TEST_P(BlockCacheContract, CopiesNothingWhereThereIsNoRoom) {
  const auto cache = open_cache("1MiB");
  put(*cache, {1, 1}, 5000);
  cache->drain();
  std::vector<std::byte> room(4999, std::byte{7});
  EXPECT_EQ(cache->lookup({1, 1}, {.copy_into = room}).size_bytes, 5000u);
  EXPECT_EQ(std::count(room.begin(), room.end(), std::byte{7}), 4999);
}

TEST_P(BlockCacheContract, ACopyThatMissesGivesAToken) {
  const auto cache = open_cache("1MiB");
  std::vector<std::byte> room(4096);
  const Lookup missed = cache->lookup({1, 1}, {.copy_into = room});
  EXPECT_FALSE(missed.hit());
  cache->erase({1, 1});
  const auto block = make_block({1, 1}, 4096);
  EXPECT_EQ(cache->put({1, 1}, block, Origin::kRead, missed.token).reason, Reason::kStaleToken);
  const Lookup again = cache->lookup({1, 1}, {.copy_into = room});
  EXPECT_TRUE(cache->put({1, 1}, block, Origin::kRead, again.token).admitted());
  EXPECT_EQ(cache->stats().misses, 2u);
}

TEST_P(BlockCacheContract, ContainsWhatALookupWouldFind) {
  const auto cache = open_cache("1MiB");
  EXPECT_FALSE(cache->contains({1, 1}));
  put(*cache, {1, 1}, 4096);
  EXPECT_TRUE(cache->contains({1, 1}));
  cache->erase({1, 1});
  EXPECT_FALSE(cache->contains({1, 1}));
  EXPECT_EQ(cache->stats().hits + cache->stats().misses, 0u);
}

// Readers, writers and erasers on few keys. An overwrite erases, changes the block on
// disk, erases again, and is done: no lookup that begins afterwards may be served an
// older version, and none may be served one that was never on disk.
TEST_P(BlockCacheContract, ConcurrentUseServesOnlyCurrentVersions) {
  const auto cache = open_cache("1MiB");
  constexpr uint64_t kKeys = 64;
  std::vector<std::atomic<uint64_t>> on_disk(kKeys);    // the version that a read brings
  std::vector<std::atomic<uint64_t>> completed(kKeys);  // one less while it is replaced: odd
  std::mutex report_mutex;
  std::string wrong;
  std::atomic<bool> stop{false};
  const auto size_of = [](uint64_t key) { return 512 + key * 700; };
  const auto work = [&](uint64_t seed) {
    Prng random(seed);
    for (int i = 0; i < 3000 && !stop; ++i) {
      const uint64_t key = random.below(kKeys);
      if (random.below(10) == 0) {
        uint64_t now = completed[key].load();
        if (now % 2 != 0 || !completed[key].compare_exchange_strong(now, now + 1)) continue;
        cache->erase({7, key});
        on_disk[key].store(now + 2);
        cache->erase({7, key});
        completed[key].store(now + 2);
        continue;
      }
      const uint64_t oldest = completed[key].load() & ~uint64_t{1};
      const Lookup lookup = cache->lookup({7, key});
      if (!lookup.hit()) {
        cache->put({7, key}, make_block({7, key}, size_of(key), on_disk[key].load()), Origin::kRead,
                   lookup.token);
        continue;
      }
      const uint64_t newest = on_disk[key].load();
      bool known = false;
      for (uint64_t v = oldest; v <= newest && !known; v += 2) {
        known = holds(lookup.pin.bytes(), {7, key}, size_of(key), v);
      }
      if (known) continue;
      const std::lock_guard lock(report_mutex);
      wrong = fmt::format("key {}: versions {} to {} were current", key, oldest, newest);
      for (uint64_t v = 0; v < oldest; v += 2) {
        if (holds(lookup.pin.bytes(), {7, key}, size_of(key), v)) {
          wrong += fmt::format(", version {} was served", v);
        }
      }
      stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, test_seed() + seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, "") << "seeds 1 to 4";
  cache->drain();
  EXPECT_EQ(cache->stats().damaged_blocks, 0u);
}

}  // namespace
}  // namespace nvcache
