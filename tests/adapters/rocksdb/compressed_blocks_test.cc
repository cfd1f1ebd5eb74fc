// Blocks that RocksDB hands to its lowest tier as it read them, compressed: they stay so. From
// RocksDB 8 on, below its own three-tier cache.
#include "adapters/rocksdb/versions.h"

#if !NVCACHE_ROCKSDB_7
#include <algorithm>
#include <memory>
#include <string>

#include "fake_block_cache.h"
#include "rocksdb/convenience.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

using Cache = ::rocksdb::Cache;
using ::rocksdb::CompressionType;
using ::rocksdb::Slice;
using ::rocksdb::Status;

constexpr char kKeyOfABlock[] = "0123456789abcdef";

// What RocksDB is given to make an object of.
struct Given final : Cache::CreateContext {
  std::string bytes;
  CompressionType type = ::rocksdb::kDisableCompressionOption;
  ::rocksdb::CacheTier source = ::rocksdb::CacheTier::kNonVolatileBlockTier;
};

Status note_what_is_given(const Slice& bytes, CompressionType type, ::rocksdb::CacheTier source,
                          Cache::CreateContext* context, ::rocksdb::MemoryAllocator*,
                          Cache::ObjectPtr* object, size_t* charge) {
  Given& given = *static_cast<Given*>(context);
  given.bytes = bytes.ToString();
  given.type = type;
  given.source = source;
  *object = context;
  *charge = bytes.size();
  return Status::OK();
}

void keep_object(Cache::ObjectPtr, ::rocksdb::MemoryAllocator*) {}
size_t size_of_text(Cache::ObjectPtr value) { return static_cast<std::string*>(value)->size(); }
Status save_text(Cache::ObjectPtr value, size_t offset, size_t length, char* out) {
  std::copy_n(static_cast<std::string*>(value)->data() + offset, length, out);
  return Status::OK();
}

class CompressedBlocks : public ::testing::Test {
 protected:
  CompressedBlocks() {
    CacheOptions options;
    options.cache = fake_;
    EXPECT_ROCKS_OK(NewSecondaryCache(options, &secondary_));
  }

  Given lookup() {
    static constexpr auto kRole = ::rocksdb::CacheEntryRole::kDataBlock;
    static const Cache::CacheItemHelper plain(kRole, keep_object);
    static const Cache::CacheItemHelper helper(kRole, keep_object, size_of_text, save_text,
                                               note_what_is_given, &plain);
    Given given;
    bool kept = false;
    (void)secondary_->Lookup(kKeyOfABlock, &helper, &given, /*wait=*/true, /*advise_erase=*/false,
                             nullptr, kept);
    return given;
  }

  const std::shared_ptr<FakeBlockCache> fake_ = std::make_shared<FakeBlockCache>();
  std::shared_ptr<::rocksdb::SecondaryCache> secondary_;
};

TEST_F(CompressedBlocks, ComeBackAsTheyWereWithTheirType) {
  for (const CompressionType type :
       {::rocksdb::kSnappyCompression, ::rocksdb::kZSTD, ::rocksdb::kLZ4HCCompression}) {
    const std::string bytes("\0compressed\xff\1", 13);
    ASSERT_ROCKS_OK(
        secondary_->InsertSaved(kKeyOfABlock, bytes, type, ::rocksdb::CacheTier::kVolatileTier));
    const Given given = lookup();
    EXPECT_EQ(given.bytes, bytes);
    EXPECT_EQ(given.type, type);
    EXPECT_EQ(given.source, ::rocksdb::CacheTier::kVolatileTier);
    secondary_->Erase(kKeyOfABlock);
  }
  EXPECT_EQ(fake_->stats().compressed_blocks, 3u);
  EXPECT_EQ(fake_->stats().compressed_bytes, 3 * 13u);
}

TEST_F(CompressedBlocks, ThoseThatAreNotAreNotCounted) {
  ASSERT_ROCKS_OK(secondary_->InsertSaved(kKeyOfABlock, "as it is"));
  EXPECT_EQ(lookup().bytes, "as it is");
  EXPECT_EQ(lookup().type, ::rocksdb::kNoCompression);
  EXPECT_EQ(fake_->stats().inserts, 1u);
  EXPECT_EQ(fake_->stats().compressed_blocks, 0u);
}

TEST_F(CompressedBlocks, WhatIsRefusedIsNoErrorAndNotCounted) {
  const auto insert = [&](const Slice& bytes) {
    return secondary_->InsertSaved(kKeyOfABlock, bytes, ::rocksdb::kSnappyCompression);
  };
  EXPECT_ROCKS_OK(insert(""));
  fake_->refuse_all(Reason::kOverhead);
  EXPECT_ROCKS_OK(insert("bytes"));
  EXPECT_EQ(lookup().bytes, "");
  EXPECT_EQ(fake_->stats().inserts + fake_->stats().compressed_blocks, 0u);
}

// ---- a real database under RocksDB's three tiers

// Of each version some letters, many times.
std::string soft_value(int record) {
  return key_of(record) + std::string(kValueBytes, static_cast<char>('a' + record % 26));
}

struct ThreeTiers {
  std::shared_ptr<BlockCache> lowest;
  std::shared_ptr<Cache> all;
};

ThreeTiers open_three_tiers(const std::string& spec) {
  ThreeTiers tiers;
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  EXPECT_ROCKS_OK(NewSecondaryCache({.spec = spec}, &secondary, &tiers.lowest));
  ::rocksdb::LRUCacheOptions lru;
  lru.num_shard_bits = 0;
  ::rocksdb::TieredCacheOptions options;
  options.cache_opts = &lru;
  options.cache_type = ::rocksdb::PrimaryCacheType::kCacheTypeLRU;
  options.adm_policy = ::rocksdb::TieredAdmissionPolicy::kAdmPolicyThreeQueue;
  options.comp_cache_opts.num_shard_bits = 0;
  options.comp_cache_opts.compression_type = ::rocksdb::kSnappyCompression;
  options.total_capacity = 512 << 10;
  options.compressed_secondary_ratio = 0.3;
  options.nvm_sec_cache = secondary;
  tiers.all = ::rocksdb::NewTieredCache(options);
  return tiers;
}

void read_all(const TestDb& db) {
  std::string value;
  for (int record = 0; record < kRecords; ++record) {
    ASSERT_ROCKS_OK(db->Get(::rocksdb::ReadOptions(), key_of(record), &value));
    ASSERT_EQ(value, soft_value(record));
  }
}

TEST(CompressedBlocksDb, AreServedBelowRocksDbsThreeTierCache) {
  const auto supported = ::rocksdb::GetSupportedCompressions();
  if (std::ranges::find(supported, ::rocksdb::kSnappyCompression) == supported.end()) {
    GTEST_SKIP() << "this RocksDB was built without Snappy";
  }
  const ThreeTiers tiers =
      open_three_tiers("nvcache://?size=64MiB&admission=always&eviction=clock&verify=always");
  ASSERT_NE(tiers.all, nullptr);
  ::rocksdb::BlockBasedTableOptions table;
  table.block_cache = tiers.all;
  table.block_size = 4096;
  ::rocksdb::Options options = db_options({});
  options.compression = ::rocksdb::kSnappyCompression;
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  TempDir dir;
  const TestDb db(dir.file("db"), options);
  ::rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (int record = 0; record < kRecords; ++record) {
    ASSERT_ROCKS_OK(db->Put(write, key_of(record), soft_value(record)));
  }
  ASSERT_ROCKS_OK(db->Flush(::rocksdb::FlushOptions()));

  read_all(db);
  const Stats once = tiers.lowest->stats();
  EXPECT_GT(once.compressed_blocks, 1000u) << once.to_json();
  EXPECT_LT(once.compressed_bytes, once.compressed_blocks * 2048) << "they take less than half";
  read_all(db);
  const Stats twice = tiers.lowest->stats();
  EXPECT_GT(twice.hits, once.hits + 1000) << twice.to_json();
  EXPECT_EQ(twice.damaged_blocks, 0u);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
#endif
