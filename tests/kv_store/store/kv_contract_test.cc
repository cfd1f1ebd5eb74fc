// The promises of every key-value store, on every medium and at every durability.
#include <array>
#include <atomic>
#include <map>
#include <thread>

#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;

struct Setting {
  std::string medium;
  Durability durability;
};

class KvContract : public ::testing::TestWithParam<Setting> {
 protected:
  KvConfig config() {
    KvConfig config;
    config.size_bytes = 1 << 20;
    config.zone_bytes = 64 << 10;
    config.item_bytes = 256;
    config.write_cache_bytes = 64 << 10;
    config.durability = GetParam().durability;
    config.now_s = [this] { return now_s_.load(); };
    return config;
  }
  std::unique_ptr<KvStore> open() {
    KvConfig with = config();
    if (GetParam().medium == "crashing") {
      return test::make_kv(with, std::make_unique<CrashingMedium>(with.size_bytes));
    }
    with.medium = GetParam().medium;
    if (with.medium.starts_with("file:")) with.medium = "file:" + dir_.file("kv");
    auto medium = open_kv_medium(with);
    EXPECT_TRUE(medium.ok()) << medium.status();
    auto store = KvStoreImpl::make(with, *std::move(medium));
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  TempDir dir_;
  std::atomic<uint32_t> now_s_{1000};
};

TEST_P(KvContract, GetsWhatWasPut) {
  std::unique_ptr<KvStore> store = open();
  EXPECT_FALSE(store->get("a"));
  const KvResult result = put_text(*store, "a", "one");
  EXPECT_EQ(result.outcome, KvOutcome::kDone);
  const KvItem item = store->get("a");
  ASSERT_TRUE(item);
  EXPECT_EQ(test::text_of(item.value()), "one");
  EXPECT_EQ(item.meta.flags, 7u);
  EXPECT_EQ(item.meta.cas, result.cas);
  EXPECT_FALSE(store->get("b"));
  const KvStats stats = store->stats();
  EXPECT_EQ(stats.gets, 3u);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.items, 1u);
}

TEST_P(KvContract, AnEmptyValueIsAValue) {
  std::unique_ptr<KvStore> store = open();
  ASSERT_EQ(put_text(*store, "a", "").outcome, KvOutcome::kDone);
  const KvItem item = store->get("a");
  ASSERT_TRUE(item);
  EXPECT_TRUE(item.value().empty());
}

TEST_P(KvContract, AByteOfTheCallersOwnFollowsTheValue) {
  std::unique_ptr<KvStore> store = open();
  for (uint8_t round = 0; round < 6; ++round) {  // later rounds by way of the write cache
    const KvMeta meta = {.flags = 7, .marks = round};
    ASSERT_EQ(store->put("a", test::bytes_of("one"), meta).outcome, KvOutcome::kDone);
    ASSERT_EQ(store->put("none", {}, meta).outcome, KvOutcome::kDone);
    const KvItem item = store->get("a");
    ASSERT_TRUE(item);
    EXPECT_EQ(test::text_of(item.value()), std::string("one") + static_cast<char>(round));
    EXPECT_FALSE(item.meta.marks);
    EXPECT_EQ(get_text(*store, "none"), std::string(1, static_cast<char>(round)));
  }
  const std::string largest(store->stats().max_item_bytes - 1, 'x');
  EXPECT_EQ(store->put("b", test::bytes_of(largest), {}).outcome, KvOutcome::kDone);
  EXPECT_EQ(store->put("b", test::bytes_of(largest), {.marks = uint8_t{1}}).outcome,
            KvOutcome::kTooLarge);
}

TEST_P(KvContract, APutReplaces) {
  std::unique_ptr<KvStore> store = open();
  uint64_t last_cas = 0;
  for (int i = 0; i < 20; ++i) {
    const KvResult result = put_text(*store, "a", "value " + std::to_string(i));
    EXPECT_GT(result.cas, last_cas);
    last_cas = result.cas;
    EXPECT_EQ(get_text(*store, "a"), "value " + std::to_string(i));
    EXPECT_EQ(store->stats().items, 1u);
  }
}

TEST_P(KvContract, ErasesForGood) {
  std::unique_ptr<KvStore> store = open();
  const uint64_t cas = put_text(*store, "a", "one").cas;
  EXPECT_EQ(store->erase("a", cas + 1).outcome, KvOutcome::kExists);
  EXPECT_EQ(store->erase("a", cas).outcome, KvOutcome::kDone);
  EXPECT_FALSE(store->get("a"));
  EXPECT_EQ(store->erase("a").outcome, KvOutcome::kNotFound);
  for (int i = 0; i < 8; ++i) put_text(*store, "a", "often written");
  EXPECT_EQ(store->erase("a").outcome, KvOutcome::kDone);
  EXPECT_FALSE(store->get("a"));
  EXPECT_EQ(store->stats().items, 0u);
}

TEST_P(KvContract, Conditions) {
  std::unique_ptr<KvStore> store = open();
  const KvCondition absent{.kind = KvCondition::kIfAbsent};
  const KvCondition present{.kind = KvCondition::kIfPresent};
  for (int round = 0; round < 6; ++round) {  // later rounds by way of the write cache
    EXPECT_EQ(put_text(*store, "a", "1", present).outcome, KvOutcome::kNotFound);
    EXPECT_EQ(put_text(*store, "a", "1", {.kind = KvCondition::kIfCas, .cas = 1}).outcome,
              KvOutcome::kNotFound);
    const KvResult first = put_text(*store, "a", "2", absent);
    EXPECT_EQ(first.outcome, KvOutcome::kDone);
    EXPECT_EQ(put_text(*store, "a", "3", absent).outcome, KvOutcome::kExists);
    const KvResult second = put_text(*store, "a", "4", present);
    EXPECT_EQ(second.outcome, KvOutcome::kDone);
    EXPECT_EQ(put_text(*store, "a", "5", {.kind = KvCondition::kIfCas, .cas = first.cas}).outcome,
              KvOutcome::kExists);
    EXPECT_EQ(get_text(*store, "a"), "4");
    EXPECT_EQ(put_text(*store, "a", "6", {.kind = KvCondition::kIfCas, .cas = second.cas}).outcome,
              KvOutcome::kDone);
    EXPECT_EQ(get_text(*store, "a"), "6");
    EXPECT_EQ(store->erase("a").outcome, KvOutcome::kDone);
  }
}

TEST_P(KvContract, ItemsExpire) {
  std::unique_ptr<KvStore> store = open();
  put_text(*store, "a", "1", {}, 1010);
  put_text(*store, "b", "1", {}, 0);
  EXPECT_EQ(get_text(*store, "a"), "1");
  EXPECT_EQ(store->touch("a", 1020), KvOutcome::kDone);
  now_s_ = 1019;
  EXPECT_EQ(get_text(*store, "a"), "1");
  EXPECT_EQ(store->get("a").meta.expires_s, 1020u);
  now_s_ = 1020;
  EXPECT_FALSE(store->get("a"));
  EXPECT_EQ(store->touch("a", 0), KvOutcome::kNotFound);
  EXPECT_EQ(store->erase("a").outcome, KvOutcome::kNotFound);
  EXPECT_EQ(put_text(*store, "a", "2", {.kind = KvCondition::kIfAbsent}).outcome, KvOutcome::kDone);
  EXPECT_EQ(get_text(*store, "b"), "1");
  EXPECT_EQ(store->stats().expired, 1u);
}

TEST_P(KvContract, AVisitSeesEveryItemOnce) {
  std::unique_ptr<KvStore> store = open();
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 500; ++i) {
    const std::string key = "key" + std::to_string(i);
    expected[key] = std::string(static_cast<size_t>(i % 90), 'v');
    for (int times = 0; times < (i % 50 == 0 ? 10 : 1); ++times) {  // some lie in the write cache
      put_text(*store, key, expected[key]);
    }
  }
  put_text(*store, "expired", "v", {}, /*expires_s=*/1);
  store->erase("key7");
  expected.erase("key7");
  std::map<std::string, std::string> seen;
  uint64_t cursor = 0;
  do {
    cursor = store->visit(cursor, [&](std::string_view key, const KvItem& item) {
      EXPECT_TRUE(seen.emplace(key, test::text_of(item.value())).second) << key;
      EXPECT_EQ(item.meta.flags, 7u);
    });
  } while (cursor != 0);
  EXPECT_EQ(seen, expected);
}

TEST_P(KvContract, ClearTakesAllAndNothingThatComesAfter) {
  std::unique_ptr<KvStore> store = open();
  for (int i = 0; i < 100; ++i) put_text(*store, "k" + std::to_string(i), "x");
  for (int i = 0; i < 5; ++i) put_text(*store, "often", "x");
  const KvItem held = store->get("k7");
  EXPECT_TRUE(store->clear().ok());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(store->get("k" + std::to_string(i)));
  EXPECT_FALSE(store->get("often"));
  EXPECT_EQ(store->stats().items, 0u);
  put_text(*store, "k1", "y");
  EXPECT_EQ(get_text(*store, "k1"), "y");
  EXPECT_EQ(test::text_of(held.value()), "x");
}

TEST_P(KvContract, Limits) {
  std::unique_ptr<KvStore> store = open();
  EXPECT_EQ(put_text(*store, std::string(250, 'k'), "v").outcome, KvOutcome::kDone);
  EXPECT_EQ(put_text(*store, std::string(251, 'k'), "v").outcome, KvOutcome::kTooLarge);
  EXPECT_EQ(put_text(*store, "", "v").outcome, KvOutcome::kTooLarge);
  const std::string large(30 << 10, 'v');
  EXPECT_EQ(put_text(*store, "large", large).outcome, KvOutcome::kDone);
  EXPECT_EQ(get_text(*store, "large"), large);
  EXPECT_EQ(put_text(*store, "larger", std::string(33 << 10, 'v')).outcome, KvOutcome::kTooLarge);
}

// Writes many times the medium's size; items that are found are right and new.
TEST_P(KvContract, AFullStoreReplaces) {
  std::unique_ptr<KvStore> store = open();
  Prng random(test_seed());
  std::map<std::string, uint64_t> newest;
  uint64_t found = 0;
  for (uint64_t i = 0; i < 12000; ++i) {
    const std::string key = "key" + std::to_string(random.below(5000));
    const auto value = test::kv_value(key, i, random.below(1200));
    ASSERT_EQ(store->put(key, value, KvMeta{}).outcome, KvOutcome::kDone);
    newest[key] = i;
    const std::string other = "key" + std::to_string(random.below(5000));
    const KvItem item = store->get(other);
    if (!item) continue;
    ++found;
    ASSERT_TRUE(newest.contains(other));
    ASSERT_TRUE(
        test::same(item.value(), test::kv_value(other, newest[other], item.value().size())));
  }
  const KvStats stats = store->stats();
  EXPECT_GT(found, 1000u);
  EXPECT_GT(stats.zones_cleaned, 20u);
  EXPECT_GT(stats.evicted, 1000u);
  EXPECT_LT(stats.items, 5000u);
  EXPECT_GT(stats.items, 500u);
}

TEST_P(KvContract, UsedItemsSurviveCleaning) {
  std::unique_ptr<KvStore> store = open();
  put_text(*store, "first", std::string(100, 'f'));  // the others move to where it was
  for (int i = 0; i < 50; ++i) put_text(*store, "hot" + std::to_string(i), std::string(200, 'h'));
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 50; ++i) (void)store->get("hot" + std::to_string(i));
    for (int i = 0; i < 100; ++i) {
      put_text(*store, "cold" + std::to_string(round * 100 + i), std::string(200, 'c'));
    }
  }
  int kept = 0;
  for (int i = 0; i < 50; ++i) kept += get_text(*store, "hot" + std::to_string(i)) != "";
  EXPECT_EQ(kept, 50);
  EXPECT_GT(store->stats().relocated, 0u);
  EXPECT_GT(store->stats().hot_sets_kept, 0u);
}

TEST_P(KvContract, HeldItemsStayInPlace) {
  std::unique_ptr<KvStore> store = open();
  put_text(*store, "held", "stays");
  put_text(*store, "often", "first");
  for (int i = 0; i < 4; ++i) put_text(*store, "often", "first");
  const KvItem held = store->get("held");
  const KvItem often = store->get("often");
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(put_text(*store, "k" + std::to_string(i), std::string(300, 'x')).outcome,
              KvOutcome::kDone);
  }
  put_text(*store, "often", "second");
  EXPECT_EQ(test::text_of(held.value()), "stays");
  EXPECT_EQ(test::text_of(often.value()), "first");
}

// Readers hold every zone: puts are refused without waiting, until readers release items.
TEST_P(KvContract, RefusesWhileReadersHoldEveryZone) {
  std::unique_ptr<KvStore> store = open();
  std::vector<KvItem> held;
  KvOutcome outcome = KvOutcome::kDone;
  for (int i = 0; i < 200 && outcome == KvOutcome::kDone; ++i) {
    const std::string key = "k" + std::to_string(i);
    outcome = put_text(*store, key, std::string(20 << 10, 'x')).outcome;
    held.push_back(store->get(key));
  }
  EXPECT_EQ(outcome, KvOutcome::kNoSpace);
  held.clear();
  EXPECT_EQ(put_text(*store, "after", "x").outcome, KvOutcome::kDone);
}

// Values name their key and carry a number that only grows; readers see none go back.
TEST_P(KvContract, ConcurrentReadersSeeWholeAndNewValues) {
  std::unique_ptr<KvStore> store = open();
  constexpr int kKeys = 40;
  std::array<std::atomic<uint64_t>, kKeys> written{};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  const auto write = [&](int thread) {
    Prng random(test_seed() + static_cast<uint64_t>(thread));
    for (uint64_t i = 1; i < 3000; ++i) {
      const int number = static_cast<int>(random.below(kKeys / 2)) * 2 + thread;
      const std::string key = "key" + std::to_string(number);
      if (random.below(10) == 0) (void)store->erase(key);
      if (random.below(200) == 0) (void)store->touch(key, 0);
      std::string value = key + ":" + std::to_string(i) + ":";
      value.resize(value.size() + random.below(3000), static_cast<char>('a' + i % 26));
      const KvOutcome outcome = put_text(*store, key, value).outcome;
      if (outcome == KvOutcome::kDone) {
        written[static_cast<size_t>(number)].store(i, std::memory_order_release);
      }
      if (thread == 0 && i % 1000 == 0) {
        EXPECT_TRUE(store->clear().ok());
      }
    }
  };
  const auto read = [&](uint64_t seed) {
    Prng random(seed);
    while (!stop.load()) {
      const auto number = random.below(kKeys);
      const std::string key = "key" + std::to_string(number);
      const uint64_t least = written[number].load(std::memory_order_acquire);
      const KvItem item = store->get(key);
      if (!item) continue;
      const std::string value = test::text_of(item.value());
      const size_t colon = value.find(':', key.size() + 1);
      if (!value.starts_with(key + ":") || colon == std::string::npos) {
        ++wrong;
        continue;
      }
      const uint64_t i = std::stoull(value.substr(key.size() + 1));
      const char letter = static_cast<char>('a' + i % 26);
      if (i < least || value.find_first_not_of(letter, colon + 1) != std::string::npos) ++wrong;
    }
  };
  std::vector<std::thread> readers;
  for (uint64_t i = 0; i < 2; ++i) readers.emplace_back(read, test_seed() + 10 + i);
  std::thread writer0(write, 0);
  std::thread writer1(write, 1);
  writer0.join();
  writer1.join();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0u);
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const std::string medium : {"dram", "file:", "emulated:dram", "crashing"}) {
    for (const Durability durability :
         {Durability::kCache, Durability::kVolatile, Durability::kEach, Durability::kEachLru}) {
      all.push_back({medium, durability});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, KvContract, ::testing::ValuesIn(settings()), [](const auto& setting) {
  std::string name;
  for (const char c : setting.param.medium) {
    if (std::isalnum(static_cast<unsigned char>(c))) name.push_back(c);
  }
  return name + "_" + std::string(durability_name(setting.param.durability));
});

}  // namespace
}  // namespace nvcache
