// Zones that a thread cleans ahead of the puts that need them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "kv_store/parts_fixture.h"
#include "medium/populate.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

class CleanAheadTest : public test::PartsFixture {
 protected:
  CleanAheadTest() {
    KvConfig config = test::small_config();
    config.size_bytes = 512 << 10;
    config.item_bytes = 64;
    make(config);
    parts_->zones.keep_ahead([this] { ++wakes_; });
  }
  ZoneLog& zones() { return parts_->zones; }
  // Half a zone; the zone that the log gave.
  uint64_t take_half() {
    const auto room = zones().allocate(parts_->geometry.zone_bytes / 2, *cleaner_);
    EXPECT_TRUE(room.has_value());
    if (!room) return ZoneLog::kNoZone;
    zones().unpin(room->zone);
    return room->zone;
  }
  void fill_a_zone() {
    const uint64_t zone = take_half();
    EXPECT_EQ(take_half(), zone);
  }
  void erase(const std::string& key) {
    const auto bucket = bucket_of(key);
    MutexLock lock(bucket.stripe.mutex);
    ItemLocation found;
    ASSERT_EQ(index_->find_locked(bucket, key, &found), ItemIndex::Presence::kPresent);
    EXPECT_TRUE(index_->drop(bucket, found));
    parts_->zones.unpin(found.zone);
  }
  bool clean_ahead() { return zones().clean_ahead(*cleaner_); }

  uint64_t wakes_ = 0;
};

TEST_F(CleanAheadTest, TwoZonesAreReadyAndNoMore) {
  ASSERT_EQ(zones().most_ahead(), 2u);
  EXPECT_TRUE(clean_ahead());
  EXPECT_FALSE(clean_ahead());
  const uint64_t drains = count(KvCounter::kDrains);
  EXPECT_FALSE(clean_ahead());
  EXPECT_EQ(count(KvCounter::kDrains), drains) << "nothing was cleaned";
}

TEST_F(CleanAheadTest, APutOpensAReadyZoneAndCleansNone) {
  clean_ahead();
  clean_ahead();
  const uint64_t drains = count(KvCounter::kDrains);
  fill_a_zone();
  EXPECT_EQ(wakes_, 1u);
  fill_a_zone();
  EXPECT_EQ(count(KvCounter::kDrains), drains);
  fill_a_zone();
  EXPECT_EQ(count(KvCounter::kDrains), drains + 1) << "none was ready";
}

TEST_F(CleanAheadTest, AZoneWithoutRoomForTheItemIsPassedOver) {
  const uint64_t per_zone = parts_->geometry.zone_bytes / kv_item_bytes(5, 34);
  const uint64_t items = per_zone * (parts_->geometry.zones - 1);
  const auto key = [](uint64_t i) { return std::to_string(10000 + i); };
  for (uint64_t i = 0; i < items; ++i) insert(key(i), std::string(34, 'v'));
  for (uint64_t i = 0; i < items; i += 4) erase(key(i));
  for (uint64_t i = items; count(KvCounter::kZonesCleaned) == 0; ++i) insert(key(i), "v");
  EXPECT_TRUE(clean_ahead());
  EXPECT_FALSE(clean_ahead());
  const uint64_t cleaned = count(KvCounter::kZonesCleaned);
  take_half();  // the two that are ready are three quarters full
  EXPECT_EQ(count(KvCounter::kZonesCleaned), cleaned + 2) << "one took what was in the other's way";
  EXPECT_EQ(count(KvCounter::kEvicted), 0u);
  EXPECT_TRUE(clean_ahead()) << "none is ready";
}

TEST_F(CleanAheadTest, AClearTakesWhatReadyZonesKept) {
  insert("a", "one");
  while (count(KvCounter::kZonesCleaned) < parts_->geometry.zones) {
    take_half();
    clean_ahead();
    ASSERT_EQ(find("a"), "one");
  }
  clean_ahead();
  ASSERT_TRUE(cleaner_->renew_all().ok());
  EXPECT_EQ(find("a"), "");
  for (uint64_t i = 0; i < 3 * parts_->geometry.zones; ++i) {
    take_half();
    clean_ahead();
  }
  insert("a", "two");
  EXPECT_EQ(find("a"), "two");
}

TEST_F(CleanAheadTest, SmallStoresCleanNothingAhead) {
  make(test::small_config());
  EXPECT_EQ(zones().most_ahead(), 0u);
  EXPECT_FALSE(clean_ahead());
  EXPECT_EQ(count(KvCounter::kDrains), 0u);
}

// An item touched while the cleaner copies it keeps its new time of expiry, and a value that is
// updated then keeps its new bytes.
void change_items_that_move(KvStore* store) {
  std::atomic<bool> done{false};
  std::thread writer([&] {  // 75% of the store lives
    Prng random(test_seed());
    const std::vector<std::byte> value(300);
    for (uint64_t i = 0; !done.load(); ++i) {
      const std::string key = "w" + std::to_string(i < 8000 ? i : random.below(8000));
      (void)store->put(key, value, KvMeta{});
    }
  });
  uint32_t expires_s = 2'000'000'000;
  for (int i = 0; i < 40; ++i) {
    (void)test::put_text(*store, "k" + std::to_string(i), "0", {}, expires_s);
  }
  uint64_t wrong = 0;
  for (uint64_t round = 1; store->stats().zones_cleaned < 4000; ++round) {
    ++expires_s;
    for (int i = 0; i < 40; ++i) {
      const std::string key = "k" + std::to_string(i);
      const std::string text = std::to_string(round);
      // Half are updated now and then, and so move; half are touched only.
      const bool updates = i % 2 == 0 && round % 8 == 0;
      const KvOutcome outcome = updates ? test::put_text(*store, key, text, {}, expires_s).outcome
                                        : store->touch(key, expires_s);
      ASSERT_EQ(outcome, KvOutcome::kDone) << key;
      const KvItem item = store->get(key);
      ASSERT_TRUE(item) << key;
      wrong += item.meta.expires_s != expires_s;
      if (updates) wrong += test::text_of(item.value()) != text;
    }
    for (int i = 0; i < 40; ++i) {  // later, too
      wrong += store->get("k" + std::to_string(i)).meta.expires_s != expires_s;
    }
  }
  done.store(true);
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(KvCleanAhead, ChangesOfItemsThatMoveStay) {
  KvConfig config;
  config.size_bytes = 4 << 20;
  config.zone_bytes = 32 << 10;
  config.item_bytes = 256;
  const auto store = test::make_kv(config, std::make_unique<CrashingMedium>(config.size_bytes));
  change_items_that_move(store.get());
}

// Whose pages come from and go to a disk.
TEST(KvCleanAhead, ChangesOfItemsInAFileStay) {
  const TempDir dir(TempDir::on_disk());
  const auto store = open_kv_store("nvkv://?size=4MiB&zone=32KiB&medium=file:" + dir.file("kv"));
  ASSERT_TRUE(store.ok()) << store.status();
  change_items_that_move(store->get());
}

TEST(Populate, KeepsWhatIsInMemoryAndAroundTheExtent) {
  constexpr size_t kPage = 4096;
  const TempDir dir(TempDir::on_disk());
  const int fd = ::open(dir.file("pages").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  const std::vector<char> ones(16 * kPage, 1);
  ASSERT_EQ(::pwrite(fd, ones.data(), ones.size(), 0), static_cast<ssize_t>(ones.size()));
  ASSERT_EQ(::fsync(fd), 0);
  ASSERT_EQ(::posix_fadvise(fd, 8 * kPage, 8 * kPage, POSIX_FADV_DONTNEED), 0);
  void* at = ::mmap(nullptr, ones.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto* base = static_cast<std::byte*>(at);
  populate_file(fd, base, {100, 14 * kPage});
  for (size_t i = 0; i < 8 * kPage; ++i) ASSERT_EQ(base[i], std::byte{1}) << i;
  for (size_t i = 8 * kPage; i < 14 * kPage; ++i) ASSERT_LE(base[i], std::byte{1}) << i;
  for (size_t i = 14 * kPage; i < 16 * kPage; ++i) ASSERT_EQ(base[i], std::byte{1}) << i;
  std::array<unsigned char, 16> resident{};
  ASSERT_EQ(::mincore(at, ones.size(), resident.data()), 0);
  for (size_t page = 1; page < 14; ++page) EXPECT_TRUE(resident[page] & 1) << page;
  ::munmap(at, ones.size());
  ::close(fd);
}

}  // namespace
}  // namespace nvcache
