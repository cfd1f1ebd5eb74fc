// A table of items that is full long before the zones are: it is counted and told, and a resize
// makes it fit what is stored.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "kv_store/resize.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kItems = 100'000;

class TableGrowth : public ::testing::Test {
 protected:
  std::string spec(const std::string& more = "") const {
    return "nvkv://?size=8MiB&medium=file:" + path_ + "&write_cache=0" + more;
  }
  static std::unique_ptr<KvStore> open(const std::string& of) {
    auto store = open_kv_store(of);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  // Keys of 10 bytes, values of 16.
  static void fill(KvStore& store, int items = kItems) {
    for (int i = 0; i < items; ++i) {
      const std::string key = fmt::format("key{:07}", i);
      ASSERT_EQ(test::put_text(store, key, fmt::format("{:016}", i)).outcome, KvOutcome::kDone);
    }
  }
  static int found(KvStore& store) {
    int count = 0;
    for (int i = 0; i < kItems; ++i) {
      const std::string value = test::get_text(store, fmt::format("key{:07}", i));
      if (value.empty()) continue;
      ++count;
      EXPECT_EQ(value, fmt::format("{:016}", i));
    }
    return count;
  }
  // A store whose table is full.
  KvStats fill_table() {
    const auto store = open(spec());
    fill(*store);
    return store->stats();
  }

  TempDir dir_;
  const std::string path_ = dir_.file("kv");
};

TEST_F(TableGrowth, IsTakenWhereSmallItemsFillTheTable) {
  const KvStats before = fill_table();
  EXPECT_LT(before.table_places, uint64_t{kItems} / 2);
  EXPECT_GT(before.items, before.table_places * 8 / 10);
  EXPECT_GT(before.table_evicted, uint64_t{kItems} / 2);
  EXPECT_EQ(before.evicted, before.table_evicted) << "the zones have room";
  EXPECT_EQ(before.fitting_item_bytes, 56u + 25u);

  const auto resized = resize_kv_store(spec());
  ASSERT_TRUE(resized.ok()) << resized.status();
  EXPECT_EQ(resized->after_bytes, 8u << 20);
  EXPECT_EQ(resized->items_kept, before.items);
  EXPECT_THAT(resized->notes, ElementsAre(HasSubstr("the table of items was full with")));

  const auto store = open(spec());
  EXPECT_EQ(store->stats().items, before.items);
  fill(*store);
  const KvStats after = store->stats();
  EXPECT_GT(after.items, uint64_t{90'000});
  EXPECT_GT(after.items, 2 * before.items);
  EXPECT_LT(after.table_evicted, 100u) << "of unlucky groups";
  EXPECT_EQ(after.fitting_item_bytes, 0u) << "a copy at every start would not end";
  EXPECT_EQ(found(*store), static_cast<int>(after.items));
}

TEST_F(TableGrowth, HappensOnceAndNotForAStoreThatFits) {
  fill_table();
  EXPECT_NE(resize_kv_store(spec())->after_bytes, 0u);
  fill(*open(spec()));
  EXPECT_EQ(resize_kv_store(spec())->after_bytes, 0u);
  fill(*open(spec()), kItems * 3);
  EXPECT_EQ(resize_kv_store(spec())->after_bytes, 0u);
}

TEST_F(TableGrowth, TheItemThatTheUserNamesIsObeyed) {
  const KvStats before = fill_table();
  EXPECT_EQ(resize_kv_store(spec("&item=256"))->after_bytes, 0u);
  ASSERT_NE(resize_kv_store(spec("&item=100"))->after_bytes, 0u);
  const KvStats named = open(spec("&item=100"))->stats();
  EXPECT_GT(named.table_places, 2 * before.table_places);
  EXPECT_EQ(named.items, before.items);
  EXPECT_EQ(resize_kv_store(spec("&item=100"))->after_bytes, 0u);
  ASSERT_NE(resize_kv_store(spec("&item=256"))->after_bytes, 0u) << "and back";
  EXPECT_EQ(open(spec())->stats().table_places, before.table_places);
}

TEST_F(TableGrowth, AnotherSizeComesWithATableThatFits) {
  fill_table();
  const std::string larger = "nvkv://?size=16MiB&medium=file:" + path_;
  ASSERT_NE(resize_kv_store(larger)->after_bytes, 0u);
  EXPECT_GT(open(larger)->stats().table_places, uint64_t{16 << 20} / 81);
}

TEST_F(TableGrowth, LargeItemsLeaveTheTableAsItIs) {
  const std::string value(400, 'v');
  {
    const auto store = open(spec());
    for (int i = 0; i < kItems; ++i) test::put_text(*store, fmt::format("{}", i), value);
    EXPECT_EQ(store->stats().fitting_item_bytes, 0u);
    EXPECT_EQ(store->stats().table_evicted, 0u);
  }
  EXPECT_EQ(resize_kv_store(spec())->after_bytes, 0u);
}

// As a loss of power may leave them.
TEST_F(TableGrowth, CountsThatCannotBeAreNotBelieved) {
  fill(*open(spec()), 100);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const uint64_t torn = ~uint64_t{0} / 2;
    constexpr std::streamoff kFirstHeader = 3 * 4096;
    file.seekp(kFirstHeader + static_cast<std::streamoff>(offsetof(KvZoneHeader, live_items)));
    file.write(reinterpret_cast<const char*>(&torn), sizeof torn);
  }
  const auto resized = resize_kv_store(spec());
  ASSERT_TRUE(resized.ok()) << resized.status();
  EXPECT_EQ(resized->after_bytes, 0u);
  EXPECT_THAT(resized->notes, ElementsAre());
}

TEST_F(TableGrowth, WithoutRoomTheStoreGoesOnAsItIs) {
  const KvStats before = fill_table();
  // Nothing can be written where the new file would lie.
  std::filesystem::create_directory(resizing_path(path_));
  std::filesystem::create_directory(resizing_path(path_) + "/full");
  const auto resized = resize_kv_store(spec());
  ASSERT_TRUE(resized.ok()) << resized.status();
  EXPECT_EQ(resized->after_bytes, 0u);
  EXPECT_THAT(resized->notes, ElementsAre(HasSubstr("was full"), HasSubstr("cannot grow now")));
  EXPECT_EQ(open(spec())->stats().items, before.items);
}

TEST_F(TableGrowth, WhoGivesUpFindsTheStoreAsItWas) {
  const KvStats before = fill_table();
  const auto resized = resize_kv_store(spec(), [](uint64_t, uint64_t) { return false; });
  EXPECT_EQ(resized.status().code(), StatusCode::kAborted) << resized.status();
  EXPECT_EQ(open(spec())->stats().items, before.items);
}

}  // namespace
}  // namespace nvcache
