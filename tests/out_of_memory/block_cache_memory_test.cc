// Every allocation of every operation fails once: through the C++ interface and the C API. No
// exception leaves them, no slot leaks (a put of the same key succeeds afterwards), nothing hangs,
// and the cache works as before.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "nvcache/nvcache.h"
#include "out_of_memory/sweep.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

using test::Allocations;
using test::holds;
using test::make_block;
using test::put;
using test::sweep;

// Media and policies: those that hold no memory, and those that do.
constexpr const char* kSpecs[] = {
    "size=256KiB&shards=1&maintenance=0&admission=always&eviction=clock",
    "size=256KiB&shards=1&maintenance=0&admission=always&eviction=lru&verify=always",
    "size=256KiB&shards=1&maintenance=0&admission=always&eviction=s3fifo",
    "size=256KiB&shards=1&maintenance=0&admission=obp(100)+second_touch&eviction=tinylfu",
    "size=256KiB&shards=1&maintenance=0&admission=always&eviction=auto",
    "size=256KiB&shards=1&maintenance=0&admission=always&eviction=lfru",
    "size=1MiB&shards=1&maintenance=0&admission=always&eviction=clock&medium=file:FILE",
    "size=1MiB&shards=1&maintenance=0&admission=always&eviction=lru&medium=file:FILE,io=direct",
    "size=2MiB&shards=1&maintenance=0&admission=always&eviction=clock&space=regions&region=64KiB"
    "&medium=file:FILE",
};

class OutOfMemory : public testing::TestWithParam<const char*> {
 protected:
  std::string spec() const {
    std::string spec = std::string("nvcache://?") + GetParam();
    if (const size_t at = spec.find("FILE"); at != std::string::npos) {
      spec.replace(at, 4, folder_.file("blocks"));
    }
    return spec;
  }
  // A put of each key, also where the first touch is refused, or lfru must make room first.
  static void expect_put(BlockCache& cache, const BlockKey& key) {
    cache.erase({9, 9});
    for (int touch = 0; touch < 4 && !cache.contains(key); ++touch) put(cache, key, 4096);
    EXPECT_TRUE(cache.contains(key));
    cache.drain();
    const Lookup lookup = cache.lookup(key);
    ASSERT_TRUE(lookup.hit());
    EXPECT_TRUE(holds(lookup.pin.bytes(), key, 4096));
  }

  TempDir folder_;
};

INSTANTIATE_TEST_SUITE_P(Caches, OutOfMemory, testing::ValuesIn(kSpecs));

TEST_P(OutOfMemory, OpeningIsAStatus) {
  const std::string text = spec();
  const uint64_t failed = sweep(
      Allocations::kOfThisThread,
      [&] {
        const auto cache = open_block_cache(text);
        if (!cache.ok()) {
          EXPECT_EQ(cache.status().code(), StatusCode::kResourceExhausted) << cache.status();
        }
      },
      [] {});
  EXPECT_GT(failed, 10u);
  EXPECT_NE(test::open(text), nullptr);
}

// An opening that fails changes nothing: what mutable keys left there comes back at the next one.
TEST(OutOfMemoryWarm, AnOpeningThatFailsLeavesWhatIsThere) {
  const TempDir folder;
  const std::string text =
      "nvcache://?size=2MiB&shards=1&maintenance=0&admission=always&eviction=clock&space=regions"
      "&region=64KiB&restart=warm&medium=file:" +
      folder.file("blocks");
  {
    const auto cache = test::open(text);
    for (uint64_t i = 0; i < 100; ++i) put(*cache, {1, i}, 2000);
  }
  StatusOr<std::unique_ptr<BlockCache>> opened;
  uint64_t refused = 0;
  sweep(
      Allocations::kOfThisThread, [&] { opened = open_block_cache(text); },
      [&] {
        refused += opened.ok() ? 0 : 1;
        opened = unknown_error("");  // closes it, with memory
        const auto cache = test::open(text);
        while (cache->stats().recovering != 0) std::this_thread::yield();
        EXPECT_EQ(cache->stats().recovered_blocks, 100u);
      });
  EXPECT_GT(refused, 10u);
}

// Also where it is copied from a device.
TEST_P(OutOfMemory, AHitAllocatesNothing) {
  const auto cache = test::open(spec());
  const BlockKey key{1, 1};
  expect_put(*cache, key);
  for (const int lookups : {10, 100}) {
    const uint64_t before_bytes = test::allocated_bytes();
    for (int i = 0; i < lookups; ++i) ASSERT_TRUE(cache->lookup(key).hit());
    if (lookups == 100) {
      EXPECT_EQ(test::allocated_bytes(), before_bytes);
    }
  }
}

TEST_P(OutOfMemory, APutLeavesNoSlotBehind) {
  for (const Allocations whose : {Allocations::kOfThisThread, Allocations::kOfAllThreads}) {
    const auto cache = test::open(spec());
    const BlockKey key{1, 1};
    const std::vector<std::byte> block = make_block(key, 4096);
    sweep(
        whose,
        [&] {
          cache->put(key, block, Origin::kRead);
          cache->put(key, block, Origin::kRead);  // the second touch
          cache->drain();
        },
        [&] {
          expect_put(*cache, key);
          cache->erase(key);
          EXPECT_EQ(cache->stats().blocks, 0u);
          EXPECT_EQ(cache->stats().used_bytes, 0u);
        });
  }
}

// Lookups of written blocks, and of blocks in the queue.
TEST_P(OutOfMemory, ALookupIsAMissAndRemovesNothing) {
  for (const bool copies : {false, true}) {
    const auto cache = test::open(spec());
    const BlockKey key{1, 1};
    expect_put(*cache, key);
    std::vector<std::byte> room(4096 + 1);
    const MutableBytes unaligned = MutableBytes(room).subspan(1, 4096);
    sweep(
        Allocations::kOfThisThread,
        [&] {
          (void)cache->lookup(
              key, {.copy_into = copies ? std::optional<MutableBytes>(unaligned) : std::nullopt});
        },
        [&] {
          EXPECT_TRUE(cache->lookup(key).hit());
          EXPECT_EQ(cache->stats().removals, 0u);
        });
  }
}

TEST_P(OutOfMemory, EvictionGoesOn) {
  const auto cache = test::open(spec());
  for (uint64_t i = 0; i < 200; ++i) {
    put(*cache, {1, i}, 4096);
    put(*cache, {1, i}, 4096);
    cache->drain();
  }
  uint64_t next = 1000;
  const std::vector<std::byte> block = make_block({1, 1}, 4096);
  sweep(
      Allocations::kOfThisThread,
      [&] {
        for (int i = 0; i < 20; ++i) cache->put({2, next++}, block, Origin::kRead);
      },
      [&] {
        cache->drain();
        const Stats stats = cache->stats();
        EXPECT_LE(stats.blocks * 4096, stats.used_bytes);
        EXPECT_EQ(stats.used_bytes, stats.blocks * 4096) << "space without a block";
      });
}

TEST_P(OutOfMemory, RemovalAndResizeNeedNone) {
  const auto cache = test::open(spec() + "&max_size=4MiB");
  sweep(
      Allocations::kOfThisThread,
      [&] {
        cache->erase({1, 1});
        const uint64_t file = 1;
        (void)cache->erase(Blocks{.files = {&file, 1}});
        cache->set_dataset_size(1 << 20);
        (void)cache->contains({1, 2});
        (void)cache->resize(0);
        (void)cache->resize(128 << 10);
        (void)cache->resize(2 << 20);
      },
      [&] {
        ASSERT_TRUE(cache->resize(3 << 19).ok());
        expect_put(*cache, {1, 1});
      });
}

TEST_P(OutOfMemory, TheCApiThrowsNothing) {
  const std::string text = spec();
  const nvcache_key_t key{1, 1};
  const std::vector<std::byte> block = make_block({1, 1}, 4096);
  sweep(
      Allocations::kOfThisThread,
      [&] {
        nvcache_t* cache = nullptr;
        char* error = nullptr;
        if (nvcache_open(text.c_str(), &cache, &error) != NVCACHE_OK) {
          EXPECT_EQ(cache, nullptr);
          EXPECT_NE(error, nullptr);
          nvcache_free(error);
        }
        if (cache == nullptr) return;
        nvcache_put(cache, key, block.data(), block.size(), NVCACHE_READ);
        nvcache_put(cache, key, block.data(), block.size(), NVCACHE_READ);
        nvcache_pin_t pin{};
        if (nvcache_get(cache, key, &pin) == 1) nvcache_unpin(&pin);
        nvcache_put_after_miss(cache, {1, 2}, block.data(), block.size(), NVCACHE_READ, &pin);
        static std::byte copy[4096];
        nvcache_get_copy(cache, key, copy, sizeof copy);
        nvcache_free(nvcache_stats_json(cache));
        nvcache_free(nvcache_stats_prometheus(cache));
        nvcache_resize(cache, 0);
        nvcache_resize(cache, 128 << 10);
        nvcache_erase(cache, key);
        const uint64_t file = 1;
        nvcache_erase_blocks(cache, &key, 1, &file, 1, NVCACHE_FOR_GOOD, nullptr);
        nvcache_drain(cache);
        nvcache_close(cache);
      },
      [] {});
}

// The write queue's thread finds no memory while the medium fails: the status of a file that was
// cut short needs some. Nothing hangs, and the key can be put again.
TEST(OutOfMemoryOnDevice, AFailedWriteWithoutMemoryEnds) {
  const TempDir folder;
  const std::string path = folder.file("blocks");
  const auto cache = test::open("nvcache://?size=1MiB&shards=1&maintenance=0&admission=always&" +
                                ("eviction=clock&medium=file:" + path) + ",io=direct");
  const BlockKey key{1, 1};
  const std::vector<std::byte> block = make_block(key, 4096);
  const uint64_t failed = sweep(
      Allocations::kOfAllThreads,
      [&] {
        ASSERT_EQ(truncate(path.c_str(), 0), 0);
        cache->put(key, block, Origin::kRead);
        cache->drain();
      },
      [&] {
        ASSERT_EQ(truncate(path.c_str(), 1 << 20), 0);
        EXPECT_TRUE(put(*cache, key, 4096).admitted());
        cache->drain();
        EXPECT_TRUE(cache->lookup(key).hit());
        cache->erase(key);
      });
  EXPECT_GT(failed, 3u);
}

// As under `ulimit -v`: in a process of its own, which ends with 0 if all is as it must be.
TEST(OutOfMemoryOnDevice, AddressSpaceThatIsRefusedIsAStatus) {
  const TempDir folder;
  // The file is sparse and not mapped: what finds no address space is the metadata.
  const std::string spec =
      "nvcache://?size=1MiB&max_size=16GiB&medium=file:" + folder.file("blocks");
  const auto open_limited = [&spec] {
    const rlimit tight{.rlim_cur = 256 << 20, .rlim_max = 256 << 20};
    if (setrlimit(RLIMIT_AS, &tight) != 0) std::_Exit(2);
    nvcache_t* cache = nullptr;
    char* error = nullptr;
    const nvcache_status_t status = nvcache_open(spec.c_str(), &cache, &error);
    const bool large = status == NVCACHE_NO_RESOURCES && error != nullptr;
    const bool small = nvcache_open("nvcache://?size=1MiB", &cache, nullptr) == NVCACHE_OK;
    std::_Exit(large && small ? 0 : 1);
  };
  EXPECT_EXIT(open_limited(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nvcache
