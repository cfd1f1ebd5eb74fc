// A strict cache: what is held never takes more than the first tier has, whichever tier it is from.
#include <string>
#include <vector>

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
  const absl::Status refused = engine.cache->insert(key_of(9), object, Priority::kLow, &handle);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(engine.codec->alive, 5) << "the object stays the caller's";
  EXPECT_TRUE(engine.cache->insert(key_of(9), object, Priority::kLow, nullptr).ok());
  EXPECT_EQ(engine.served_by(9), -1) << "there is no room to hold it";
  engine.cache->release(held.back());
  held.pop_back();
  EXPECT_EQ(engine.served_by(9), 1) << "without a handle it left at once, as evicted";
  for (TieredCache::Handle* const each : held) engine.cache->release(each);
}

// What is found in a lower tier is held in DRAM as well.
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
              absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(engine.cache->standalone(key_of(31), object), nullptr);
    engine.codec->destroy(key_of(30), object);
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
