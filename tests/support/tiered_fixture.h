// A small engine over a TieredCache: objects with a version and bytes that
// name their key, saved as those bytes, and counted from birth to death.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tiered_cache/tiered_cache_impl.h"

namespace nvcache::test {

struct TestObject {
  uint64_t id = 0;
  uint64_t version = 0;
  uint32_t size_bytes = 0;
};

// Thread-safe.
class TestCodec final : public ObjectCodec {
 public:
  ~TestCodec() override { EXPECT_EQ(alive.load(), 0) << "objects were not destroyed"; }

  Object make(uint64_t id, uint64_t version, uint32_t size_bytes, bool movable = true) {
    ++alive;
    return {.value = new TestObject{id, version, size_bytes},
            .kind = {.word = 7, .movable = movable},
            .charge_bytes = size_bytes};
  }
  size_t saved_bytes(const Object& object) override { return value(object).size_bytes; }
  bool save(const Object& object, MutableBytes into) override {
    const TestObject& from = value(object);
    std::memset(into.data(), static_cast<int>(from.id % 251), into.size());
    std::memcpy(into.data(), &from, sizeof from);
    if (slow_saves && ++saves % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return !fail_saves;
  }
  void destroy(std::string_view, const Object& object) override {
    if (object.value != nullptr) --alive;
    delete static_cast<TestObject*>(object.value);
  }
  uint64_t form() const override { return form_of_objects; }
  bool restore(ByteView saved, Object* made) {
    TestObject read;
    std::memcpy(&read, saved.data(), sizeof read);
    EXPECT_EQ(read.size_bytes, saved.size());
    EXPECT_EQ(saved.back(), static_cast<std::byte>(read.id % 251));
    *made = make(read.id, read.version, read.size_bytes);
    if (slow_saves && ++restores % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }
  static const TestObject& value(const Object& object) {
    return *static_cast<TestObject*>(object.value);
  }

  uint64_t form_of_objects = 0;
  std::atomic<int64_t> alive{0};
  std::atomic<uint64_t> saves{0};
  std::atomic<uint64_t> restores{0};
  std::atomic<bool> fail_saves{false};
  std::atomic<bool> slow_saves{false};  // at times, so that much happens during a move
};

inline std::string key_of(uint64_t id) {
  std::string key(16, '\0');
  std::memcpy(key.data(), "testfile", 8);
  std::memcpy(key.data() + 8, &id, 8);
  return key;
}

// A cache and its engine. Objects are of kObjectBytes, and metadata is free, so that
// capacities count objects.
class Engine {
 public:
  static constexpr uint32_t kObjectBytes = 4096;

  explicit Engine(const std::string& spec, Clock& clock = system_clock(), uint64_t form = 0) {
    codec->form_of_objects = form;
    const StatusOr<TieredConfig> config = parse_tiered_config(spec);
    EXPECT_TRUE(config.ok()) << config.status();
    cache = TieredCacheImpl::make(*config, codec, clock).value();
  }

  void put(uint64_t id, uint64_t version = 1, Priority priority = Priority::kLow,
           bool movable = true) {
    const Object object = codec->make(id, version, kObjectBytes, movable);
    EXPECT_TRUE(cache->insert(key_of(id), object, priority, nullptr).ok());
  }
  // As an engine does after a read: inserts, uses and releases.
  void put_held(uint64_t id, uint64_t version = 1, uint32_t size_bytes = kObjectBytes,
                Priority priority = Priority::kLow) {
    TieredCache::Handle* handle = nullptr;
    const Object object = codec->make(id, version, size_bytes);
    ASSERT_TRUE(cache->insert(key_of(id), object, priority, &handle).ok());
    EXPECT_EQ(TestCodec::value(cache->object(handle)).id, id);
    cache->release(handle);
  }
  TieredCache::Handle* hold(uint64_t id, Caller caller = Caller::kForeground) {
    const auto restore = [this](ByteView saved, Object* made) {
      return codec->restore(saved, made);
    };
    const MakeObject make = restore;
    return cache->lookup(key_of(id), &make, caller);
  }
  // The version found; 0 on a miss.
  uint64_t get(uint64_t id, Caller caller = Caller::kForeground) {
    TieredCache::Handle* const handle = hold(id, caller);
    if (handle == nullptr) return 0;
    EXPECT_EQ(TestCodec::value(cache->object(handle)).id, id);
    const uint64_t version = TestCodec::value(cache->object(handle)).version;
    cache->release(handle);
    return version;
  }
  uint64_t hits(size_t tier) const { return cache->stats().tiers[tier].hits; }
  uint64_t blocks(size_t tier) const {
    cache->drain();
    return cache->stats().tiers[tier].blocks;
  }
  // Which tier serves a block now; -1: none. Counts as a reference.
  int served_by(uint64_t id) {
    const TieredStats before = cache->stats();
    if (get(id) == 0) return -1;
    const TieredStats after = cache->stats();
    for (size_t tier = 0; tier < after.tiers.size(); ++tier) {
      if (after.tiers[tier].hits > before.tiers[tier].hits) return static_cast<int>(tier);
    }
    return -1;
  }

  std::shared_ptr<TestCodec> codec = std::make_shared<TestCodec>();
  std::unique_ptr<TieredCacheImpl> cache;
};

}  // namespace nvcache::test
