// Objects larger than an even part of a shard, as index and filter blocks are: they stay in the
// first tier as long as they are used, and the capacity stays what it is.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "support/test_seed.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;
using test::TestCodec;

constexpr uint32_t kLargeBytes = 1536 << 10;
constexpr uint64_t kFirstLarge = 1'000'000;
constexpr uint64_t kSmallIds = 10'000;  // 40 MiB
constexpr size_t kCapacityBytes = size_t{32} << 20;
// 64 shards of 512 KiB.
constexpr const char* kSmallTier = "tiered://?metadata=free&dram=32MiB";

// Looks a block up, and puts it in after a miss. Whether it was a hit.
bool read(Engine& engine, uint64_t id, uint32_t size_bytes = Engine::kObjectBytes,
          Priority priority = Priority::kLow) {
  if (engine.get(id) != 0) return true;
  engine.put_held(id, 1, size_bytes, priority);
  return false;
}

struct Hits {
  int large = 0;
  int small = 0;
};
// Each turn reads one small block, the lower numbers more often, and each of the large ones.
Hits read_turns(Engine& engine, int turns, uint64_t large) {
  Prng prng(7);
  Hits hits;
  for (int i = 0; i < turns; ++i) {
    const uint64_t id = std::min(prng.below(kSmallIds), prng.below(kSmallIds));
    hits.small += read(engine, id) ? 1 : 0;
    for (uint64_t n = 0; n < large; ++n) {
      hits.large += read(engine, kFirstLarge + n, kLargeBytes) ? 1 : 0;
    }
  }
  return hits;
}

TEST(LargeObjects, StayBesideSmallOnesThatComeAndGo) {
  constexpr int kTurns = 30'000;
  constexpr uint64_t kLarge = 4;
  for (const char* shards : {"auto", "1", "4", "64", "512"}) {
    SCOPED_TRACE(shards);
    Engine engine(std::string(kSmallTier) + "&shards=" + shards);
    read_turns(engine, kTurns, kLarge);
    const Hits hits = read_turns(engine, kTurns, kLarge);
    EXPECT_GT(hits.large, kTurns * 4 - 40);
    // The small ones have what the large ones leave.
    Engine rest("tiered://?metadata=free&dram=26MiB&shards=1");
    read_turns(rest, kTurns, 0);
    const Hits alone = read_turns(rest, kTurns, 0);
    EXPECT_GT(hits.small, alone.small * 97 / 100);
    EXPECT_LE(engine.cache->use().used_bytes, kCapacityBytes);
  }
}

// Half the keys fit, whatever the sizes of the blocks are.
TEST(LargeObjects, OfAnySizeAreHitAsInOneShard) {
  for (const uint32_t size_bytes : {16u << 10, 64u << 10, 200u << 10, 1000u << 10, 5000u << 10}) {
    SCOPED_TRACE(size_bytes);
    const auto hits_of = [size_bytes](const char* shards) {
      Engine engine(std::string(kSmallTier) + "&high_priority=0&shards=" + shards);
      const uint64_t ids = 2 * kCapacityBytes / size_bytes;
      Prng prng(11);
      int hits = 0;
      for (int i = 0; i < 20'000; ++i) {
        const uint64_t id = std::min(prng.below(ids), prng.below(ids));
        hits += read(engine, id, size_bytes) ? 1 : 0;
      }
      return hits;
    };
    EXPECT_GT(hits_of("64"), hits_of("1") * 95 / 100);
  }
}

TEST(LargeObjects, ThatAreUsedOutlastAScanOfLargeOnes) {
  Engine engine(kSmallTier);
  int misses = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    for (uint64_t id = 0; id < 4; ++id) {
      misses += read(engine, kFirstLarge + id, kLargeBytes) ? 0 : 1;
    }
    engine.put_held(2 * kFirstLarge + i, 1, kLargeBytes);
  }
  EXPECT_EQ(misses, 4);
  EXPECT_GT(engine.cache->use().used_bytes, kCapacityBytes - kLargeBytes);
}

TEST(LargeObjects, OfHighPriorityOutlastAScan) {
  for (const uint32_t scanned_bytes : {Engine::kObjectBytes, kLargeBytes}) {
    SCOPED_TRACE(scanned_bytes);
    Engine engine(std::string(kSmallTier) + "&high_priority=0.5");
    for (uint64_t id = 0; id < 4; ++id) {
      engine.put_held(kFirstLarge + id, 1, kLargeBytes, Priority::kHigh);
    }
    for (uint64_t id = 0; id < 20'000; ++id) engine.put_held(id, 1, scanned_bytes);
    for (uint64_t id = 0; id < 4; ++id) EXPECT_NE(engine.get(kFirstLarge + id), 0u) << id;
  }
}

// More of them than their pool may have: those that came last are in it.
TEST(LargeObjects, OfHighPriorityHaveNoMoreThanTheirPool) {
  Engine engine(std::string(kSmallTier) + "&high_priority=0.25");
  for (uint64_t id = 0; id < 15; ++id) {
    engine.put_held(kFirstLarge + id, 1, kLargeBytes, Priority::kHigh);
  }
  for (uint64_t id = 0; id < 40'000; ++id) engine.put_held(id);
  int left = 0;
  for (uint64_t id = 0; id < 15; ++id) left += engine.get(kFirstLarge + id) != 0 ? 1 : 0;
  EXPECT_GE(left, 4);
  EXPECT_LE(left, 6);
}

TEST(LargeObjects, ThatNobodyUsesMakeRoomForSmallOnes) {
  Engine engine(kSmallTier);
  for (uint64_t id = 0; id < 100; ++id) engine.put_held(kFirstLarge + id, 1, kLargeBytes);
  EXPECT_GT(engine.cache->use().used_bytes, kCapacityBytes - kLargeBytes);
  constexpr uint64_t kFit = 6000;  // 23 MiB
  for (int round = 0; round < 5; ++round) {
    for (uint64_t id = 0; id < kFit; ++id) read(engine, id);
  }
  uint64_t found = 0;
  for (uint64_t id = 0; id < kFit; ++id) found += engine.get(id) != 0 ? 1 : 0;
  EXPECT_GT(found, kFit * 97 / 100);
}

TEST(LargeObjects, BeyondTheCapacityPushNothingOut) {
  for (const char* shards : {"1", "64"}) {
    SCOPED_TRACE(shards);
    Engine engine(std::string("tiered://?metadata=free&dram=1MiB&shards=") + shards);
    for (uint64_t id = 0; id < 100; ++id) engine.put_held(id);
    const size_t before = engine.cache->use().objects;
    engine.put_held(kFirstLarge, 1, 2 << 20);
    EXPECT_EQ(engine.cache->use().objects, before);
    EXPECT_EQ(engine.get(kFirstLarge), 0u) << "it went with its last reference";
  }
}

TEST(LargeObjects, GoToTheLowerTierAndComeBack) {
  constexpr uint32_t kMovable = 1 << 20;
  Engine engine(
      "tiered://?metadata=free&policy=bidirectional(1)&demote=foreground&dram=4MiB&shards=8&"
      "tier=(size=64MiB)");
  for (uint64_t id = 0; id < 20; ++id) engine.put_held(id, 1, kMovable);
  EXPECT_EQ(engine.blocks(0), 4u);
  EXPECT_EQ(engine.blocks(1), 16u);
  for (int i = 0; i < 3; ++i) engine.get(0);
  EXPECT_EQ(engine.served_by(0), 0) << "promoted";
  EXPECT_EQ(engine.blocks(0), 4u);
  EXPECT_LE(engine.cache->use().used_bytes, engine.cache->limits().capacity_bytes);
}

TEST(LargeObjects, FollowTheCapacity) {
  Engine engine(kSmallTier);
  read_turns(engine, 20'000, 4);
  for (const size_t capacity :
       {size_t{8} << 20, size_t{2} << 20, size_t{1} << 20, size_t{0}, kCapacityBytes}) {
    SCOPED_TRACE(capacity);
    engine.cache->set_capacity(capacity);
    EXPECT_LE(engine.cache->use().used_bytes, capacity);
    read_turns(engine, 2000, 4);
    EXPECT_LE(engine.cache->use().used_bytes, capacity);
  }
  read_turns(engine, 20'000, 4);
  EXPECT_GT(read_turns(engine, 1000, 4).large, 3990);
}

TEST(LargeObjects, AStrictTierHoldsThemUpToItsCapacity) {
  Engine engine(
      "tiered://?metadata=free&dram=8MiB&shards=16&strict=on&demote=foreground&"
      "tier=(size=64MiB)");
  constexpr uint32_t kBytes = 1 << 20;
  for (uint64_t id = 0; id < 500; ++id) engine.put_held(id);
  for (uint64_t id = 0; id < 4; ++id) engine.put(kFirstLarge + id);
  std::vector<TieredCache::Handle*> held;
  for (uint64_t id = 0; id < 12; ++id) {
    TieredCache::Handle* handle = nullptr;
    const Object object = engine.codec->make(2 * kFirstLarge + id, 1, kBytes);
    if (engine.cache->insert(key_of(2 * kFirstLarge + id), object, Priority::kLow, &handle).ok()) {
      held.push_back(handle);
    } else {
      engine.codec->destroy(key_of(2 * kFirstLarge + id), object);
    }
    EXPECT_LE(engine.cache->use().used_bytes, 8u << 20);
  }
  EXPECT_EQ(held.size(), 8u);
  const Object another = engine.codec->make(1, 1, kBytes);
  EXPECT_EQ(engine.cache->standalone(key_of(1), another), nullptr);
  engine.cache->release(held.back());
  held.pop_back();
  TieredCache::Handle* const alone = engine.cache->standalone(key_of(1), another);
  ASSERT_NE(alone, nullptr);
  EXPECT_LE(engine.cache->use().used_bytes, 8u << 20);
  engine.cache->release(alone);
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
}

// Whatever comes, is held, is erased and is replaced, in whatever order and size.
void mix(Engine& engine, uint64_t seed, int steps, bool alone) {
  constexpr size_t kMostHeld = 6;
  Prng prng(seed);
  std::vector<TieredCache::Handle*> held;
  const size_t capacity = engine.cache->limits().capacity_bytes;
  for (int i = 0; i < steps; ++i) {
    const uint64_t id = prng.below(600);
    const auto size_bytes = static_cast<uint32_t>(1024u << prng.below(11));
    const auto priority = static_cast<Priority>(prng.below(3));
    TieredCache::Handle* handle = nullptr;
    switch (prng.below(8)) {
      case 0:
        engine.cache->erase(key_of(id));
        break;
      case 1: {
        const Object object = engine.codec->make(id, 1, size_bytes);
        handle = engine.cache->standalone(key_of(id), object);
        if (handle == nullptr) engine.codec->destroy(key_of(id), object);
        break;
      }
      case 2:
        if (!held.empty()) {
          engine.cache->release(held.back(), /*erase_if_last=*/prng.below(2) == 0);
          held.pop_back();
        }
        break;
      case 3: {
        const Object object = engine.codec->make(id, 1, size_bytes);
        EXPECT_TRUE(engine.cache->insert(key_of(id), object, priority, nullptr).ok());
        break;
      }
      default:
        handle = engine.hold(id);
        if (handle == nullptr) {
          const Object object = engine.codec->make(id, 1, size_bytes);
          if (!engine.cache->insert(key_of(id), object, priority, &handle).ok()) {
            engine.codec->destroy(key_of(id), object);
          }
        }
    }
    if (handle != nullptr && held.size() < kMostHeld) {
      held.push_back(handle);
    } else if (handle != nullptr) {
      engine.cache->release(handle);
    }
    const FirstTierUse use = engine.cache->use();
    const bool bounded = engine.cache->limits().strict || held.empty();
    if (alone && bounded) {
      ASSERT_LE(use.used_bytes, capacity) << "step " << i;
    }
  }
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

constexpr const char* kMixes[] = {
    "dram=4MiB&shards=1",
    "dram=4MiB&shards=8",
    "dram=4MiB&shards=64",
    "dram=4MiB&shards=16&low_priority=0.3&tier=(size=8MiB)",
    "dram=4MiB&shards=16&policy=bidirectional(1)&tier=(size=8MiB)",
    "dram=4MiB&shards=16&policy=scm_first(1)&high_priority=0&tier=(size=8MiB)"};

// All the room is back: small blocks can fill it.
void expect_whole(Engine& engine) {
  engine.cache->erase_unreferenced();
  const FirstTierUse empty = engine.cache->use();
  EXPECT_EQ(empty.used_bytes, 0u);
  EXPECT_EQ(empty.pinned_bytes, 0u);
  const size_t capacity = engine.cache->limits().capacity_bytes;
  for (uint64_t id = 0; id < 4 * capacity / 1024; ++id) {
    engine.put_held(kFirstLarge + id, 1, 1024);
    for (int i = 0; i < 3; ++i) engine.get(kFirstLarge + id);  // where new ones enter below
  }
  const size_t used_bytes = engine.cache->use().used_bytes;
  EXPECT_LE(used_bytes, capacity);
  EXPECT_GT(used_bytes, capacity * 95 / 100);
}

TEST(LargeObjects, OfAnyMixtureKeepToTheCapacity) {
  for (const char* spec : kMixes) {
    for (const char* strict : {"off", "on"}) {
      SCOPED_TRACE(std::string(spec) + " strict=" + strict);
      Engine engine(std::string("tiered://?metadata=free&strict=") + strict + "&" + spec);
      mix(engine, test_seed(), 4000, /*alone=*/true);
      expect_whole(engine);
    }
  }
}

TEST(LargeObjects, ConcurrentMixturesKeepToTheCapacity) {
  for (const char* spec : kMixes) {
    for (const char* strict : {"off", "on"}) {
      SCOPED_TRACE(std::string(spec) + " strict=" + strict);
      Engine engine(std::string("tiered://?metadata=free&strict=") + strict + "&" + spec);
      std::vector<std::thread> threads;
      for (uint64_t n = 0; n < 3; ++n) {
        threads.emplace_back([&engine, n] { mix(engine, test_seed() + n, 2000, false); });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_LE(engine.cache->use().used_bytes, engine.cache->limits().capacity_bytes);
      expect_whole(engine);
    }
  }
}

}  // namespace
}  // namespace nvcache
