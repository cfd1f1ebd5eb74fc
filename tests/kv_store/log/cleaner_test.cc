// Cleaning a zone: what goes, what stays in place and what moves; versions.
#include <functional>
#include <memory>
#include <utility>

#include "base/test_hooks.h"
#include "kv_store/parts_fixture.h"

namespace nvcache {
namespace {

Survivor survivor(uint64_t offset, uint64_t size_bytes, uint32_t age) {
  return {.descriptor = {}, .offset = offset, .size_bytes = size_bytes, .age = age};
}

TEST(ChooseSurvivors, AllInTheirOrderIfThereIsRoom) {
  const auto chosen = choose_survivors({survivor(0, 100, 9), survivor(100, 100, 1)}, 200);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].offset, 0u);
}

TEST(ChooseSurvivors, ThoseUsedLastIfThereIsNot) {
  const auto chosen = choose_survivors(
      {survivor(0, 100, 9), survivor(100, 150, 1), survivor(250, 100, 2), survivor(350, 50, 3)},
      200);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].offset, 100u);
  EXPECT_EQ(chosen[1].offset, 350u) << "smaller ones fill the room that is left";
}

// Calls the test back when it is drained: before the first item of a cleaning moves, and after the
// last.
class CallingMedium final : public Medium {
 public:
  explicit CallingMedium(std::unique_ptr<Medium> inner) : inner_(std::move(inner)) {}

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return inner_->traits(); }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override {
    return inner_->read(offset, into);
  }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override {
    return inner_->write(offset, from);
  }
  [[nodiscard]] Status drain() override {
    if (on_drain) on_drain();
    return inner_->drain();
  }
  ByteView direct() const override { return inner_->direct(); }
  [[nodiscard]] Status resize(uint64_t bytes) override { return inner_->resize(bytes); }

  std::function<void()> on_drain;

 private:
  const std::unique_ptr<Medium> inner_;
};

class CleanerTest : public test::PartsFixture {
 protected:
  CleanerTest() { make(paper()); }

  static KvConfig paper() {
    KvConfig config = test::small_config();
    config.cleaning = KvCleaning::kPaper;
    return config;
  }
  // A list of used items that holds all of them.
  static KvConfig keeping() {
    KvConfig config = paper();
    config.hot_share = 1;
    return config;
  }
  void use(std::string_view key) {
    ItemLocation found;
    ASSERT_EQ(index_->find(bucket_of(key), key, &found), ItemIndex::Presence::kPresent);
    index_->note_use(found.slot);
    parts_->zones.unpin(found.zone);
  }
  uint64_t hot_line(uint64_t zone) {
    MutexLock lock(parts_->zones.cleaning_mutex());
    return parts_->zones.hot_line(zone);
  }
};

TEST_F(CleanerTest, UnusedItemsGoWithOneFlush) {
  const uint64_t zone = insert("a", "one").zone;
  insert("b", "two");
  const uint64_t before = count(KvCounter::kDrains);
  EXPECT_TRUE(clean(zone));
  EXPECT_EQ(count(KvCounter::kDrains), before + 1);
  EXPECT_EQ(count(KvCounter::kEvicted), 2u);
  EXPECT_EQ(find("a"), "");
  EXPECT_EQ(find("b"), "");
  EXPECT_EQ(parts_->headers.live().items, 0u);
}

TEST_F(CleanerTest, UsedItemsMoveBeforeTheHotLineThenStay) {
  make(keeping());
  const uint64_t zone = insert("cold", "goes").zone;
  insert("hot", "stays");
  parts_->use_list.set_length(1600);
  use("hot");
  ASSERT_TRUE(clean(zone));
  EXPECT_EQ(find("cold"), "");
  EXPECT_EQ(find("hot"), "stays");
  EXPECT_EQ(hot_line(zone), kv_item_bytes(3, 5));
  EXPECT_EQ(count(KvCounter::kRelocated), 1u);

  ASSERT_TRUE(clean(zone));
  EXPECT_EQ(find("hot"), "stays");
  EXPECT_EQ(count(KvCounter::kHotSetsKept), 1u);
  EXPECT_EQ(count(KvCounter::kRelocated), 1u) << "in place: nothing was moved again";
}

TEST_F(CleanerTest, ExpiredItemsGoHoweverMuchUsed) {
  make(keeping());
  const uint64_t zone = insert("a", "one", /*expires_s=*/1010).zone;
  parts_->use_list.set_length(1600);
  use("a");
  now_s_ = 1010;
  ASSERT_TRUE(clean(zone));
  EXPECT_EQ(find("a"), "");
}

TEST_F(CleanerTest, LiveItemsStayThoughNobodyUsedThem) {
  make(test::small_config());
  const uint64_t zone = insert("b", "two", /*expires_s=*/1010).zone;
  insert("a", "one");
  now_s_ = 1010;
  ASSERT_TRUE(clean(zone));
  EXPECT_EQ(find("a"), "one");
  EXPECT_EQ(find("b"), "");
  EXPECT_EQ(count(KvCounter::kEvicted), 0u) << "the other had expired";
  EXPECT_EQ(hot_line(zone), kv_item_bytes(1, 3));
  ASSERT_TRUE(clean(zone));
  EXPECT_EQ(find("a"), "one");
  EXPECT_EQ(count(KvCounter::kRelocated), 1u) << "what is in its place stays there";
}

// As a touch does that held the item while the cleaner surveyed the zone.
TEST_F(CleanerTest, ATimeOfExpiryThatChangesAfterTheSurveyStays) {
  const KvConfig config = test::small_config();
  auto dram = DramMedium::open({.size_bytes = config.size_bytes});
  ASSERT_TRUE(dram.ok()) << dram.status();
  auto medium = std::make_unique<CallingMedium>(*std::move(dram));
  CallingMedium* const calls = medium.get();
  make_on(std::move(medium), config);
  insert("gone", "x", /*expires_s=*/1001);
  const ZoneLog::Room room = insert("a", "one", /*expires_s=*/1010);
  now_s_ = 1001;
  int touches = 0;
  calls->on_drain = [&] {
    if (touches++ == 0) parts_->items.set_expiry(room.address, /*expires_s=*/2020, /*cas=*/0);
  };
  ASSERT_TRUE(clean(room.zone));
  calls->on_drain = nullptr;
  ASSERT_EQ(touches, 2) << "two flushes, of the header";
  ASSERT_EQ(count(KvCounter::kRelocated), 1u);
  ItemLocation found;
  ASSERT_EQ(index_->find(bucket_of("a"), "a", &found), ItemIndex::Presence::kPresent);
  EXPECT_EQ(found.item.expires_s(), 2020u);
  EXPECT_EQ(test::text_of(found.item.value()), "one");
  parts_->zones.unpin(found.zone);
}

TEST_F(CleanerTest, TheZoneWithTheMostGarbageIsNext) {
  make(test::small_config());
  MutexLock lock(parts_->zones.cleaning_mutex());
  ZoneCleaner& cleaner = *cleaner_;
  for (uint64_t zone = 0; zone < 5; ++zone) {
    parts_->headers.count(zone, 1, zone == 3 ? 500 : 2000 + static_cast<int64_t>(zone));
  }
  EXPECT_EQ(cleaner.choose({4, 3, 2, 1, 0}), 1u);
  EXPECT_EQ(cleaner.choose({4, 2, 0, 1}), 2u);
  for (uint64_t zone = 5; zone < 11; ++zone) parts_->headers.count(zone, 1, 4096);
  for (uint64_t zone = 0; zone < 5; ++zone) parts_->headers.count(zone, 1, 2000);
  EXPECT_EQ(cleaner.choose({4, 3, 2, 1, 0}), 0u) << "too full: the oldest";
}

// Three items fill a zone, one lies in another, and a third is open.
class EvacuationTest : public CleanerTest {
 protected:
  static constexpr uint64_t kLargeBytes = 2048;

  EvacuationTest() {
    make(test::small_config());
    crowded_ = insert("a", std::string(1300, 'a')).zone;
    insert("b", std::string(1200, 'b'));
    insert("c", std::string(1100, 'c'), /*expires_s=*/1010);
    other_ = insert("other", std::string(500, 'o')).zone;
    insert("last", std::string(3700, 'l'));
  }
  uint64_t zone_of(std::string_view key) {
    ItemLocation found;
    if (index_->find(bucket_of(key), key, &found) != ItemIndex::Presence::kPresent) return ~0ull;
    parts_->zones.unpin(found.zone);
    return found.zone;
  }

  uint64_t crowded_ = 0;
  uint64_t other_ = 0;
};

TEST_F(EvacuationTest, TheSmallestItemsGoToAnotherZone) {
  ASSERT_TRUE(clean(crowded_, kLargeBytes));
  EXPECT_EQ(count(KvCounter::kEvicted), 0u);
  EXPECT_EQ(zone_of("a"), crowded_);
  EXPECT_EQ(zone_of("b"), other_);
  EXPECT_EQ(zone_of("c"), other_);
  EXPECT_EQ(zone_of("other"), other_);
  EXPECT_EQ(find("a"), std::string(1300, 'a'));
  EXPECT_EQ(find("b"), std::string(1200, 'b'));
  EXPECT_EQ(find("c"), std::string(1100, 'c'));
  EXPECT_LE(hot_line(crowded_), parts_->geometry.zone_bytes - kLargeBytes);
  EXPECT_EQ(parts_->headers.live_items(crowded_), 1u);
  EXPECT_EQ(parts_->headers.live_items(other_), 3u);
  ASSERT_TRUE(clean(other_));
  EXPECT_EQ(find("b"), std::string(1200, 'b')) << "lies there as any other";
}

// As a touch does that held the item while it was copied.
TEST_F(EvacuationTest, ATimeOfExpiryThatChangesMeanwhileStays) {
  static KvItems* items = nullptr;
  static uint64_t address = 0;
  items = &parts_->items;
  address = parts_->geometry.zone_at(crowded_) + kv_item_bytes(1, 1300) + kv_item_bytes(1, 1200);
  test_hooks.on_cleaning_step = [] { items->set_expiry(address, /*expires_s=*/2020, /*cas=*/0); };
  EXPECT_TRUE(clean(crowded_, kLargeBytes));
  test_hooks.on_cleaning_step = nullptr;
  ASSERT_EQ(zone_of("c"), other_);
  now_s_ = 2019;
  ItemLocation found;
  ASSERT_EQ(index_->find(bucket_of("c"), "c", &found), ItemIndex::Presence::kPresent);
  EXPECT_EQ(found.item.expires_s(), 2020u);
  parts_->zones.unpin(found.zone);
}

// Then what was not used lately goes, as in a full store.
TEST_F(EvacuationTest, WithoutAnotherZoneItemsAreEvicted) {
  const auto version = parts_->zones.version_of(other_);
  ASSERT_EQ(parts_->zones.pin(other_, version), ZoneLog::Validity::kValid);
  parts_->zones.pin(crowded_, parts_->zones.version_of(crowded_));
  EXPECT_FALSE(clean(crowded_, kLargeBytes));
  parts_->zones.unpin(crowded_);
  EXPECT_TRUE(clean(crowded_, kLargeBytes));
  EXPECT_GT(count(KvCounter::kEvicted), 0u);
  parts_->zones.unpin(other_);
}

TEST_F(CleanerTest, APinnedZoneIsLeftAlone) {
  const auto room = insert("a", "one");
  ASSERT_EQ(parts_->zones.pin(room.zone, room.version), ZoneLog::Validity::kValid);
  EXPECT_FALSE(clean(room.zone));
  EXPECT_EQ(find("a"), "one");
  parts_->zones.unpin(room.zone);
  EXPECT_TRUE(clean(room.zone));
}

// Whoever wrote in these stripes before the drain could rely on what a loss of power undoes.
TEST_F(CleanerTest, ASweepDrainsOnceAndKeepsWritersAwayUntilThen) {
  constexpr int kItems = 20;
  const KvConfig config = test::small_config();
  auto dram = DramMedium::open({.size_bytes = config.size_bytes});
  ASSERT_TRUE(dram.ok()) << dram.status();
  auto medium = std::make_unique<CallingMedium>(*std::move(dram));
  CallingMedium* const calls = medium.get();
  make_on(std::move(medium), config);
  const uint64_t zone = insert("lives", "on", /*expires_s=*/1002).zone;
  const auto key = [](int i) { return "key" + std::to_string(i); };
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(insert(key(i), "x", 1001).zone, zone);
  now_s_ = 1001;
  int drains = 0;
  const auto count_held = [&] {
    int held = 0;
    for (int i = 0; i < kItems; ++i) held += bucket_of(key(i)).stripe.clearing;
    return held;
  };
  calls->on_drain = [&] {
    ++drains;
    EXPECT_EQ(count_held(), kItems);
    EXPECT_EQ(find(key(0)), "");
  };
  {
    MutexLock lock(parts_->zones.cleaning_mutex());
    ZoneCleaner& cleaner = *cleaner_;
    EXPECT_EQ(cleaner.sweep(zone), 1002u) << "when the next one expires";
    EXPECT_EQ(cleaner.sweep(zone), 1002u);
  }
  EXPECT_EQ(drains, 1) << "and none where nothing has expired";
  EXPECT_EQ(count_held(), 0);
  EXPECT_EQ(find("lives"), "on");
  EXPECT_EQ(parts_->headers.live().items, 1u);
}

// Two bits of a version: a descriptor of version 2 must be gone when the zone has it again.
TEST_F(CleanerTest, DescriptorsAreClearedBeforeVersionsComeRound) {
  KvConfig config = paper();
  config.version_bits = 2;
  make(config);
  const auto room = insert("a", "one");
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(clean(room.zone));
    EXPECT_NE(parts_->zones.version_of(room.zone), 0u);
    EXPECT_EQ(find("a"), "");
  }
}

TEST_F(CleanerTest, RenewingAllLosesAllAndWhatComesLaterStays) {
  insert("a", "one");
  EXPECT_TRUE(cleaner_->renew_all().ok());
  EXPECT_EQ(find("a"), "");
  EXPECT_EQ(parts_->headers.live().items, 0u);
  insert("a", "two");
  EXPECT_EQ(find("a"), "two");
}

}  // namespace
}  // namespace nvcache
