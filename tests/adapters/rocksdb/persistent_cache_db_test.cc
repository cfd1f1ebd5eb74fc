// A real database over a PersistentCache: raw blocks, on read misses only.
#include <memory>
#include <string>

#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

TEST(PersistentCacheDbTest, ReadsAreRightAfterHeavyEviction) {
  TempDir dir;
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewPersistentCache(
      {.spec = "nvcache://?size=3MiB&admission=always&eviction=clock&verify=always"},
      &caches.persistent, &cache));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(20000);
  const Stats stats = cache->stats();
  EXPECT_GT(stats.hits, 1000u) << stats.to_json();
  EXPECT_GT(stats.evictions, 1000u) << stats.to_json();
  EXPECT_GT(db.ticker(::rocksdb::PERSISTENT_CACHE_HIT), 1000u);
}

TEST(PersistentCacheDbTest, HoldsCompressedBlocks) {
  TempDir dir;
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewPersistentCache({.spec = "nvcache://?size=32MiB&admission=always"},
                                     &caches.persistent, &cache));
  ::rocksdb::Options options = db_options(caches);
  options.compression = ::rocksdb::kSnappyCompression;
  TestDb db(dir.file("db"), options);
  const std::string value(kValueBytes, 'z');
  for (int i = 0; i < kRecords; ++i) {
    ASSERT_ROCKS_OK(db->Put(::rocksdb::WriteOptions(), key_of(i), value));
  }
  ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  for (int pass = 0; pass < 2; ++pass) {
    std::string found;
    for (int i = 0; i < kRecords; i += 7) {
      ASSERT_ROCKS_OK(db->Get(::rocksdb::ReadOptions(), key_of(i), &found));
      ASSERT_EQ(found, value);
    }
  }
  const Stats stats = cache->stats();
  EXPECT_GT(stats.hits, 100u);
  ASSERT_GT(stats.blocks, 0u);
  EXPECT_LT(stats.data_bytes / stats.blocks, 2048u) << "4 KiB blocks, compressed";
}

TEST(PersistentCacheDbTest, WorksBesideASecondaryCacheOnTheSameBlockCache) {
  TempDir dir;
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewPersistentCache(
      {.spec = "nvcache://?size=6MiB&admission=always&eviction=clock&verify=always"},
      &caches.persistent, &cache));
  ASSERT_ROCKS_OK(NewSecondaryCache({.cache = cache}, &caches.secondary));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(60000);
  EXPECT_GT(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), 100u);
  EXPECT_GT(db.ticker(::rocksdb::PERSISTENT_CACHE_HIT), 20u);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
