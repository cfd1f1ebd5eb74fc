// Another size, or larger items, for the store of a file.
#include "kv_store/resize.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/test_hooks.h"
#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using ::testing::HasSubstr;

class ResizeTest : public ::testing::Test {
 protected:
  std::string spec(const std::string& size, const std::string& more = "") const {
    return "nvkv://?size=" + size + "&medium=file:" + path_ + more;
  }
  std::unique_ptr<KvStore> open(const std::string& of) {
    auto store = open_kv_store(of);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::string contents() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }
  // Items of 1000 bytes with flags and expiry.
  void fill(
      const std::string& of, int items, const std::function<bool()>& wanted = [] { return true; }) {
    const auto store = open(of);
    for (int i = 0; i < items; ++i) {
      if (!wanted()) continue;
      const std::string key = "k" + std::to_string(i);
      ASSERT_EQ(store
                    ->put(key, test::kv_value(key, 0, 1000),
                          {.flags = static_cast<uint32_t>(i), .expires_s = 4'000'000'000})
                    .outcome,
                KvOutcome::kDone);
    }
  }
  int found(KvStore& store, int items) {
    int count = 0;
    for (int i = 0; i < items; ++i) {
      const std::string key = "k" + std::to_string(i);
      const KvItem item = store.get(key);
      if (!item) continue;
      ++count;
      EXPECT_TRUE(test::same(item.value(), test::kv_value(key, 0, 1000)));
      EXPECT_EQ(item.meta.flags, static_cast<uint32_t>(i));
      EXPECT_EQ(item.meta.expires_s, 4'000'000'000);
    }
    return count;
  }

  TempDir dir_;
  const std::string path_ = dir_.file("kv");
};

int steps_left = 0;
std::string copied_from;

TEST_F(ResizeTest, KeepsTheItemsOfAZoneWhoseCleaningAKillCutShort) {
  const std::string of = spec("2m", "&cleaner=inline&write_cache=0");
  fill(of, 700);
  copied_from = path_;
  steps_left = 50;
  test_hooks.on_cleaning_step = [] {
    if (--steps_left == 0) std::filesystem::copy_file(copied_from, copied_from + ".killed");
  };
  Prng random(1);
  while (steps_left > 0) fill(of, 700, [&] { return random.below(2) == 0; });
  test_hooks.on_cleaning_step = nullptr;
  std::filesystem::rename(path_ + ".killed", path_);
  const auto resized = resize_kv_store(spec("4m"));
  ASSERT_TRUE(resized.ok()) << resized.status();
  const auto store = open(spec("4m"));
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(found(*store, 700), 700);
}

TEST_F(ResizeTest, AGrownStoreHasEveryItem) {
  fill(spec("4MiB"), 2000);
  const auto resized = resize_kv_store(spec("16MiB"));
  ASSERT_TRUE(resized.ok()) << resized.status();
  EXPECT_EQ(resized->before_bytes, 4u << 20);
  EXPECT_EQ(resized->after_bytes, 16u << 20);
  EXPECT_EQ(resized->items_found, 2000u);
  EXPECT_EQ(resized->items_kept, 2000u);
  const auto store = open(spec("16MiB"));
  EXPECT_TRUE(store->stats().recovered);
  EXPECT_EQ(found(*store, 2000), 2000);
  EXPECT_FALSE(std::filesystem::exists(resizing_path(path_)));
}

TEST_F(ResizeTest, AShrunkStoreHasTheNewestItems) {
  fill(spec("16MiB"), 8000);
  const auto resized = resize_kv_store(spec("4MiB"));
  ASSERT_TRUE(resized.ok()) << resized.status();
  EXPECT_EQ(resized->items_found, 8000u);
  const auto store = open(spec("4MiB"));
  const int kept = found(*store, 8000);
  EXPECT_EQ(resized->items_kept, static_cast<uint64_t>(kept));
  EXPECT_GT(kept, 2000);
  EXPECT_TRUE(store->get("k7999"));
  EXPECT_FALSE(store->get("k0"));
}

TEST_F(ResizeTest, LargerItemsFitAfterwards) {
  fill(spec("16MiB"), 1000);
  EXPECT_EQ(open(spec("16MiB"))->stats().max_item_bytes, (512u << 10) - 25);
  const std::string wanted = spec("16MiB", "&zone=4MiB");
  ASSERT_TRUE(resize_kv_store(wanted).ok());
  const auto store = open(wanted);
  EXPECT_EQ(store->stats().max_item_bytes, (2u << 20) - 25);
  EXPECT_EQ(found(*store, 1000), 1000);
  const auto large = test::kv_value("large", 0, (2 << 20) - 25 - 5);
  EXPECT_EQ(store->put("large", large, KvMeta{}).outcome, KvOutcome::kDone);
  EXPECT_TRUE(store->get("large"));
}

TEST_F(ResizeTest, DoesNothingWhereNothingIsToDo) {
  EXPECT_EQ(resize_kv_store(spec("4MiB"))->after_bytes, 0u) << "no file";
  EXPECT_EQ(resize_kv_store("nvkv://?size=4MiB")->after_bytes, 0u) << "no file medium";
  fill(spec("4MiB"), 10);
  const std::string before = contents();
  EXPECT_EQ(resize_kv_store(spec("4MiB"))->after_bytes, 0u);
  EXPECT_TRUE(contents() == before);
  EXPECT_FALSE(resize_kv_store("nvkv://?size=none").ok());
}

TEST_F(ResizeTest, LeavesAFileOfOthersAlone) {
  std::ofstream(path_) << std::string(20000, 'x');
  std::filesystem::permissions(path_, std::filesystem::perms(0600));
  EXPECT_EQ(resize_kv_store(spec("4MiB"))->after_bytes, 0u);
  EXPECT_EQ(std::filesystem::file_size(path_), 20000u);
}

TEST_F(ResizeTest, RefusesAStoreThatIsOpen) {
  fill(spec("4MiB"), 10);
  const auto store = open(spec("4MiB"));
  const auto resized = resize_kv_store(spec("8MiB"));
  ASSERT_FALSE(resized.ok());
  EXPECT_THAT(std::string(resized.status().message()), HasSubstr("in use by another store"));
}

TEST_F(ResizeTest, WithoutRoomTheOldStoreStays) {
  fill(spec("4MiB"), 100);
  const auto resized = resize_kv_store(spec("4TiB"));
  ASSERT_FALSE(resized.ok());
  EXPECT_THAT(std::string(resized.status().message()), HasSubstr("no space left on device"));
  EXPECT_THAT(std::string(resized.status().message()), HasSubstr("its file is unchanged"));
  EXPECT_FALSE(std::filesystem::exists(resizing_path(path_)));
  EXPECT_EQ(found(*open(spec("4MiB")), 100), 100);
}

TEST_F(ResizeTest, ARestOfAKilledResizeGoesThoughTheSizeFits) {
  fill(spec("4MiB"), 100);
  std::ofstream(resizing_path(path_)) << "half a file";
  ASSERT_TRUE(resize_kv_store(spec("4MiB")).ok());
  EXPECT_FALSE(std::filesystem::exists(resizing_path(path_)));
  EXPECT_EQ(found(*open(spec("4MiB")), 100), 100);
}

TEST_F(ResizeTest, WhoGivesUpFindsTheStoreAsItWas) {
  fill(spec("4MiB"), 100);
  int calls = 0;
  const auto resized = resize_kv_store(spec("8MiB"), [&](uint64_t, uint64_t) {
    ++calls;
    return false;
  });
  EXPECT_EQ(resized.status().code(), StatusCode::kAborted) << resized.status();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(std::filesystem::exists(resizing_path(path_)));
  EXPECT_EQ(found(*open(spec("4MiB")), 100), 100);
}

TEST_F(ResizeTest, ARestOfAnInterruptedResizeIsNoMatter) {
  fill(spec("4MiB"), 100);
  std::ofstream(resizing_path(path_)) << "half a file";
  ASSERT_TRUE(resize_kv_store(spec("8MiB")).ok());
  EXPECT_EQ(found(*open(spec("8MiB")), 100), 100);
  EXPECT_FALSE(std::filesystem::exists(resizing_path(path_)));
}

TEST_F(ResizeTest, DeletedItemsDoNotComeBackAndNoCasComesAgain) {
  fill(spec("4MiB"), 100);
  uint64_t cas = 0;
  {
    const auto store = open(spec("4MiB"));
    ASSERT_EQ(store->erase("k7").outcome, KvOutcome::kDone);
    cas = test::put_text(*store, "k8", "new").cas;
  }
  ASSERT_TRUE(resize_kv_store(spec("8MiB")).ok());
  const auto store = open(spec("8MiB"));
  EXPECT_FALSE(store->get("k7"));
  EXPECT_EQ(test::get_text(*store, "k8"), "new");
  EXPECT_EQ(store->get("k8").meta.cas, cas) << "clients know the value by it";
  EXPECT_LT(store->get("k9").meta.cas, cas);
  EXPECT_EQ(test::put_text(*store, "k8", "newer").cas, cas + 1) << "a resize uses none up";
}

}  // namespace
}  // namespace nvcache
