// Blocks of table files that RocksDB deleted leave the cache, found by what their keys begin with.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/rocksdb/file_key.h"
#include "adapters/rocksdb/key.h"
#include "fake_block_cache.h"
#include "rocksdb/convenience.h"
#include "test_db.h"
#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

// The prefixes of the keys of the live files' blocks.
std::set<uint64_t> live_files(TestDb& db) {
  ::rocksdb::TablePropertiesCollection tables;
  EXPECT_ROCKS_OK(db->GetPropertiesOfAllTables(&tables));
  std::set<uint64_t> files;
  for (const auto& [path, properties] : tables) {
    const std::optional<uint64_t> file = file_of(*properties);
    EXPECT_TRUE(file.has_value()) << path;
    files.insert(file.value_or(0));
  }
  EXPECT_EQ(files.size(), tables.size()) << "no two files share it";
  return files;
}

uint64_t count_gone(const FakeBlockCache& cache, TestDb& db) {
  const std::set<uint64_t> live = live_files(db);
  uint64_t gone = 0;
  for (const BlockKey& key : cache.keys()) {
    const bool lives = std::ranges::any_of(
        kForms, [&](Form form) { return live.contains(key.file ^ static_cast<uint64_t>(form)); });
    gone += lives ? 0 : 1;
  }
  return gone;
}

void wait_until_none_is_left(const FakeBlockCache& cache, TestDb& db) {
  while (count_gone(cache, db) > 0) std::this_thread::yield();
}

Caches both_faces(const std::shared_ptr<FakeBlockCache>& fake) {
  Caches caches;
  EXPECT_ROCKS_OK(NewSecondaryCache({.cache = fake}, &caches.secondary));
  EXPECT_ROCKS_OK(NewPersistentCache({.cache = fake}, &caches.persistent));
  return caches;
}

TEST(DeletedFilesListenerTest, BlocksOfFilesThatACompactionReplacedLeaveBothFaces) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  ::rocksdb::Options options = db_options(both_faces(fake));
  options.listeners.push_back(NewDeletedFilesListener(std::shared_ptr<BlockCache>(fake)));
  TestDb db(dir.file("db"), options);
  db.fill(1);
  db.read_and_verify(5000, 1);
  const size_t before = fake->keys().size();
  EXPECT_GT(before, 1000u);
  db.fill(2);
  ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  wait_until_none_is_left(*fake, db);
  EXPECT_LT(fake->keys().size(), before / 2) << "they were of files that are gone";
  db.read_and_verify(5000, 2);
}

TEST(DeletedFilesListenerTest, FilesOfAnEarlierOpeningAreKnownByTheirCompaction) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  ::rocksdb::Options options = db_options(both_faces(fake));
  {
    TestDb db(dir.file("db"), options);
    db.fill(1);
    db.read_and_verify(5000, 1);
  }
  options.listeners.push_back(NewDeletedFilesListener(std::shared_ptr<BlockCache>(fake)));
  TestDb db(dir.file("db"), options);
  EXPECT_EQ(count_gone(*fake, db), 0u) << "files keep what their keys begin with";
  db.fill(2);
  ::rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = ::rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_ROCKS_OK(db->CompactRange(all, nullptr, nullptr));
  wait_until_none_is_left(*fake, db);
}

// Whether blocks of files from before an opening, which go without a compaction, leave the cache.
void delete_old_files(bool noted, uint64_t* left) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  ::rocksdb::Options options = db_options(both_faces(fake));
  {
    TestDb db(dir.file("db"), options);
    db.fill(1);
    ASSERT_ROCKS_OK(db->CompactRange({}, nullptr, nullptr));
    db.read_and_verify(5000, 1);
  }
  const auto listener = NewDeletedFilesListener(std::shared_ptr<BlockCache>(fake));
  options.listeners.push_back(listener);
  TestDb db(dir.file("db"), options);
  if (noted) {
    ASSERT_ROCKS_OK(NoteTableFiles(*listener, *db.get(), db->DefaultColumnFamily()));
  }
  ASSERT_ROCKS_OK(
      ::rocksdb::DeleteFilesInRange(db.get(), db->DefaultColumnFamily(), nullptr, nullptr));
  EXPECT_EQ(live_files(db).size(), 0u);
  if (noted) wait_until_none_is_left(*fake, db);
  *left = count_gone(*fake, db);
}

TEST(DeletedFilesListenerTest, FilesOfAnEarlierOpeningAreKnownIfTheyAreNoted) {
  uint64_t gone = 0;
  ASSERT_NO_FATAL_FAILURE(delete_old_files(/*noted=*/true, &gone));
  EXPECT_EQ(gone, 0u);
  // The control.
  ASSERT_NO_FATAL_FAILURE(delete_old_files(/*noted=*/false, &gone));
  EXPECT_GT(gone, 0u);
}

TEST(DeletedFilesListenerTest, OnlyItsOwnListenerTakesFiles) {
  TempDir dir;
  TestDb db(dir.file("db"), db_options({}));
  const auto other = NewDatasetSizeListener(std::make_shared<FakeBlockCache>());
  const ::rocksdb::Status refused = NoteTableFiles(*other, *db.get(), db->DefaultColumnFamily());
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("allowed: one of NewDeletedFilesListener"), std::string::npos);
}

// The control: without the listener they stay.
TEST(DeletedFilesListenerTest, WithoutItTheyStay) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  TestDb db(dir.file("db"), db_options(both_faces(fake)));
  db.fill(1);
  db.read_and_verify(5000, 1);
  db.fill(2);
  ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GT(count_gone(*fake, db), 1000u);
}

TEST(DeletedFilesListenerTest, TheyLeaveATieredCache) {
  TempDir dir;
  const Tiered tiered("tiered://?dram=256KiB&tier=(size=20MiB)");
  ::rocksdb::Options options = tiered_options(tiered.cache);
  options.listeners.push_back(NewDeletedFilesListener(tiered.opened));
  {
    TestDb db(dir.file("db"), options);
    db.fill(1);
    db.read_and_verify(12000, 1);
    tiered.opened->control()->drain();
    const uint64_t before = tiered.opened->stats().tiers[1].blocks;
    EXPECT_GT(before, 1000u);
    db.fill(2);
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    while (tiered.opened->stats().tiers[1].blocks > before / 10) std::this_thread::yield();
    EXPECT_EQ(tiered.opened->stats().tiers[1].block_cache.evictions, 0u);
    db.read_and_verify(12000, 2);
  }
  tiered.expect_drained();
}

TEST(DeletedFilesListenerTest, DoesNotKeepACacheOpen) {
  auto fake = std::make_shared<FakeBlockCache>();
  const std::weak_ptr<FakeBlockCache> watched = fake;
  const auto listener = NewDeletedFilesListener(std::shared_ptr<BlockCache>(std::move(fake)));
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
