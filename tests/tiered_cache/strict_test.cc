// A strict cache: what is held never takes more than the first tier has, whichever tier it is from.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;

// Four objects fit into the first tier.
Engine open_strict(const std::string& more = "") {
  return Engine(
      "tiered://?metadata=free&demote=foreground&shards=1&high_priority=0&dram=16KiB&"
      "strict=on&tier=(size=256KiB,shards=1)" +
      more);
}

TEST(StrictTieredCache, FullOfHeldBlocksRefuses) {
  Engine engine = open_strict();
  std::vector<TieredCache::Handle*> held(4);
  for (uint64_t id = 0; id < 4; ++id) {
    const Object object = engine.codec->make(id, 1, Engine::kObjectBytes);
    ASSERT_TRUE(engine.cache->insert(key_of(id), object, Priority::kLow, &held[id]).ok());
  }
  const Object object = engine.codec->make(9, 1, Engine::kObjectBytes);
  TieredCache::Handle* handle = nullptr;
  const Status refused = engine.cache->insert(key_of(9), object, Priority::kLow, &handle);
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(engine.codec->alive, 5) << "the object stays the caller's";
  EXPECT_TRUE(engine.cache->insert(key_of(9), object, Priority::kLow, nullptr).ok());
  EXPECT_EQ(engine.served_by(9), -1) << "there is no room to hold it";
  engine.cache->release(held.back());
  held.pop_back();
  EXPECT_EQ(engine.served_by(9), 1) << "without a handle it left at once, as evicted";
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

// However many in a row are held.
TEST(StrictTieredCache, ThereIsRoomAsLongAsOneObjectIsNotHeld) {
  Engine engine("tiered://?metadata=free&shards=1&high_priority=0&dram=1640KiB&strict=on");
  for (uint64_t id = 0; id < 410; ++id) engine.put(id);
  std::vector<TieredCache::Handle*> held;
  for (uint64_t id = 0; id < 400; ++id) held.push_back(engine.hold(id));
  for (uint64_t id = 1000; id < 1010; ++id) {
    TieredCache::Handle* handle = nullptr;
    const Object object = engine.codec->make(id, 1, Engine::kObjectBytes);
    ASSERT_TRUE(engine.cache->insert(key_of(id), object, Priority::kLow, &handle).ok()) << id;
    held.push_back(handle);
  }
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

// A quiet cache that is full of held objects, and then of released ones.
TEST(StrictTieredCache, WhatWasHeldWhenItsTurnCameIsEvictedLater) {
  Engine engine("tiered://?metadata=free&shards=1&high_priority=0&dram=1640KiB&strict=on");
  std::vector<TieredCache::Handle*> held;
  const auto insert = [&](uint64_t id) {
    TieredCache::Handle* handle = nullptr;
    const Object object = engine.codec->make(id, 1, Engine::kObjectBytes);
    const Status status = engine.cache->insert(key_of(id), object, Priority::kLow, &handle);
    if (!status.ok()) {
      engine.codec->destroy(key_of(id), object);
      return false;
    }
    held.push_back(handle);
    return true;
  };
  for (uint64_t id = 0; insert(id); ++id) ASSERT_LT(id, 410u);
  ASSERT_EQ(held.size(), 410u);
  EXPECT_FALSE(insert(1000));
  EXPECT_TRUE(engine.cache
                  ->insert(key_of(7), engine.codec->make(7, 2, Engine::kObjectBytes),
                           Priority::kLow, nullptr)
                  .ok())
      << "replaced while it is held; without a handle it leaves at once";
  engine.cache->erase(key_of(8));
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
  held.clear();
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
  EXPECT_EQ(engine.cache->use().objects, 408u);
  for (uint64_t id = 2000; id < 2410; ++id) ASSERT_TRUE(insert(id)) << id;
  EXPECT_FALSE(insert(3000));
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

// However releases and evictions meet: afterwards the whole capacity can be had again.
TEST(StrictTieredCache, ThreadsThatHoldAndInsertLoseNoRoom) {
  constexpr uint64_t kFits = 64;
  Engine engine("tiered://?metadata=free&shards=1&high_priority=0.5&dram=256KiB&strict=on");
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&engine, thread] {
      Prng random(thread + 1);
      std::vector<TieredCache::Handle*> held;
      for (int step = 0; step < 20'000; ++step) {
        const uint64_t id = random.below(2 * kFits);
        TieredCache::Handle* handle = engine.hold(id);
        if (handle == nullptr) {
          const Object object = engine.codec->make(id, 1, Engine::kObjectBytes);
          const Priority priority = id % 2 == 0 ? Priority::kHigh : Priority::kLow;
          if (!engine.cache->insert(key_of(id), object, priority, &handle).ok()) {
            engine.codec->destroy(key_of(id), object);
          }
        }
        if (handle != nullptr) held.push_back(handle);
        if (step % 1000 == 0) engine.cache->erase(key_of(id));
        while (held.size() > kFits / 2 || (handle == nullptr && !held.empty())) {
          std::swap(held[random.below(held.size())], held.back());
          engine.cache->release(held.back());
          held.pop_back();
        }
      }
      for (TieredCache::Handle* const each : held) engine.cache->release(each);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
  std::vector<TieredCache::Handle*> held(kFits);
  for (uint64_t i = 0; i < kFits; ++i) {
    const Object object = engine.codec->make(1000 + i, 1, Engine::kObjectBytes);
    ASSERT_TRUE(engine.cache->insert(key_of(1000 + i), object, Priority::kLow, &held[i]).ok()) << i;
  }
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

TEST(StrictTieredCache, AHandleOfAnInsertBelowErasesTheBlockThere) {
  Engine engine = open_strict("&policy=scm_first");
  TieredCache::Handle* handle = nullptr;
  const Object object = engine.codec->make(1, 1, Engine::kObjectBytes);
  ASSERT_TRUE(engine.cache->insert(key_of(1), object, Priority::kLow, &handle).ok());
  EXPECT_EQ(engine.blocks(1), 1u);
  engine.cache->release(handle, /*erase_if_last=*/true);
  EXPECT_EQ(engine.blocks(1), 0u);
  EXPECT_EQ(engine.get(1), 0u);
}

// An engine that could not replace a value must not find the older one.
TEST(StrictTieredCache, ARefusedInsertErasesTheOlderObject) {
  for (const char* policy : {"dram_first", "scm_first"}) {
    SCOPED_TRACE(policy);
    Engine engine = open_strict(std::string("&policy=") + policy);
    for (uint64_t id = 1; id <= 20; ++id) engine.put_held(id);
    EXPECT_EQ(engine.get(1), 1u);
    std::vector<TieredCache::Handle*> held;
    for (uint64_t id = 11; held.size() < 4; ++id) held.push_back(engine.hold(id));
    const Object newer = engine.codec->make(1, 2, Engine::kObjectBytes);
    TieredCache::Handle* handle = nullptr;
    EXPECT_EQ(engine.cache->insert(key_of(1), newer, Priority::kLow, &handle).code(),
              StatusCode::kResourceExhausted);
    for (TieredCache::Handle* const each : held) engine.cache->release(each);
    EXPECT_EQ(engine.get(1), 0u);
    engine.codec->destroy(key_of(1), newer);
  }
}

// An object found in a lower tier is held in DRAM as well.
TEST(StrictTieredCache, HoldsNoMoreThanItsSizeFromAnyTier) {
  for (const char* policy : {"dram_first", "scm_first", "bidirectional"}) {
    SCOPED_TRACE(policy);
    Engine engine = open_strict(std::string("&policy=") + policy);
    for (uint64_t id = 1; id <= 20; ++id) engine.put_held(id);
    std::vector<TieredCache::Handle*> held;
    int refused = 0;
    for (uint64_t id = 1; id <= 20; ++id) {
      TieredCache::Handle* const handle = engine.hold(id);
      if (handle != nullptr) {
        held.push_back(handle);
      } else {
        ++refused;
      }
    }
    EXPECT_EQ(held.size(), 4u);
    EXPECT_EQ(refused, 16);
    const FirstTierUse use = engine.cache->use();
    EXPECT_LE(use.used_bytes, engine.cache->limits().capacity_bytes);
    EXPECT_EQ(use.pinned_bytes, use.used_bytes);
    const Object object = engine.codec->make(30, 1, Engine::kObjectBytes);
    TieredCache::Handle* handle = nullptr;
    EXPECT_EQ(engine.cache->insert(key_of(30), object, Priority::kLow, &handle).code(),
              StatusCode::kResourceExhausted);
    EXPECT_EQ(engine.cache->standalone(key_of(31), object), nullptr);
    TieredCache::Handle* const beyond = engine.cache->standalone(key_of(31), object, true);
    ASSERT_NE(beyond, nullptr) << "the engine cannot go on without";
    engine.cache->release(beyond);
    for (TieredCache::Handle* const each : held) engine.cache->release(each);
    for (uint64_t id = 1; id <= 20; ++id) {
      TieredCache::Handle* const again = engine.hold(id);
      EXPECT_NE(again, nullptr) << id;
      if (again != nullptr) engine.cache->release(again);
    }
  }
}

}  // namespace
}  // namespace nvcache
