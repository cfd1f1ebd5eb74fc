// Stores that nobody had for longer than max_absence=: what they hold may have changed elsewhere.
#include "kv_store/recovery/absence.h"

#include "base/test_hooks.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "kv_store/resize.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kStartS = 1'700'000'000;

class AbsenceTest : public ::testing::Test {
 protected:
  // The store on a medium that keeps all, opened when the clock says so.
  std::unique_ptr<KvStoreImpl> open(uint32_t now_s, uint32_t max_absence_s = 60,
                                    bool empties = false) {
    now_s_ = now_s;
    KvConfig config = test::small_config();
    config.max_absence_s = max_absence_s;
    config.empty_after_absence = empties;
    config.now_s = [this] { return now_s_; };
    auto medium = image_.empty() ? std::make_unique<CrashingMedium>(config.size_bytes)
                                 : std::make_unique<CrashingMedium>(image_);
    medium_ = medium.get();
    KvMedium on;
    on.medium = std::move(medium);
    auto store = KvStoreImpl::make(config, std::move(on));
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void close(std::unique_ptr<KvStoreImpl> store) {
    ASSERT_TRUE(store->close().ok());
    image_ = medium_->crash(1);
  }
  void kill(std::unique_ptr<KvStoreImpl> store) {
    ASSERT_TRUE(store->sync().ok());
    image_ = medium_->crash(1);
  }
  // "old" stored at the start, then away.
  std::unique_ptr<KvStoreImpl> open_again(uint32_t after_s, uint32_t max_absence_s = 60,
                                          bool empties = false) {
    auto store = open(kStartS, 0);
    old_cas_ = put_text(*store, "old", "value").cas;
    close(std::move(store));
    return open(kStartS + after_s, max_absence_s, empties);
  }

  uint32_t now_s_ = kStartS;
  uint64_t old_cas_ = 0;
  std::vector<std::byte> image_;
  CrashingMedium* medium_ = nullptr;
};

TEST_F(AbsenceTest, ItemsAreFreshUpToTheLimit) {
  const auto store = open_again(60);
  EXPECT_FALSE(store->get("old").outdated);
  EXPECT_EQ(get_text(*store, "old"), "value");
  EXPECT_EQ(store->stats().away_seconds, 60u);
  EXPECT_THAT(store->stats().notes, ElementsAre());
}

TEST_F(AbsenceTest, ItemsAreOutdatedBeyondItAndNewOnesAreNot) {
  auto store = open_again(61);
  EXPECT_TRUE(store->get("old").outdated);
  EXPECT_EQ(get_text(*store, "old"), "value");
  put_text(*store, "new", "value");
  EXPECT_FALSE(store->get("new").outdated);
  EXPECT_EQ(store->stats().outdated, 2u);
  EXPECT_THAT(store->stats().notes,
              ElementsAre(HasSubstr("away for 61 s, allowed: 60 s; its items count as stale")));
  // They stay so, and others fresh, over further openings: after an end in order, after a kill, and
  // where nothing more is asked for.
  close(std::move(store));
  store = open(kStartS + 70);
  EXPECT_TRUE(store->get("old").outdated);
  EXPECT_FALSE(store->get("new").outdated);
  kill(std::move(store));
  store = open(kStartS + 80, 0);
  EXPECT_TRUE(store->get("old").outdated);
  EXPECT_FALSE(store->get("new").outdated);
  put_text(*store, "old", "newer");
  EXPECT_FALSE(store->get("old").outdated);
}

TEST_F(AbsenceTest, NothingIsOutdatedWithoutTheSetting) {
  const auto store = open_again(1'000'000, 0);
  EXPECT_FALSE(store->get("old").outdated);
}

// A clock that is behind what the store has seen says nothing of how long it was away.
TEST_F(AbsenceTest, ItemsAreOutdatedWhereNobodyKnows) {
  const auto store = open_again(static_cast<uint32_t>(-10));
  EXPECT_TRUE(store->get("old").outdated);
  EXPECT_THAT(store->stats().notes, ElementsAre(HasSubstr("away for an unknown time")));
}

TEST_F(AbsenceTest, ChangesSeeNoOutdatedValueButByItsNumber) {
  auto store = open_again(61);
  EXPECT_EQ(store->touch("old", kStartS + 1000), KvOutcome::kNotFound);
  EXPECT_EQ(put_text(*store, "old", "x", {KvCondition::kIfPresent, 0}).outcome,
            KvOutcome::kNotFound);
  EXPECT_EQ(put_text(*store, "old", "x", {KvCondition::kIfCas, old_cas_ + 1}).outcome,
            KvOutcome::kExists);
  EXPECT_EQ(put_text(*store, "old", "by number", {KvCondition::kIfCas, old_cas_}).outcome,
            KvOutcome::kDone);
  EXPECT_FALSE(store->get("old").outdated);
  close(std::move(store));
  store = open(kStartS + 200);
  EXPECT_TRUE(store->get("old").outdated);
  EXPECT_EQ(put_text(*store, "old", "added", {KvCondition::kIfAbsent, 0}).outcome,
            KvOutcome::kDone);
  EXPECT_EQ(get_text(*store, "old"), "added");
  close(std::move(store));
  store = open(kStartS + 400);
  EXPECT_EQ(store->erase("old", 0).outcome, KvOutcome::kNotFound);
  EXPECT_FALSE(store->get("old")) << "it is gone all the same";
}

TEST_F(AbsenceTest, AStoreStartsEmptyIfAskedFor) {
  auto store = open_again(61, 60, true);
  EXPECT_FALSE(store->get("old"));
  EXPECT_THAT(store->stats().notes, ElementsAre(HasSubstr("its items were dropped")));
  EXPECT_GT(put_text(*store, "new", "value").cas, old_cas_);
  close(std::move(store));
  store = open(kStartS + 100, 60, true);
  EXPECT_FALSE(store->get("old"));
  EXPECT_EQ(get_text(*store, "new"), "value");
}

// A store in the page cache that is killed again and again. An opening that finishes a cleaning
// asks for the time, which ends the absence: whatever kill comes then must find the items outdated.
class KilledOpening : public ::testing::Test {
 protected:
  using Image = std::vector<std::byte>;
  static constexpr int kKeys = 700;  // they fill half of the zones

  ~KilledOpening() override { test_hooks.on_cleaning_step = nullptr; }

  static std::unique_ptr<KvStoreImpl> open(uint32_t now_s, const Image& image) {
    KvConfig config = test::small_config();
    config.max_absence_s = 60;
    config.sync_seconds = 0;
    config.clean_ahead = false;
    config.write_cache_bytes = 0;
    config.item_bytes = 64;
    config.boot = [] { return uint64_t{1}; };
    config.now_s = [now_s] { return now_s; };
    auto medium = std::make_unique<test::PageCacheMedium>(image);
    opened_last_ = medium.get();
    auto store = test::make_kv_in_page_cache(config, std::move(medium));
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  static void keep_image() {
    const ByteView bytes = opened_last_->direct();
    images_.emplace_back(bytes.begin(), bytes.end());
  }

  static inline test::PageCacheMedium* opened_last_ = nullptr;
  static inline std::vector<Image> images_;
};

TEST_F(KilledOpening, LeavesOutdatedWhatWasSo) {
  images_.clear();
  {
    test_hooks.on_cleaning_step = keep_image;
    const auto store = open(kStartS, Image(test::small_config().size_bytes));
    Prng random(1);
    while (images_.size() < 5) {
      put_text(*store, fmt::format("key{}", random.below(kKeys)), "value", {}, kStartS + 1000);
    }
  }
  const std::vector<Image> killed = std::move(images_);
  uint64_t found = 0;
  for (const Image& first : killed) {
    images_.clear();
    test_hooks.on_cleaning_step = keep_image;
    (void)open(kStartS + 61, first);
    test_hooks.on_cleaning_step = nullptr;
    std::vector<Image> again = std::move(images_);
    again.insert(again.begin(), first);
    for (size_t at = 0; at < again.size(); at += 3) {
      const auto store = open(kStartS + 62, again[at]);
      for (int i = 0; i < kKeys; ++i) {
        const KvItem item = store->get(fmt::format("key{}", i));
        found += item ? 1 : 0;
        ASSERT_TRUE(!item || item.outdated) << "key" << i;
      }
    }
  }
  EXPECT_GT(found, 1000u);
}

TEST_F(AbsenceTest, AResizeKeepsWhatIsOutdated) {
  const TempDir dir;
  KvConfig config = test::small_config();
  config.medium = "file:" + dir.file("kv");
  config.max_absence_s = 60;
  config.now_s = [this] { return now_s_; };
  const auto opened = [&]() -> std::unique_ptr<KvStoreImpl> {
    auto medium = open_kv_medium(config);
    EXPECT_TRUE(medium.ok()) << medium.status();
    auto store = KvStoreImpl::make(config, *std::move(medium));
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  };
  put_text(*opened(), "old", "value");
  now_s_ += 61;
  config.size_bytes *= 2;
  for (int i = 0; i < 2; ++i) {
    const auto resized = resize_kv_file(config, nullptr);
    ASSERT_TRUE(resized.ok()) << resized.status();
    const auto store = opened();
    EXPECT_TRUE(store->get("old").outdated);
    put_text(*store, "new", "value");
    EXPECT_FALSE(store->get("new").outdated);
    config.size_bytes *= 2;  // soon, now
  }
  config.empty_after_absence = true;
  now_s_ += 61;
  ASSERT_TRUE(resize_kv_file(config, nullptr).ok());
  EXPECT_FALSE(opened()->get("new"));
}

}  // namespace
}  // namespace nvcache
