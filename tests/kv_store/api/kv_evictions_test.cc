// A store evicts the items that it says it evicts.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <span>
#include <string>

#include "kv_store/api/config.h"
#include "kv_store/open_config.h"
#include "nvcache/kv_store.h"

namespace nvcache {
namespace {

struct Cleaning {
  const char* settings;
  KvCleaning cleaning;
};

class KvEvictionsTest : public testing::TestWithParam<Cleaning> {
 protected:
  void open() {
    KvConfig config =
        parse_kv_config(std::string("nvkv://?size=2MiB&medium=dram&zone=64KiB&item=128&") +
                        GetParam().settings)
            .value();
    config.cleaning = GetParam().cleaning;
    auto store = open_kv_store(config, evictions_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void put(int first, int end) {
    const std::string value(100, 'v');
    for (int i = first; i < end; ++i) {
      ASSERT_EQ(store_->put("key" + std::to_string(i), std::as_bytes(std::span(value)), {}).outcome,
                KvOutcome::kDone);
    }
  }

  const std::shared_ptr<KvEvictions> evictions_ = std::make_shared<KvEvictions>();
  std::unique_ptr<KvStore> store_;
};

TEST_P(KvEvictionsTest, AreThoseItemsThatAreGone) {
  open();
  evictions_->want(true);
  constexpr int kItems = 24'000;
  put(0, kItems);
  store_->stats();
  ASSERT_TRUE(store_->sync().ok());
  const uint64_t counted = store_->stats().evicted;
  const KvEvictions::Taken taken = evictions_->take();
  EXPECT_GT(counted, 1000u);
  // The cleaner may have counted another zone meanwhile.
  EXPECT_GE(taken.items.size() + taken.lost, counted);
  std::set<std::string> told;
  for (const KvEvicted& each : taken.items) {
    EXPECT_FALSE(store_->get(each.key)) << each.key;
    EXPECT_EQ(each.value_bytes, 100u);
    EXPECT_TRUE(told.insert(each.key).second) << each.key << " was told twice";
  }
  if (taken.lost > 0) return;
  for (int i = 0; i < kItems; ++i) {
    const std::string key = "key" + std::to_string(i);
    if (store_->get(key)) continue;
    EXPECT_TRUE(told.contains(key)) << key << " went untold";
  }
}

TEST_P(KvEvictionsTest, NobodyWantsThemNobodyKeepsThem) {
  open();
  put(0, 24'000);
  EXPECT_GT(store_->stats().evicted, 1000u);
  EXPECT_TRUE(evictions_->take().items.empty());
  evictions_->want(true);
  put(24'000, 30'000);
  evictions_->want(false);
  EXPECT_TRUE(evictions_->take().items.empty());
}

TEST_P(KvEvictionsTest, AFullQueueCountsWhatIsLost) {
  open();
  evictions_->want(true);
  put(0, 60'000);
  const KvEvictions::Taken taken = evictions_->take();
  EXPECT_EQ(taken.items.size(), KvEvictions::kMostItems);
  EXPECT_GT(taken.lost, 1000u);
  EXPECT_EQ(evictions_->take().lost, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Cleaning, KvEvictionsTest,
    testing::Values(Cleaning{"cleaner=inline", KvCleaning::kLive}, Cleaning{"", KvCleaning::kLive},
                    Cleaning{"cleaner=inline", KvCleaning::kPaper},
                    Cleaning{"", KvCleaning::kPaper},
                    Cleaning{"durability=each&cleaner=inline", KvCleaning::kLive}));

}  // namespace
}  // namespace nvcache
