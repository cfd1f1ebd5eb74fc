// How long an engine's own reads take, by its misses and insertions, and what the tiers make of it.
#include "tiered_cache/miss_timer.h"

#include <thread>

#include "base/virtual_clock.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

constexpr uint64_t kUs = 1000;
constexpr uint64_t kKey = 5 * MissTimer::kSampled;

TEST(MissTimer, TellsTheTimeFromAMissToItsInsertion) {
  VirtualClock clock;
  const MissTimer timer(clock);
  EXPECT_FALSE(timer.inserted(kKey)) << "no miss came before";
  timer.missed(kKey);
  clock.wait_until_ns(clock.now_ns() + 70);
  EXPECT_FALSE(timer.inserted(kKey + MissTimer::kSampled)) << "another key";
  EXPECT_EQ(timer.inserted(kKey), 70u);
  EXPECT_FALSE(timer.inserted(kKey)) << "once";
}

TEST(MissTimer, ForgetsAMissWhenAnotherFollows) {
  VirtualClock clock;
  const MissTimer timer(clock);
  timer.missed(kKey);
  timer.missed(kKey + 1);  // not sampled
  EXPECT_FALSE(timer.inserted(kKey + 1));
  EXPECT_FALSE(timer.inserted(kKey));
}

TEST(MissTimer, IsOfOneCacheAndOneThread) {
  VirtualClock clock;
  const MissTimer timer(clock);
  const MissTimer other(clock);
  timer.missed(kKey);
  EXPECT_FALSE(other.inserted(kKey));
  std::thread([&] { EXPECT_FALSE(timer.inserted(kKey)); }).join();
  EXPECT_TRUE(timer.inserted(kKey));
}

// How many blocks a tier refuses because writes to it cost more than its hits save.
uint64_t refused(uint64_t storage_us) {
  VirtualClock clock;
  test::Engine engine(
      "tiered://?metadata=free&demote=foreground&shards=1&high_priority=0&dram=16KiB&"
      "tier=(size=8MiB,shards=1,preset=auto,medium=emulated:flash,load=64)",
      clock);
  constexpr uint64_t kOffered = 4000;
  for (uint64_t id = 1; id <= kOffered; ++id) {
    EXPECT_EQ(engine.get(id), 0u);
    clock.wait_until_ns(clock.now_ns() + storage_us * kUs);
    engine.put_held(id);
    engine.cache->drain();
  }
  const Stats stats = engine.cache->stats().tiers[1].block_cache;
  EXPECT_EQ(stats.admission, "break_even(0.05,0.5)");
  return stats.refused[static_cast<size_t>(Reason::kOverhead)];
}

TEST(MissTimer, LetsATierWeighItsWrites) {
  EXPECT_GT(refused(20), 2000u);
  EXPECT_EQ(refused(100'000), 0u);
}

}  // namespace
}  // namespace nvcache
