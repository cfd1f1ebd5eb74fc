// Places of a medium where a write failed: what a full cache loses by one, and when it is used
// again. On a clock that only the test moves.
#include "block_cache/io/set_aside.h"

#include <memory>
#include <string>
#include <thread>

#include "base/virtual_clock.h"
#include "block_cache/in_place/slab_space.h"
#include "block_cache/region/region_table.h"
#include "support/block_cache_fixture.h"
#include "support/faulty_device.h"

namespace nvcache {
namespace {

using test::FaultyDevice;

constexpr uint64_t kAsideSecondNs = 1'000'000'000;
constexpr Extent kAsideWrite{4096, 4096};

// ---- regions

TEST(RegionSetAside, FreeRegionsAreTakenInTheOrderInWhichTheyBecameFree) {
  RegionTable table({.regions = 4, .limit = 4});
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(table.take_free(), i);
    table.seal(i);
  }
  for (const uint32_t region : {2u, 0u, 3u}) {
    ASSERT_TRUE(table.take_sealed(region));
    table.let_go(region);
  }
  EXPECT_EQ(table.take_free(), 2u);
  EXPECT_EQ(table.take_free(), 0u);
  EXPECT_EQ(table.take_free(), 3u);
  EXPECT_EQ(table.take_free(), std::nullopt);
}

TEST(RegionSetAside, ARegionWhoseWriteFailedIsTriedAfterAMinuteAndIsThenTheLast) {
  RegionTable table({.regions = 4, .limit = 4});
  const uint64_t now_ns = 7;
  ASSERT_EQ(table.take_free(), 0u);
  table.add(0, 5);
  table.give_up(0, kAsideWrite, now_ns);
  table.let_go(0);
  EXPECT_EQ(table.set_aside_regions(), 1u);
  const uint64_t due_ns = now_ns + SetAside::kWaitNs;
  EXPECT_EQ(table.next_try_ns(), due_ns);
  EXPECT_FALSE(table.take_to_try(due_ns)) << "a reader still pins a block of it";
  table.remove(0, 0, 5);
  EXPECT_EQ(table.free_regions(), 3u);
  EXPECT_FALSE(table.take_to_try(due_ns - 1));
  const auto place = table.take_to_try(due_ns);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->failed.offset, kAsideWrite.offset);
  EXPECT_FALSE(table.take_to_try(due_ns)) << "one at a time";
  EXPECT_EQ(table.next_try_ns(), SetAside::kNever);
  table.tried(*place, /*well=*/false, due_ns);
  EXPECT_FALSE(table.take_to_try(due_ns + SetAside::kWaitNs - 1)) << "for another minute";
  const auto again = table.take_to_try(due_ns + SetAside::kWaitNs);
  ASSERT_TRUE(again);
  table.tried(*again, /*well=*/true, due_ns + SetAside::kWaitNs);
  EXPECT_EQ(table.set_aside_regions(), 0u);
  for (const uint32_t region : {1u, 2u, 3u, 0u}) EXPECT_EQ(table.take_free(), region);
}

TEST(RegionSetAside, AQuarterOfTheRegionsIsNot) {
  RegionTable table({.regions = 8, .limit = 8});
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t region = *table.take_free();
    table.give_up(region, kAsideWrite, 0);
    table.let_go(region);
  }
  EXPECT_EQ(table.set_aside_regions(), 6u);
  EXPECT_EQ(table.free_regions(), 2u);
  table.try_all();
  while (const auto place = table.take_to_try(0)) table.tried(*place, /*well=*/true, 0);
  EXPECT_EQ(table.free_regions(), 8u);
}

TEST(RegionSetAside, LimitsMoveOverThem) {
  RegionTable table({.regions = 8, .limit = 8});
  for (uint32_t i = 0; i < 6; ++i) ASSERT_EQ(table.take_free(), i);
  for (const uint32_t region : {1u, 4u, 5u}) {
    table.give_up(region, kAsideWrite, 0);
    table.let_go(region);
  }
  table.try_all();
  const auto first = table.take_to_try(0);
  const auto second = table.take_to_try(0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->first, 4u);
  table.set_limit(3);
  EXPECT_EQ(table.set_aside_regions(), 2u) << "those that are being tried";
  table.tried(*second, /*well=*/false, 0);
  EXPECT_EQ(table.set_aside_regions(), 1u) << "beyond the limit";
  table.tried(*first, /*well=*/false, 0);
  EXPECT_EQ(table.set_aside_regions(), 1u);
  table.set_limit(8);
  EXPECT_EQ(table.free_regions(), 4u) << "4 to 7: what was there is forgotten";
}

TEST(RegionSetAside, AProbeIsOfAFreeRegionIfThereIsOne) {
  using Which = PlacesToTry::Which;
  RegionTable table({.regions = 4, .limit = 4});
  const auto probe_of = [](uint32_t region) { return Extent{region * 100, 10}; };
  const auto next = table.take_to_probe(Which::kNext, probe_of);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->first, 0u);
  EXPECT_EQ(next->failed.offset, 0u);
  EXPECT_EQ(table.free_regions(), 3u) << "nobody else writes to it";
  table.tried(*next, /*well=*/false, 0);
  EXPECT_EQ(table.set_aside_regions(), 1u);
  const auto any = table.take_to_probe(Which::kAny, probe_of);
  ASSERT_TRUE(any);
  EXPECT_NE(any->first, 0u);
  table.tried(*any, /*well=*/true, 0);
  EXPECT_EQ(table.free_regions(), 3u);
  EXPECT_EQ(table.take_free(), any->first) << "it is known to be good";
  while (table.take_free()) {
  }
  EXPECT_FALSE(table.take_to_probe(Which::kNext, probe_of));
  const auto last = table.take_to_probe(Which::kAny, probe_of);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->first, 0u) << "none is free: one that is set aside";
}

// ---- in place

TEST(SlabSetAside, AnExtentThatFailedIsNotHandedOutWhoeverFreesIt) {
  SlabSpace space(1 << 20, 1 << 20, 256);
  const uint64_t first = *space.allocate(4096);
  space.set_aside({space.to_bytes(first), 4096}, 0);
  space.release(first, 4096);
  EXPECT_EQ(space.set_aside_bytes(), 4096u);
  EXPECT_EQ(*space.allocate(4096), first + 16);
  EXPECT_EQ(space.used_bytes(), 4096u);
  EXPECT_FALSE(space.take_to_try(SetAside::kWaitNs - 1));
  const auto place = space.take_to_try(SetAside::kWaitNs);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->failed.offset, 0u);
  EXPECT_EQ(place->failed.size_bytes, 4096u);
  space.tried(*place, /*well=*/true, 0);
  EXPECT_EQ(space.set_aside_bytes(), 0u);
  EXPECT_EQ(*space.allocate(4096), first);
}

TEST(SlabSetAside, AnAreaGrowsBySixteenAndIsTrimmedWhenItFailsAgain) {
  SlabSpace space(64 << 20, 64 << 20, 256);
  uint64_t tries = 0;
  uint64_t last_bad = 0;
  // The first 8 MiB are bad.
  for (;; ++tries) {
    const uint64_t at = *space.allocate(4096);
    const uint64_t offset = space.to_bytes(at);
    if (offset >= 8 << 20) break;
    last_bad = offset;
    space.set_aside({offset, 4096}, 0);
    EXPECT_TRUE(space.is_set_aside({offset, 4096}));
    space.release(at, 4096);
  }
  EXPECT_LE(tries, 5u) << "not 2048";
  EXPECT_LE(space.set_aside_bytes(), 32u << 20);
  EXPECT_TRUE(space.is_set_aside({last_bad + 4096, 4096}));
  EXPECT_FALSE(space.is_set_aside({63 << 20, 4096}));
  // A place that is known to be bad stays set aside, however often it is tried.
  uint64_t now_ns = 0;
  for (int i = 0; i < 3; ++i) {
    now_ns += SetAside::kWaitNs;
    const auto place = space.take_to_try(now_ns);
    ASSERT_TRUE(place);
    space.tried(*place, /*well=*/false, now_ns);
    ASSERT_EQ(space.set_aside_bytes(), last_bad + 4096);
  }
  const uint64_t at = *space.allocate(4096);
  EXPECT_EQ(space.to_bytes(at), last_bad + 4096);
  // From there it grows as at first.
  space.set_aside({last_bad + 4096, 4096}, now_ns);
  EXPECT_EQ(space.set_aside_bytes(), last_bad + 2 * 4096 + 16 * 4096);
}

TEST(SlabSetAside, AnEighthOfTheSpaceIsNot) {
  SlabSpace space(1 << 20, 1 << 20, 256);
  for (int i = 0; i < 100; ++i) {
    const auto at = space.allocate(4096);
    ASSERT_TRUE(at) << i;
    space.set_aside({space.to_bytes(*at), 4096}, 0);
    space.release(*at, 4096);
  }
  EXPECT_LE(space.set_aside_bytes(), (1u << 20) - (1 << 17));
  EXPECT_GE(space.set_aside_bytes(), 1u << 19);
}

TEST(SlabSetAside, BadExtentsAllOverNeedNoMoreThanSoManyAreas) {
  SlabSpace space(64 << 20, 64 << 20, 256);
  std::vector<uint64_t> taken;
  while (const auto at = space.allocate(4096)) taken.push_back(*at);
  ASSERT_EQ(taken.size(), 16'384u);
  for (size_t i = 0; i < taken.size(); i += 20) {
    space.set_aside({space.to_bytes(taken[i]), 4096}, 0);
    space.release(taken[i], 4096);
  }
  EXPECT_LE(space.set_aside_bytes(), 56u << 20);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (i % 20 != 0) space.release(taken[i], 4096);
  }
  space.try_all();
  int areas = 0;
  while (const auto place = space.take_to_try(0)) {
    space.tried(*place, /*well=*/true, 0);
    ++areas;
  }
  EXPECT_LE(areas, 256);
  EXPECT_EQ(space.set_aside_bytes(), 0u);
  EXPECT_EQ(space.used_bytes(), 0u);
  EXPECT_EQ(space.allocate(64 << 20), 0u) << "all of it is one run again";
}

// ---- a full cache

struct FullCache {
  const char* name;
  const char* spec;
  FaultyDevice::Kind kind;
  uint64_t set_aside_bytes;  // by one bad page
  uint64_t most_lost;        // blocks
};
void PrintTo(const FullCache& cache, std::ostream* out) { *out << cache.name; }

class SetAsideInFullCache : public testing::TestWithParam<FullCache> {
 protected:
  static constexpr size_t kBlockBytes = 16 << 10;
  static constexpr uint64_t kBlocks = 512;  // what the cache holds, about

  void SetUp() override {
    auto device = std::make_unique<FaultyDevice>(9 << 20, GetParam().kind, clock_);
    device_ = device.get();
    cache_ = test::make_on(
        std::string("nvcache://?size=9MiB&admission=always&eviction=fifo&maintenance=0&shards=1") +
            GetParam().spec,
        std::move(device), clock_);
    put(2 * kBlocks);
    cache_->drain();
  }
  void put(uint64_t count) {
    for (const uint64_t end = next_ + count; next_ < end; ++next_) {
      Reason reason = Reason::kNoSpace;
      while (reason == Reason::kNoSpace || reason == Reason::kWriteQueueFull) {
        reason = test::put(*cache_, {1, next_}, kBlockBytes).reason;
        if (reason != Reason::kAdmitted) std::this_thread::yield();
      }
      refused_ += reason == Reason::kAdmitted ? 0 : 1;
    }
  }
  void pass(uint64_t ns) { clock_.wait_until_ns(clock_.now_ns() + ns); }
  uint64_t lost() const { return cache_->stats().failed_blocks; }
  // Until the cache's own thread has looked.
  template <typename Holds>
  void wait_until(Holds&& holds) {
    while (!holds()) std::this_thread::yield();
  }

  VirtualClock clock_;
  FaultyDevice* device_ = nullptr;
  std::unique_ptr<BlockCacheImpl> cache_;
  uint64_t next_ = 0;
  uint64_t refused_ = 0;
};

TEST_P(SetAsideInFullCache, OneBadPageCostsItsBlocksOnce) {
  device_->set({{.where = {(4 << 20) + 8192, 4096}}});
  put(20 * kBlocks);
  cache_->drain();
  const Stats stats = cache_->stats();
  EXPECT_GT(lost(), 0u) << "it was met";
  ASSERT_LE(lost(), GetParam().most_lost) << "in twenty rounds";
  EXPECT_LE(refused_, lost()) << "the put that met it may be told";
  EXPECT_EQ(stats.failed, 0u);
  EXPECT_EQ(stats.set_aside_bytes, GetParam().set_aside_bytes);
  EXPECT_EQ(stats.blocks, stats.inserts - stats.removals) << stats.to_json();

  // While it is bad it stays aside, and costs a write a minute.
  const uint64_t errors = stats.medium_errors;
  const uint64_t lost_before = lost();
  for (uint64_t minute = 1; minute <= 20; ++minute) {
    pass(60 * kAsideSecondNs);
    put(kBlocks);
    cache_->drain();
    wait_until([&] { return cache_->stats().medium_errors >= errors + minute; });
  }
  EXPECT_EQ(cache_->stats().medium_errors, errors + 20);
  EXPECT_EQ(lost(), lost_before) << "no block is risked";
  EXPECT_EQ(cache_->stats().failed, 0u) << "what is known to be bad says nothing of the rest";

  device_->heal();
  pass(60 * kAsideSecondNs);
  put(1);
  cache_->drain();
  wait_until([&] { return cache_->stats().set_aside_bytes == 0; });
  put(2 * kBlocks);
  cache_->drain();
  EXPECT_EQ(lost(), lost_before);
  const Stats after = cache_->stats();
  EXPECT_EQ(after.blocks, after.inserts - after.removals) << after.to_json();
}

INSTANTIATE_TEST_SUITE_P(Layouts, SetAsideInFullCache,
                         testing::Values(FullCache{"MemoryInPlace", "&space=in_place",
                                                   FaultyDevice::Kind::kMemory, 16 << 10, 1},
                                         FullCache{"DeviceInPlace", "&space=in_place",
                                                   FaultyDevice::Kind::kDevice, 16 << 10, 1},
                                         FullCache{"DeviceInRegions",
                                                   "&space=regions&region=256KiB",
                                                   FaultyDevice::Kind::kDevice, 256 << 10, 16}),
                         [](const auto& cache) { return cache.param.name; });

}  // namespace
}  // namespace nvcache
