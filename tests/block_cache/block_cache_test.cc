// The block cache beyond its contract: metadata, damage, failing media, policies at work.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "medium/dram.h"
#include "nlohmann/json.hpp"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"

namespace nvcache {
namespace {

using test::holds;
using test::make_block;
using test::put;

uint64_t refused(const BlockCache& cache, Reason reason) {
  return cache.stats().refused[static_cast<size_t>(reason)];
}

TEST(BlockCache, AMixOf4To128KiBFillsTheMediumBeforeTheFirstEviction) {
  const auto cache = test::open("nvcache://?size=64MiB&admission=always&eviction=clock");
  Prng random(11);
  uint64_t filled_bytes = 0;
  for (uint64_t i = 0; cache->stats().evictions == 0; ++i) {
    filled_bytes = cache->stats().data_bytes;
    put(*cache, {1, i}, 4096 + random.below(124 << 10));
  }
  EXPECT_GE(static_cast<double>(filled_bytes) / (64 << 20), 0.97) << "seed 11";
}

TEST(BlockCache, RemovingBlocksWritesNothing) {
  const auto cache = test::open("nvcache://?size=4MiB&admission=always&eviction=clock");
  for (uint64_t i = 0; i < 500; ++i) put(*cache, {1, i}, 4096);
  const uint64_t written = cache->stats().medium_written_bytes;
  for (uint64_t i = 0; i < 250; ++i) cache->erase({1, i});
  test::erase_file(*cache, 1);
  EXPECT_EQ(cache->stats().blocks, 0u);
  EXPECT_EQ(cache->stats().medium_written_bytes, written);
}

// Without that, the block of before the erase could come back with the token of after it.
// ThreadSanitizer checks it: the lookup takes no lock, so the token alone orders the two.
TEST(BlockCache, WhoGetsTheTokenOfAfterAnEraseSeesWhatTheEngineWroteBeforeIt) {
  const auto cache = test::open("nvcache://?size=4MiB&admission=always&eviction=clock");
  const BlockKey key{1, 1};
  const uint32_t before = cache->lookup(key).token.generation;
  uint64_t storage = 0;
  std::thread engine([&] {
    storage = 1;
    cache->erase(key);
  });
  while (cache->lookup(key).token.generation == before) std::this_thread::yield();
  EXPECT_EQ(storage, 1u);
  engine.join();
}

TEST(BlockCache, FlippedBytesAreACountedMiss) {
  for (const char* io : {"mmap", "direct"}) {
    SCOPED_TRACE(io);
    TempDir folder;
    const std::string path = folder.file("blocks");
    const auto cache = test::open("nvcache://?size=4MiB&medium=file:" + path + ",io=" + io +
                                  "&admission=always&eviction=clock");
    for (uint64_t i = 0; i < 100; ++i) put(*cache, {1, i}, 4096);
    cache->drain();
    const int fd = ::open(path.c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    const std::vector<char> noise(4096, 'x');
    for (off_t at = 0; at < (200 << 10); at += 4096) {
      ASSERT_EQ(pwrite(fd, noise.data(), 100, at + 1000), 100);
    }
    fsync(fd);
    close(fd);
    uint64_t misses = 0;
    for (uint64_t i = 0; i < 100; i += 2) {
      std::vector<std::byte> copy(4096);
      if (!cache->lookup({1, i}, {.copy_into = copy}).hit())
        ++misses;
      else
        EXPECT_TRUE(holds(copy, {1, i}, 4096));
    }
    for (uint64_t i = 1; i < 100; i += 2) {
      const Lookup lookup = cache->lookup({1, i});
      if (!lookup.hit())
        ++misses;
      else
        EXPECT_TRUE(holds(lookup.pin.bytes(), {1, i}, 4096));
    }
    EXPECT_GE(misses, 40u);
    EXPECT_EQ(cache->stats().damaged_blocks, misses);
    // A damaged block is gone: it can be put anew.
    EXPECT_EQ(cache->stats().blocks, 100 - misses);
  }
}

// Cut short at any moment of a read: a miss, and no signal.
TEST(BlockCache, AFileCutShortWhileItIsReadIsAMiss) {
  constexpr uint64_t kBlocks = 30;
  constexpr uint32_t kCutBytes = 60'000;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    TempDir folder;
    const std::string path = folder.file("blocks");
    const auto cache =
        test::open("nvcache://?size=4MiB&medium=file:" + path +
                   (round % 2 == 0 ? ",io=mmap" : ",io=direct") + "&admission=always");
    for (uint64_t i = 0; i < kBlocks; ++i) put(*cache, {1, i}, kCutBytes);
    cache->drain();
    std::atomic<uint64_t> wrong{0}, hits{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> readers;
    readers.emplace_back([&] {
      for (uint64_t i = 0; !stop; ++i) {
        const Lookup lookup = cache->lookup({1, i % kBlocks});
        if (!lookup.hit()) continue;
        ++hits;
        wrong += !holds(lookup.pin.bytes(), {1, i % kBlocks}, kCutBytes);
      }
    });
    readers.emplace_back([&] {
      std::vector<std::byte> room(kCutBytes);
      for (uint64_t i = 0; !stop; ++i) {
        if (!cache->lookup({1, i % kBlocks}, {.copy_into = room}).hit()) continue;
        ++hits;
        wrong += !holds(room, {1, i % kBlocks}, kCutBytes);
      }
    });
    while (hits < 20) std::this_thread::yield();
    std::filesystem::resize_file(path, 0);
    std::filesystem::resize_file(path, 4 << 20);
    while (cache->stats().misses == 0) std::this_thread::yield();
    stop = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(BlockCache, WithoutVerificationTheSameDamageIsServed) {  // the control of the test above
  TempDir folder;
  const std::string path = folder.file("blocks");
  const auto cache = test::open("nvcache://?size=4MiB&medium=file:" + path +
                                "&admission=always&eviction=clock&verify=never");
  put(*cache, {1, 1}, 4096);
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(pwrite(fd, "damage", 6, 100), 6);
  close(fd);
  const Lookup lookup = cache->lookup({1, 1});
  ASSERT_TRUE(lookup.hit());
  EXPECT_FALSE(holds(lookup.pin.bytes(), {1, 1}, 4096));
}

TEST(BlockCache, OverheadGatesAdmissionAndThawsWithLookups) {
  const auto cache =
      test::open("nvcache://?size=4MiB&admission=obp(0.1)&eviction=clock&maintenance=0");
  EXPECT_TRUE(put(*cache, {1, 0}, 4096).admitted()) << "an empty cache can start";
  for (uint64_t i = 1; i < 100; ++i) {
    EXPECT_EQ(put(*cache, {1, i}, 4096).reason, Reason::kOverhead) << "a write burst is kept out";
  }
  for (uint64_t i = 0; i < 1000; ++i) cache->lookup({1, 500 + i});
  uint64_t admitted = 0;
  for (uint64_t i = 1; i < 500; ++i) admitted += put(*cache, {1, i}, 4096).admitted() ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(admitted), 100, 2);
  EXPECT_NEAR(cache->stats().overhead_ratio, 0.1, 0.005);
}

TEST(BlockCache, AnAdmissionIsCommittedWithTheBytes) {
  const auto cache = test::open("nvcache://?size=1MiB&admission=second_touch&eviction=lru");
  const std::vector<std::byte> block(4096, std::byte{7});
  const BlockKey key{1, 8};
  const auto admit = [&](const BlockKey& of, uint64_t size_bytes, MissToken token = {}) {
    return cache->admit(of, size_bytes, Origin::kRead, token);
  };
  Admission first = admit(key, block.size());
  EXPECT_EQ(first.verdict().reason, Reason::kFirstTouch);
  EXPECT_EQ(std::move(first).commit(block).reason, Reason::kFirstTouch) << "the same answer again";
  EXPECT_EQ(refused(*cache, Reason::kFirstTouch), 1u);
  Admission second = admit(key, block.size());
  ASSERT_TRUE(second.admitted());
  EXPECT_FALSE(cache->contains(key)) << "admitted, but not committed";
  EXPECT_TRUE(std::move(second).commit(block).admitted());
  EXPECT_TRUE(cache->lookup(key).hit());
  EXPECT_EQ(admit(key, block.size()).verdict().reason, Reason::kDuplicate);
  EXPECT_EQ(refused(*cache, Reason::kDuplicate), 1u);
  EXPECT_EQ(admit(key, 0).verdict().reason, Reason::kBadSize);

  const BlockKey late{1, 9};
  const MissToken token = cache->lookup(late).token;
  EXPECT_FALSE(admit(late, block.size()).admitted());
  Admission stale = admit(late, block.size(), token);
  ASSERT_TRUE(stale.admitted());
  cache->erase(late);
  EXPECT_EQ(std::move(stale).commit(block).reason, Reason::kStaleToken);
  Admission other_size = admit(late, block.size());
  ASSERT_TRUE(other_size.admitted());
  EXPECT_EQ(std::move(other_size).commit(ByteView(block).first(100)).reason, Reason::kBadSize);
  EXPECT_FALSE(cache->contains(late));
}

TEST(BlockCache, OfTwoAdmissionsOfABlockOneIsCommitted) {
  const auto cache = test::open("nvcache://?size=1MiB");
  const std::vector<std::byte> block(4096, std::byte{7});
  Admission first = cache->admit({1, 8}, block.size(), Origin::kRead);
  Admission second = cache->admit({1, 8}, block.size(), Origin::kRead);
  EXPECT_TRUE(std::move(second).commit(block).admitted());
  EXPECT_EQ(std::move(first).commit(block).reason, Reason::kDuplicate);
  EXPECT_EQ(cache->stats().blocks, 1u);
}

TEST(BlockCache, BackgroundLookupsStayOutOfTheOverheadRatioAndTheHitRatio) {
  const auto cache = test::open("nvcache://?size=4MiB&admission=obp(0.1)&eviction=clock");
  put(*cache, {1, 0}, 4096);
  for (uint64_t i = 0; i < 100'000; ++i) cache->lookup({9, i}, {.caller = Caller::kBackground});
  EXPECT_EQ(put(*cache, {1, 1}, 4096).reason, Reason::kOverhead);
  cache->lookup({1, 0});
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.hit_ratio(), 1.0);
  EXPECT_EQ(stats.background_misses, 100'000u);
  EXPECT_EQ(stats.misses, 100'000u);
}

TEST(BlockCache, WithoutEvictionAFullCacheRefuses) {
  const auto cache = test::open("nvcache://?size=1MiB&admission=always&eviction=none");
  uint64_t admitted = 0;
  for (uint64_t i = 0; i < 1000; ++i) admitted += put(*cache, {1, i}, 4096).admitted() ? 1 : 0;
  EXPECT_EQ(admitted, 256u);
  EXPECT_EQ(refused(*cache, Reason::kNoSpace), 744u);
  EXPECT_EQ(cache->stats().evictions, 0u);
}

TEST(BlockCache, LfruEvictsInItsPassesOnly) {
  const StatusOr<Config> config =
      parse_config("nvcache://?size=1MiB&admission=always&eviction=lfru(1)&maintenance=0&shards=1");
  VirtualClock clock;
  StatusOr<std::unique_ptr<Medium>> medium =
      open_medium("dram", {.size_bytes = 1 << 20, .max_size_bytes = 1 << 20}, clock);
  ASSERT_TRUE(medium.ok());
  StatusOr<std::unique_ptr<BlockCacheImpl>> made =
      BlockCacheImpl::make(*config, *std::move(medium), clock);
  ASSERT_TRUE(made.ok());
  BlockCacheImpl& cache = **made;
  for (uint64_t i = 0; i < 256; ++i) ASSERT_TRUE(put(cache, {1, i}, 4096).admitted());
  EXPECT_EQ(put(cache, {1, 999}, 4096).reason, Reason::kNoSpace);
  for (int pass = 0; pass < 40; ++pass) {
    clock.wait_until_ns(clock.now_ns() + 100'000'000);
    for (uint64_t i = 0; i < 64; ++i) cache.lookup({1, i});  // in use: none of them may go
    cache.maintain();
  }
  EXPECT_LE(cache.stats().used_bytes, 95u * (1 << 20) / 100);
  EXPECT_TRUE(put(cache, {1, 999}, 4096).admitted());
  for (uint64_t i = 0; i < 64; ++i) EXPECT_TRUE(cache.lookup({1, i}).hit()) << i;
}

TEST(BlockCache, LfruStopsUnderOverhead) {
  VirtualClock clock;
  auto medium = open_medium("dram", {.size_bytes = 1 << 20, .max_size_bytes = 1 << 20}, clock);
  ASSERT_TRUE(medium.ok());
  const auto cache =
      test::make_on("nvcache://?size=1MiB&admission=obp(0.1)&eviction=lfru(1)&maintenance=0",
                    *std::move(medium), clock);
  for (uint64_t i = 0; i < 256; ++i) {
    for (int n = 0; n < 10; ++n) cache->lookup({1, i});
    put(*cache, {1, i}, 4096);
  }
  ASSERT_GT(cache->stats().blocks, 250u);
  for (int pass = 0; pass < 40; ++pass) {
    clock.wait_until_ns(clock.now_ns() + 1'000'000'000);
    cache->maintain();
  }
  // Evicting raises the ratio: it stops at the target, before there is room.
  const uint64_t evicted = cache->stats().evictions;
  EXPECT_LE(evicted, 5u);
  for (int n = 0; n < 10'000; ++n) cache->lookup({1, 1});
  cache->maintain();
  EXPECT_GT(cache->stats().evictions, evicted) << "lookups let it go on";
}

TEST(BlockCache, AFailingMediumIsSwitchedOffAndNeverAnError) {
  auto inner =
      open_medium("dram", {.size_bytes = 4 << 20, .max_size_bytes = 4 << 20}, system_clock());
  ASSERT_TRUE(inner.ok());
  auto failing = std::make_unique<FailingMedium>(*std::move(inner));
  FailingMedium* medium = failing.get();
  const auto cache =
      test::make_on("nvcache://?size=4MiB&admission=always&eviction=clock", std::move(failing));
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(put(*cache, {1, i}, 4096).admitted());
  medium->fail_writes(unavailable_error("EIO"));
  EXPECT_EQ(put(*cache, {2, 1}, 4096).reason, Reason::kMediumFailed);
  EXPECT_FALSE(cache->lookup({2, 1}).hit());
  EXPECT_EQ(cache->stats().failed, 0u) << "one error is not the end";
  for (uint64_t i = 2; i < 40; ++i) put(*cache, {2, i}, 4096);
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.failed, 1u);
  EXPECT_GE(stats.medium_errors, 16u);
  EXPECT_GT(stats.refused[static_cast<size_t>(Reason::kMediumFailed)], 0u);
  EXPECT_EQ(stats.medium_errors, 16u) << "no write is asked of it when it is off";
  EXPECT_TRUE(cache->lookup({1, 1}).hit()) << "what can be read is served";
}

TEST(BlockCache, StatsAgreeInJsonAndPrometheus) {
  const auto cache = test::open("nvcache://?size=1MiB&admission=obp(0.1)&eviction=clock");
  put(*cache, {1, 1}, 4096);
  put(*cache, {1, 2}, 4096);
  cache->lookup({1, 1});
  const Stats stats = cache->stats();
  const nlohmann::json json = nlohmann::json::parse(stats.to_json());
  EXPECT_EQ(json["hits"], 1);
  EXPECT_EQ(json["refused"]["overhead"], 1);
  EXPECT_EQ(json["medium"], "dram");
  const std::string text = stats.to_prometheus();
  EXPECT_THAT(text, testing::HasSubstr("nvcache_hits_total 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("nvcache_refused_total{reason=\"overhead\"} 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("# TYPE nvcache_blocks gauge\n"));
}

TEST(BlockCache, NoRefusalOfManyThreadsGoesUncounted) {
  const auto cache = test::open("nvcache://?size=1MiB&admission=always&eviction=clock");
  put(*cache, {1, 1}, 4096);
  constexpr uint64_t kThreads = 80, kOffers = 100;  // more threads than counters have stripes
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t n = 0; n < kOffers; ++n) {
        cache->put({1, 1}, ByteView(), Origin::kRead);
        put(*cache, {1, 1}, 4096);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused(*cache, Reason::kBadSize), kThreads * kOffers);
  EXPECT_EQ(refused(*cache, Reason::kDuplicate), kThreads * kOffers);
}

TEST(BlockCache, OnePolicyOrderUnderOneShard) {
  const auto cache = test::open("nvcache://?size=64KiB&admission=always&eviction=lru&shards=1");
  for (uint64_t i = 0; i < 16; ++i) put(*cache, {1, i}, 4096);
  cache->lookup({1, 0});
  put(*cache, {1, 16}, 4096);  // evicts 1, the least recently used
  EXPECT_TRUE(cache->lookup({1, 0}).hit());
  EXPECT_FALSE(cache->lookup({1, 1}).hit());
  EXPECT_TRUE(cache->lookup({1, 2}).hit());
}

}  // namespace
}  // namespace nvcache
