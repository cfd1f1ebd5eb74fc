// Opening: which media are refused and left unchanged, which items come back, how fast.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "support/forked_child.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message(const Status& status) { return std::string(status.message()); }

std::string contents(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

void overwrite(const std::string& path, size_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class KvOpen : public ::testing::Test {
 protected:
  std::string spec(const std::string& more = "") const {
    return "nvkv://?size=1MiB&zone=64KiB&medium=file:" + path_ + more;
  }
  std::unique_ptr<KvStore> open(const std::string& more = "") {
    auto store = open_kv_store(spec(more));
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void fill() {
    std::unique_ptr<KvStore> store = open();
    for (int i = 0; i < 100; ++i) put_text(*store, "k" + std::to_string(i), "value");
  }
  // Not opened, the reason given, not a byte changed.
  void expect_refused(const std::string& reason) {
    std::filesystem::permissions(path_, std::filesystem::perms(0600));
    const std::string before = contents(path_);
    const auto store = open_kv_store(spec());
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.status().code(), StatusCode::kFailedPrecondition) << store.status();
    EXPECT_THAT(message(store.status()), HasSubstr(reason));
    EXPECT_TRUE(contents(path_) == before);
  }

  TempDir dir_;
  const std::string path_ = dir_.file("kv");
};

TEST_F(KvOpen, ItemsComeBack) {
  fill();
  for (int round = 0; round < 3; ++round) {
    std::unique_ptr<KvStore> store = open();
    const KvStats stats = store->stats();
    EXPECT_TRUE(stats.recovered);
    EXPECT_EQ(stats.recovered_items, 100u);
    EXPECT_GT(stats.recovery_seconds, 0);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(get_text(*store, "k" + std::to_string(i)), "value");
  }
}

TEST_F(KvOpen, WhatWasInTheWriteCacheComesBack) {
  {
    std::unique_ptr<KvStore> store = open();
    for (int i = 0; i < 10; ++i) put_text(*store, "often", "value " + std::to_string(i));
    EXPECT_GT(store->stats().write_cache_hits, 0u);
  }
  EXPECT_EQ(get_text(*open(), "often"), "value 9");
}

TEST_F(KvOpen, CasNumbersStayUnique) {
  uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    std::unique_ptr<KvStore> store = open();
    const uint64_t cas = put_text(*store, "k", "v").cas;
    EXPECT_GT(cas, last);
    last = cas;
  }
}

TEST_F(KvOpen, RefusesADamagedSuperblock) {
  fill();
  overwrite(path_, 24, "\x01");
  expect_refused("superblock is damaged");
}

TEST_F(KvOpen, RefusesAnotherVersion) {
  fill();
  overwrite(path_, 8, std::string("\x63\0\0\0\0\0\0\0", 8));
  expect_refused("format version 99");
}

TEST_F(KvOpen, RefusesADamagedState) {
  fill();
  overwrite(path_, 4096, "damaged");
  overwrite(path_, 8192, "damaged");
  expect_refused("state is damaged");
}

TEST_F(KvOpen, OneDamagedStateIsNoMatter) {
  fill();
  overwrite(path_, 4096, "damaged");
  EXPECT_NE(open(), nullptr);
}

TEST_F(KvOpen, RefusesAFileOfOthers) {
  std::ofstream(path_, std::ios::binary) << std::string(1 << 20, 'x');
  expect_refused("not a key-value store");
}

TEST_F(KvOpen, RefusesAFileOfOthersThatBeginsWithZeros) {
  std::ofstream(path_, std::ios::binary)
      << std::string(20000, '\0') << std::string((1 << 20) - 20000, 'x');
  expect_refused("not a key-value store");
}

TEST_F(KvOpen, RefusesAnotherSize) {
  std::ofstream(path_, std::ios::binary) << "text";
  expect_refused("4 bytes long, size=1048576 given");
}

// As Kubernetes' fsGroup leaves it at each mount.
TEST_F(KvOpen, TakesTheRightsOfOthersFromItsFileAndSaysSo) {
  fill();
  std::filesystem::permissions(path_, std::filesystem::perms(0660));
  const auto store = open_kv_store(spec());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
  EXPECT_THAT((*store)->stats().notes,
              ElementsAre(HasSubstr("mode 660 let other users in; it is 600 now")));
}

TEST_F(KvOpen, LeavesTheModeOfAFileThatIsNoStoreOfThisSize) {
  std::ofstream(path_, std::ios::binary) << "text";
  std::filesystem::permissions(path_, std::filesystem::perms(0660));
  EXPECT_FALSE(open_kv_store(spec()).ok());
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0660));
}

TEST_F(KvOpen, NamesTheProcessThatKeepsTheFile) {
  fill();
  std::unique_ptr<KvStore> theirs;
  test::ForkedChild other([&] { return (theirs = open()) != nullptr ? 0 : 1; });
  ASSERT_TRUE(other.wait_until_done());
  expect_refused("in use by another store: process " + std::to_string(other.pid()) + " (");
  EXPECT_EQ(other.end(), 0);
  EXPECT_TRUE(open_kv_store(spec()).ok());
}

// It has its parent's mapping, and closes its copy of the store.
TEST_F(KvOpen, AChildThatEndsChangesNothing) {
  auto store = open_kv_store(spec());
  ASSERT_TRUE(store.ok()) << store.status();
  put_text(**store, "a", "one");
  test::ForkedChild child([&] { return store->reset(), 0; });
  ASSERT_TRUE(child.wait_until_done());
  put_text(**store, "b", "two");
  store->reset();
  store = open_kv_store(spec());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(get_text(**store, "a"), "one");
  EXPECT_EQ(get_text(**store, "b"), "two");
  EXPECT_EQ(child.end(), 0);
}

TEST_F(KvOpen, RefusesALink) {
  fill();
  std::filesystem::rename(path_, dir_.file("real"));
  std::filesystem::create_symlink(dir_.file("real"), path_);
  const auto store = open_kv_store(spec());
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(message(store.status()), HasSubstr("a symbolic link"));
}

// A shutdown has little to write if the file was synced all along.
TEST_F(KvOpen, IsSyncedInTheBackground) {
  std::unique_ptr<KvStore> store = open("&sync=0.01");
  if (store->stats().medium == "dax") GTEST_SKIP() << "DAX has no pages to write";
  put_text(*store, "a", "one");
  while (store->stats().syncs < 3) std::this_thread::yield();
  EXPECT_EQ(get_text(*store, "a"), "one");
  store.reset();
  store = open("&sync=0");
  EXPECT_EQ(store->stats().syncs, 0u);
}

// Values that are written often lie in DRAM. A kill leaves what a copy of the file has.
TEST_F(KvOpen, AKillTakesNothingOfAStoreThatIsQuiet) {
  std::unique_ptr<KvStore> store = open("&sync=0.01");
  for (int i = 0; i < 10; ++i) {
    put_text(*store, "often", "value " + std::to_string(i));
    put_text(*store, "other", "value " + std::to_string(i));
  }
  ASSERT_TRUE(store->get("other")) << "a read that nothing follows";
  EXPECT_GT(store->stats().write_cache_hits, 0u);
  const uint64_t before = store->stats().syncs;
  while (store->stats().syncs < before + 2) std::this_thread::yield();
  const std::string killed = dir_.file("killed");
  std::filesystem::copy_file(path_, killed);
  std::filesystem::permissions(killed, std::filesystem::perms(0600));
  const auto after = open_kv_store("nvkv://?size=1MiB&zone=64KiB&medium=file:" + killed);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(get_text(**after, "often"), "value 9");
  EXPECT_EQ(get_text(**after, "other"), "value 9");
}

TEST_F(KvOpen, OneStoreAFile) {
  std::unique_ptr<KvStore> store = open();
  const auto second = open_kv_store(spec());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(message(second.status()), HasSubstr("in use by another store"));
}

TEST_F(KvOpen, DamagedZoneHeadersLoseTheirZonesAndNoMore) {
  fill();
  overwrite(path_, 3 * 4096, "damaged");  // the first zone's, where all items are
  std::unique_ptr<KvStore> store = open();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(get_text(*store, "k" + std::to_string(i)), "");
  put_text(*store, "k1", "new");
  EXPECT_EQ(get_text(*store, "k1"), "new");
}

TEST_F(KvOpen, AVolatileStoreIsEmptyAgain) {
  fill();
  EXPECT_EQ(get_text(*open("&durability=volatile"), "k1"), "");
  EXPECT_EQ(get_text(*open(), "k1"), "");
}

TEST_F(KvOpen, OtherDurabilitiesReadTheSameFile) {
  fill();
  for (const char* durability : {"each", "each_lru", "cache"}) {
    EXPECT_EQ(get_text(*open(std::string("&durability=") + durability), "k1"), "value");
  }
  EXPECT_EQ(get_text(*open("&survives=power"), "k1"), "value");
}

// Also runs on DAX or an imitation of it (NVCACHE_TEST_DAX).
TEST_F(KvOpen, AnUpdateFlushesItsLinesAlone) {
  const bool dax = std::getenv("NVCACHE_TEST_DAX") != nullptr;
  {
    const auto store = open_kv_store(spec());
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->stats().medium, dax ? "dax" : "file");
    ASSERT_EQ(put_text(**store, "a", "1").outcome, KvOutcome::kDone);
    const KvStats before = (*store)->stats();
    ASSERT_EQ(put_text(**store, "a", "2").outcome, KvOutcome::kDone);
    const KvStats after = (*store)->stats();
    EXPECT_GT(after.drains, before.drains);
    EXPECT_LE(after.flushed_bytes - before.flushed_bytes, 256u)
        << "an update flushes lines, not pages";
  }
  const auto store = open_kv_store(spec());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(get_text(**store, "a"), "2");
}

TEST(KvSpec, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "nvkv://?size=SIZE"},
      {"nvkv://", "it is required"},
      {"nvkv://?size=1", "256"},
      {"nvkv://?size=1MiB&size=1MiB", "each setting at most once"},
      {"nvkv://?size=1MiB&x=1", "unknown setting 'x'"},
      {"nvkv://?size=1MiB&durability=none", "cache, volatile, each, each_lru"},
      {"nvkv://?size=1MiB&survives=all", "auto, process, power"},
      {"nvkv://?size=1MiB&medium=", "allowed: dram, file:PATH, emulated:PROFILE"},
      {"nvkv://?size=1MiB&medium=tape",
       "allowed: dram, file:PATH, emulated:PROFILE[,on=dram|on=file:PATH] with PROFILE of "
       "byte-addressable memory"},
      {"nvkv://?size=1MiB&medium=numa:0", "not a medium; allowed: dram, file:PATH"},
      {"nvkv://?size=1MiB&medium=dram,io=direct", "not a medium"},
      {"nvkv://?size=1MiB&medium=file:", "not a medium"},
      {"nvkv://?size=1MiB&medium=emulated:optane,on=numa:0", "not a medium"},
      {"nvkv://?size=1MiB&medium=emulated:optane,load=2", "unknown option"},
      {"nvkv://?size=1MiB&medium=emulated:flash", "byte-addressable"},
      {"nvkv://?size=1MiB&zone=512KiB", "allowed: 3 zones or more"},
      {"nvkv://?size=1MiB&sync=-2", "sync"},
  };
  for (const auto& [spec, reason] : cases) {
    const auto store = open_kv_store(spec);
    ASSERT_FALSE(store.ok()) << spec;
    EXPECT_EQ(store.status().code(), StatusCode::kInvalidArgument) << spec;
    EXPECT_THAT(message(store.status()), HasSubstr(reason)) << spec;
  }
}

// Zone versions of two bits come round after three cleanings: an item of the first version
// must not be found when its zone has that version again.
TEST(KvVersions, AStaleDescriptorNeverComesAlive) {
  KvConfig config = test::small_config();
  config.version_bits = 2;
  config.hot_share = 0;
  config.write_cache_bytes = 0;
  std::unique_ptr<KvStore> store =
      test::make_kv(config, std::make_unique<CrashingMedium>(config.size_bytes));
  // Values of one size: items of a later round lie exactly where those of earlier ones did.
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 8; ++i) {
      const std::string key = "r" + std::to_string(1000 + round) + std::to_string(i);
      ASSERT_EQ(
          put_text(*store, key, std::string(400, static_cast<char>('a' + round % 26))).outcome,
          KvOutcome::kDone);
    }
    for (int old = 0; old + 25 < round; ++old) {
      const std::string key = "r" + std::to_string(1000 + old) + "0";
      ASSERT_EQ(get_text(*store, key), "") << "round " << round << ": " << key;
    }
  }
  EXPECT_GT(store->stats().zones_cleaned, 100u);
  EXPECT_LE(store->stats().items, 150u);
}

// The same if nothing overwrote the item's bytes meanwhile.
TEST(KvVersions, WhatWasClearedStaysSoWhenVersionsComeRound) {
  KvConfig config = test::small_config();
  config.version_bits = 2;
  std::unique_ptr<KvStore> store =
      test::make_kv(config, std::make_unique<CrashingMedium>(config.size_bytes));
  for (int i = 0; i < 20; ++i) put_text(*store, "k" + std::to_string(i), "value");
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(store->clear().ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(get_text(*store, "k" + std::to_string(i)), "") << "round " << round;
    }
  }
}

TEST(KvUseList, HoldsTheItemsUsedLast) {
  std::vector<uint8_t> bytes(10000);
  KvUseList list(bytes.data(), bytes.size());
  list.set_length(1600);
  for (uint64_t slot = 0; slot < 10000; ++slot) list.use(slot);
  uint64_t hot = 0;
  for (uint64_t slot = 0; slot < 10000; ++slot) hot += list.hot(slot);
  EXPECT_LE(hot, 1600u);
  EXPECT_GE(hot, 1400u);
  EXPECT_TRUE(list.hot(9999));
  EXPECT_FALSE(list.hot(0));
  // Generations' numbers come round; what was used long ago does not.
  for (int round = 0; round < 50; ++round) {
    for (uint64_t slot = 5000; slot < 10000; ++slot) list.use(slot);
    for (uint64_t slot = 0; slot < 5000; ++slot) ASSERT_FALSE(list.hot(slot)) << slot;
  }
}

// Before the first cleaning sets a length, too.
TEST(KvUseList, WhatWasUsedLongAgoStaysColdInANewStore) {
  std::vector<uint8_t> bytes(10000);
  KvUseList list(bytes.data(), bytes.size());
  for (uint64_t slot = 0; slot < 5000; ++slot) list.use(slot);
  for (int round = 0; round < 50; ++round) {
    for (uint64_t slot = 5000; slot < 10000; ++slot) {
      list.use(slot);
      if (slot % 100 == 0) {
        ASSERT_FALSE(list.hot(slot % 4900)) << slot % 4900;
      }
    }
  }
}

}  // namespace
}  // namespace nvcache
