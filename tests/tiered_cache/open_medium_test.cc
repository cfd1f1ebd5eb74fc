// Lower tiers on media that whoever makes the cache opens for them.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/tiered_fixture.h"

namespace nvcache::test {
namespace {

constexpr char kTwoTiers[] =
    "tiered://?dram=64KiB&shards=1&metadata=free&demote=foreground"
    "&tier=(size=1MiB,shards=1)&tier=(size=2MiB,shards=1)";
constexpr uint64_t kBlocks = 400;  // more than the first tier and the second hold

std::unique_ptr<TieredCacheImpl> make_cache(const std::shared_ptr<TestCodec>& codec,
                                            const OpenMedium& open_medium) {
  const StatusOr<TieredConfig> config = parse_tiered_config(kTwoTiers);
  EXPECT_TRUE(config.ok()) << config.status();
  auto cache = TieredCacheImpl::make(*config, codec, system_clock(), open_medium);
  EXPECT_TRUE(cache.ok()) << cache.status();
  return *std::move(cache);
}

void fill(TieredCacheImpl& cache, TestCodec& codec) {
  for (uint64_t id = 1; id <= kBlocks; ++id) {
    const Object object = codec.make(id, 1, Engine::kObjectBytes);
    EXPECT_TRUE(cache.insert(key_of(id), object, Priority::kLow, nullptr).ok());
  }
}

TEST(TieredOpenMedium, EachOwnTierIsOpenedOnceWithItsConfiguration) {
  const auto codec = std::make_shared<TestCodec>();
  std::vector<uint64_t> opened_bytes;
  const auto cache = make_cache(codec, [&](const Config& config, Clock& clock) {
    EXPECT_EQ(&clock, &system_clock());
    opened_bytes.push_back(config.size_bytes);
    return open_configured_medium(config, clock);
  });
  EXPECT_TRUE(opened_bytes.empty()) << "before a block goes there";
  fill(*cache, *codec);
  EXPECT_EQ(opened_bytes, (std::vector<uint64_t>{1 << 20, 2 << 20}));
  EXPECT_GT(cache->stats().tiers.back().blocks, 0u);
}

// As an opening of a large device, or a remote one.
TEST(TieredOpenMedium, ReadersDoNotWaitForAnOpeningThatTakesLong) {
  const auto codec = std::make_shared<TestCodec>();
  std::atomic<bool> opens{false};
  std::atomic<bool> may_open{false};
  std::thread::id opener;
  const StatusOr<TieredConfig> config = parse_tiered_config(
      "tiered://?dram=64KiB&shards=1&metadata=free&demote=background&tier=(size=4MiB,shards=1)");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto cache =
      TieredCacheImpl::make(*config, codec, system_clock(), [&](const Config& tier, Clock& clock) {
        opener = std::this_thread::get_id();
        opens = true;
        while (!may_open) std::this_thread::yield();
        return open_configured_medium(tier, clock);
      });
  ASSERT_TRUE(cache.ok()) << cache.status();
  uint64_t id = 0;
  const auto insert = [&] {
    const Object object = codec->make(++id, 1, Engine::kObjectBytes);
    EXPECT_TRUE((*cache)->insert(key_of(id), object, Priority::kLow, nullptr).ok());
  };
  while (!opens) insert();
  for (int i = 0; i < 1000; ++i) insert();
  EXPECT_GT((*cache)->stats().tiers[0].dropped, 0u);
  may_open = true;
  (*cache)->drain();
  EXPECT_NE(opener, std::this_thread::get_id());
  for (int i = 0; i < 100; ++i) insert();
  (*cache)->drain();
  EXPECT_GT((*cache)->stats().tiers[1].blocks, 0u);
}

TEST(TieredOpenMedium, ATierWhoseMediumCannotBeOpenedStaysOffAndTheCacheGoesOn) {
  const auto codec = std::make_shared<TestCodec>();
  int calls = 0;
  const auto cache =
      make_cache(codec, [&](const Config&, Clock&) -> StatusOr<std::unique_ptr<Medium>> {
        ++calls;
        return unavailable_error("none here");
      });
  fill(*cache, *codec);
  EXPECT_EQ(calls, 2) << "of two tiers, one time each";
  const auto restore = [&](ByteView saved, Object* made) { return codec->restore(saved, made); };
  const MakeObject make = restore;
  TieredCache::Handle* const handle = cache->lookup(key_of(kBlocks), &make);
  ASSERT_NE(handle, nullptr) << "it is in the first tier";
  cache->release(handle);
}

}  // namespace
}  // namespace nvcache::test
