// A store with room to spare loses no item that lives, whether it was read or not.
#include <map>
#include <string>
#include <vector>

#include "kv_store/kv_fixture.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

KvConfig config_of(KvCleaning cleaning) {
  KvConfig config;
  config.size_bytes = 8 << 20;
  config.zone_bytes = 64 << 10;
  config.item_bytes = 256;
  config.write_cache_bytes = 128 << 10;
  config.cleaning = cleaning;
  return config;
}

// How a client uses a store that is to be 80% full.
struct Mix {
  const char* name;
  double gets;     // share of operations
  double deletes;  // an item goes, and another comes
  uint32_t least_bytes;
  uint32_t most_bytes;
  uint32_t large_bytes = 0;  // of one value in a hundred
};
constexpr Mix kMixes[] = {
    {"sessions, updated and never read", 0, 0, 200, 400},
    {"updates and as many reads", 0.5, 0, 100, 1000},
    {"items that come and go", 0.1, 0.5, 50, 500},
    {"items of very different sizes", 0.3, 0.2, 10, 8000},
    {"small items, and values of nearly half a zone", 0.3, 0.2, 100, 400, 32'000},
};

class Client {
 public:
  Client(KvStore& store, const Mix& mix, uint64_t live_bytes)
      : store_(store), mix_(mix), random_(test_seed()) {
    while (live_bytes_ < live_bytes) add();
  }

  // Changes as many bytes as all live items have, so many times.
  void churn(int times) {
    const uint64_t most_bytes = times * live_bytes_;
    const uint64_t target_bytes = live_bytes_;
    for (uint64_t written_bytes = 0; written_bytes < most_bytes;) {
      const size_t at = random_.below(keys_.size());
      if (random_.unit() < mix_.gets) {
        EXPECT_TRUE(holds(keys_[at]));
      } else if (random_.unit() < mix_.deletes) {
        remove(at);
        while (live_bytes_ < target_bytes) written_bytes += add();
      } else {
        // Of the same size, so that the fill stays.
        Item& item = items_[keys_[at]];
        ++item.number;
        put(keys_[at], item);
        written_bytes += item.bytes;
      }
    }
  }

  uint64_t missing() {
    uint64_t count = 0;
    for (const std::string& key : keys_) count += !holds(key);
    return count;
  }

 private:
  struct Item {
    uint64_t number = 0;
    uint32_t bytes = 0;
  };

  uint64_t add() {
    const std::string key = "key" + std::to_string(next_++);
    const auto bytes = static_cast<uint32_t>(
        mix_.large_bytes != 0 && random_.below(100) == 0
            ? mix_.large_bytes
            : mix_.least_bytes + random_.below(mix_.most_bytes - mix_.least_bytes));
    keys_.push_back(key);
    items_[key] = {.number = 0, .bytes = bytes};
    put(key, items_[key]);
    live_bytes_ += kv_item_bytes(key.size(), bytes);
    return bytes;
  }
  void remove(size_t at) {
    const std::string key = keys_[at];
    keys_[at] = keys_.back();
    keys_.pop_back();
    EXPECT_EQ(store_.erase(key).outcome, KvOutcome::kDone) << key;
    live_bytes_ -= kv_item_bytes(key.size(), items_[key].bytes);
    items_.erase(key);
  }
  void put(const std::string& key, const Item& item) {
    const auto value = test::kv_value(key, item.number, item.bytes);
    ASSERT_EQ(store_.put(key, value, KvMeta{}).outcome, KvOutcome::kDone);
  }
  bool holds(const std::string& key) {
    const KvItem found = store_.get(key);
    const Item& item = items_[key];
    return found && test::same(found.value(), test::kv_value(key, item.number, item.bytes));
  }

  KvStore& store_;
  const Mix mix_;
  Prng random_;
  std::vector<std::string> keys_;
  std::map<std::string, Item> items_;
  uint64_t next_ = 0;
  uint64_t live_bytes_ = 0;
};

std::unique_ptr<KvStore> open(const KvConfig& config) {
  return test::make_kv(config, std::make_unique<CrashingMedium>(config.size_bytes));
}

// Bytes that all zones have together.
uint64_t room_bytes(const KvStore& store) {
  const KvGeometry& geometry = static_cast<const KvStoreImpl&>(store).geometry();
  return geometry.zones * geometry.zone_bytes;
}

class KvLive : public ::testing::TestWithParam<Mix> {};

TEST_P(KvLive, NothingIsLostAt80Percent) {
  const KvConfig config = config_of(KvCleaning::kLive);
  const auto store = open(config);
  Client client(*store, GetParam(), room_bytes(*store) * 80 / 100);
  client.churn(5);
  EXPECT_EQ(client.missing(), 0u);
  const KvStats stats = store->stats();
  EXPECT_EQ(stats.evicted, 0u);
  EXPECT_EQ(stats.refused, 0u);
  std::printf("%s: cleaning copied %.2f bytes for each new one\n", GetParam().name,
              static_cast<double>(stats.relocated_bytes) /
                  static_cast<double>(stats.medium_written_bytes - stats.relocated_bytes));
  EXPECT_LT(static_cast<double>(stats.medium_written_bytes),
            3 * static_cast<double>(stats.medium_written_bytes - stats.relocated_bytes));
}

INSTANTIATE_TEST_SUITE_P(Mixes, KvLive, ::testing::ValuesIn(kMixes),
                         [](const auto& at) { return "Mix" + std::to_string(at.index); });

// The paper's rule, for comparison: what was not read since the last cleaning goes.
TEST(KvLivePaper, LosesWhatIsNotRead) {
  const KvConfig config = config_of(KvCleaning::kPaper);
  const auto store = open(config);
  Client client(*store, kMixes[0], room_bytes(*store) * 30 / 100);
  client.churn(5);
  EXPECT_GT(client.missing(), 100u);
}

// Items that expired take no room from those that live, though nobody asks for them again.
TEST(KvLiveExpired, AStreamOfShortLivesLeavesTheOthers) {
  KvConfig config = config_of(KvCleaning::kLive);
  config.size_bytes = 1 << 20;
  config.zone_bytes = 16 << 10;
  config.write_cache_bytes = 0;
  config.clean_ahead = false;
  uint32_t now_s = 1000;
  config.now_s = [&] { return now_s; };
  const auto store = open(config);
  const auto put = [&](const std::string& key, uint32_t expires_s) {
    ASSERT_EQ(store->put(key, test::kv_value(key, 0, 1000), {.expires_s = expires_s}).outcome,
              KvOutcome::kDone);
  };
  for (int i = 0; i < 100; ++i) put("stays" + std::to_string(i), 0);
  for (int i = 0; i < 20'000; ++i) {
    if (i % 200 == 0) ++now_s;
    put("goes" + std::to_string(i), now_s + 1);
  }
  for (int i = 0; i < 100; ++i) {
    const std::string key = "stays" + std::to_string(i);
    EXPECT_TRUE(store->get(key)) << key;
  }
  EXPECT_EQ(store->stats().evicted, 0u) << "what had expired was not evicted";
}

// A store that is full evicts, and keeps about what it has room for.
TEST(KvLiveFull, EvictsOnlyWhatHasNoRoom) {
  const KvConfig config = config_of(KvCleaning::kLive);
  const auto store = open(config);
  uint64_t written_bytes = 0;
  for (uint64_t i = 0; written_bytes < 3 * config.size_bytes; ++i) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_EQ(store->put(key, test::kv_value(key, i, 500), KvMeta{}).outcome, KvOutcome::kDone);
    written_bytes += 500;
  }
  const KvStats stats = store->stats();
  EXPECT_GT(stats.evicted, 0u);
  EXPECT_GT(stats.data_bytes, config.size_bytes * 7 / 10);
}

// Items of up to half a zone: two do not fit beside what a cleaning of live items leaves.
TEST(KvLiveFull, LargeItemsAlwaysFindRoom) {
  const KvConfig config = config_of(KvCleaning::kLive);
  const auto store = open(config);
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string key = "key" + std::to_string(i % 300);
    const size_t bytes = i % 3 == 0 ? 32000 : 26000;
    ASSERT_EQ(store->put(key, test::kv_value(key, i, bytes), KvMeta{}).outcome, KvOutcome::kDone);
  }
}

TEST(KvLiveSums, AreThoseOfTheZones) {
  const KvConfig config = config_of(KvCleaning::kLive);
  const auto store = open(config);
  Client client(*store, kMixes[3], room_bytes(*store) * 60 / 100);
  client.churn(3);
  auto& impl = static_cast<KvStoreImpl&>(*store);
  ASSERT_TRUE(store->sync().ok());  // no item is left in the write cache
  ASSERT_TRUE(impl.close().ok());   // no thread cleans zones while they are counted
  uint64_t items = 0;
  uint64_t bytes = 0;
  for (const uint64_t zone : impl.zones_by_age()) {
    impl.visit_zone(zone, [&](std::string_view key, ByteView value, const KvMeta&) {
      ++items;
      bytes += kv_item_bytes(key.size(), value.size()) - kKvItemHeaderBytes;
    });
  }
  const KvStats stats = store->stats();
  EXPECT_EQ(stats.items, items);
  EXPECT_EQ(stats.data_bytes, bytes) << "with what rounding to grains adds";
}

}  // namespace
}  // namespace nvcache
