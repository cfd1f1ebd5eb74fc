// A TieredCache as the whole block cache of real databases: data under heavy
// eviction, databases that share a cache, strict capacity, and what is left at the end.
#include "tiered_db.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/rocksdb/versions.h"
#include "rocksdb/iterator.h"

namespace nvcache::rocksdb::testing {
namespace {

void scan_and_verify(::rocksdb::DB* db, uint32_t version) {
  std::unique_ptr<::rocksdb::Iterator> it(db->NewIterator(::rocksdb::ReadOptions()));
  int record = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++record) {
    ASSERT_EQ(it->key(), key_of(record));
    ASSERT_EQ(version_in(record, it->value().ToString()), version) << "record " << record;
  }
  ASSERT_ROCKS_OK(it->status());
  ASSERT_EQ(record, kRecords);
  for (it->SeekToLast(); it->Valid() && record > kRecords / 2; it->Prev()) {
    --record;
    ASSERT_EQ(version_in(record, it->value().ToString()), version) << "record " << record;
  }
  ASSERT_ROCKS_OK(it->status());
}

void multiget_and_verify(::rocksdb::DB* db, int rounds, uint32_t version) {
  constexpr int kBatch = 24;
  std::mt19937_64 random(test_seed() + 7);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> records;
    for (int i = 0; i < kBatch; ++i) records.push_back(static_cast<int>(random() % kRecords));
    std::vector<std::string> keys;
    for (const int record : records) keys.push_back(key_of(record));
    std::vector<::rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<::rocksdb::PinnableSlice> values(kBatch);
    std::vector<::rocksdb::Status> statuses(kBatch);
    db->MultiGet(::rocksdb::ReadOptions(), db->DefaultColumnFamily(), kBatch, slices.data(),
                 values.data(), statuses.data());
    for (int i = 0; i < kBatch; ++i) {
      ASSERT_ROCKS_OK(statuses[i]);
      ASSERT_EQ(version_in(records[i], values[i].ToString()), version) << "record " << records[i];
    }
  }
}

class TieredDbTest : public ::testing::TestWithParam<TieredCase> {
 protected:
  std::string spec() { return spec_of(GetParam(), dir_.file("medium")); }
  TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(Caches, TieredDbTest, ::testing::ValuesIn(kTieredCases), name_of);

TEST_P(TieredDbTest, DataIsRightUnderHeavyEviction) {
  const Tiered tiered(spec());
  {
    TestDb db(dir_.file("db"), tiered_options(tiered.cache));
    db.fill(1);
    db.read_and_verify(10000, 1);
    multiget_and_verify(db.get(), 200, 1);
    scan_and_verify(db.get(), 1);
    db.fill(2);  // compaction reads and replaces all files
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    db.read_and_verify(10000, 2, /*salt=*/1);
    multiget_and_verify(db.get(), 200, 2);
    scan_and_verify(db.get(), 2);
    const TieredStats stats = tiered.opened->stats();
    if (stats.tiers.size() > 1) {
      EXPECT_GT(tiered.lower_hits(), 1000u) << stats.to_json();
      EXPECT_GT(stats.tiers[1].inserts + stats.tiers[1].demoted_in, 1000u) << stats.to_json();
      EXPECT_EQ(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), tiered.lower_hits());
    } else {
      EXPECT_EQ(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), 0u);
    }
    uint64_t dropped = 0;
    for (const TierStats& tier : stats.tiers) dropped += tier.dropped;
    EXPECT_GT(dropped, 1000u) << stats.to_json();
    EXPECT_LE(tiered.cache->GetUsage() - tiered.cache->GetPinnedUsage(),
              tiered.cache->GetCapacity());
  }
  tiered.expect_drained();
}

TEST_P(TieredDbTest, OutlivesTheDatabase) {
  const bool guarded = std::string_view(GetParam().name) == "Guarded";  // keeps few blocks
  const Tiered tiered(spec());
  TestDb db(dir_.file("db"), tiered_options(tiered.cache));
  db.fill();
  for (int i = 0; i < 3; ++i) {
    const auto read_few = [&] {
      std::string value;
      for (int record = 1000 * i; record < 1000 * i + 64; ++record) {
        ASSERT_ROCKS_OK(db->Get(::rocksdb::ReadOptions(), key_of(record), &value));
        ASSERT_EQ(version_in(record, value), 0);
      }
    };
    for (int round = 0; round < 4; ++round) ASSERT_NO_FATAL_FAILURE(read_few());
    db.close();
    EXPECT_EQ(tiered.cache->GetPinnedUsage(), 0u);
    db.open();
    const uint64_t misses = tiered.opened->stats().misses;
    ASSERT_NO_FATAL_FAILURE(read_few());
    if (guarded) continue;
    EXPECT_LE(tiered.opened->stats().misses - misses, 2u) << "it is cold";
  }
  db.close();
  tiered.expect_drained();
}

TEST_P(TieredDbTest, IsSharedByDatabases) {
  const Tiered tiered(spec());
  {
    std::vector<std::unique_ptr<TestDb>> databases;
    for (uint32_t i = 0; i < 3; ++i) {
      databases.push_back(std::make_unique<TestDb>(dir_.file("db" + std::to_string(i)),
                                                   tiered_options(tiered.cache)));
      databases[i]->fill(i);
    }
    for (uint64_t round = 0; round < 6; ++round) {
      for (uint32_t i = 0; i < 3; ++i) databases[i]->read_and_verify(1000, i, round);
      if (round == 3) databases[1]->close();
      if (round == 3) databases[1]->open();
    }
  }
  tiered.expect_drained();
}

TEST_P(TieredDbTest, IsResizedUnderLoad) {
  const Tiered tiered(spec());
  {
    TestDb db(dir_.file("db"), tiered_options(tiered.cache));
    db.fill();
    for (const size_t capacity :
         {size_t{1} << 20, size_t{0}, size_t{64} << 10, size_t{512} << 10}) {
      tiered.cache->SetCapacity(capacity);
      EXPECT_EQ(tiered.cache->GetCapacity(), capacity);
      EXPECT_LE(tiered.cache->GetUsage(), capacity + tiered.cache->GetPinnedUsage());
      db.read_and_verify(3000, 0, capacity);
    }
  }
  tiered.expect_drained();
}

// Reads of a strict cache whose blocks are all pinned fail, and succeed after a release.
void expect_strict_capacity(const char* spec) {
  constexpr size_t kLargestCharge = 8 << 10;  // of a block of 4 KiB, with its metadata
  TempDir dir;
  const Tiered tiered(spec);
  EXPECT_TRUE(tiered.cache->HasStrictCapacityLimit());
  {
    ::rocksdb::Options options = tiered_options(tiered.cache);
    auto table = *options.table_factory->GetOptions<::rocksdb::BlockBasedTableOptions>();
    table.cache_index_and_filter_blocks = false;
    options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
    TestDb db(dir.file("db"), options);
    db.fill();
    // An iterator pins a block of each file of level 0 and of each level below: leave one level.
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    // RocksDB pins an entry of its own (statistics of the cache's entries) until it closes.
    const size_t always_pinned = tiered.cache->GetPinnedUsage();
    ASSERT_LT(always_pinned, 1u << 10);
    std::vector<std::unique_ptr<::rocksdb::Iterator>> held;
    ::rocksdb::Status status;
    for (int record = 0; record < kRecords && status.ok(); record += 100) {
      held.emplace_back(db->NewIterator(::rocksdb::ReadOptions()));
      held.back()->Seek(key_of(record));
      status = held.back()->status();
    }
    const size_t capacity = tiered.cache->GetCapacity();
    EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
    EXPECT_LE(tiered.cache->GetUsage(), capacity);
    EXPECT_LE(tiered.cache->GetPinnedUsage(), capacity);
    EXPECT_GT(tiered.cache->GetPinnedUsage() + kLargestCharge, capacity) << "refused too early";
    EXPECT_GT(held.size(), 5u);
    held.clear();
    EXPECT_EQ(tiered.cache->GetPinnedUsage(), always_pinned);
    db.read_and_verify(3000);
    tiered.cache->SetStrictCapacityLimit(false);
    EXPECT_FALSE(tiered.cache->HasStrictCapacityLimit());
  }
  tiered.expect_drained();
}

TEST(TieredDb, StrictCapacityIsMemoryLimit) {
  for (const char* spec : {"tiered://?dram=64KiB&strict=on&shards=1",
                           "tiered://?dram=64KiB&strict=on&shards=1&tier=(size=256KiB)"}) {
    SCOPED_TRACE(spec);
    expect_strict_capacity(spec);
  }
}

// Index and filter blocks never leave the first tier for a lower one, unless asked for.
TEST(TieredDb, IndexAndFilterBlocksStayInTheFirstTier) {
  TempDir dir;
  uint64_t lower_hits[2] = {};
  for (const bool demote : {false, true}) {
    // Room for metadata alone, and no pool for it: all of it is evicted again and again.
    const Tiered tiered(
        std::string("tiered://?policy=dram_first&dram=64KiB&shards=1&demote=foreground&") +
        "tier=(size=8MiB)" + (demote ? "&demote_high=on" : ""));
    ::rocksdb::Options options = tiered_options(tiered.cache);
    auto table = *options.table_factory->GetOptions<::rocksdb::BlockBasedTableOptions>();
    table.partition_filters = true;
    table.index_type = ::rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.metadata_block_size = 1024;
    options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
    TestDb db(dir.file(demote ? "demoted" : "kept"), options);
    db.fill();
    // Keys that are not there: filters answer for nearly all, so data is seldom read.
    std::string value;
    std::mt19937_64 random(test_seed());
    for (int i = 0; i < 5000; ++i) {
      const std::string absent = key_of(static_cast<int>(random() % kRecords)) + "x";
      ASSERT_TRUE(db->Get(::rocksdb::ReadOptions(), absent, &value).IsNotFound());
    }
    lower_hits[demote ? 1 : 0] = tiered.lower_hits();
  }
  EXPECT_GT(lower_hits[1], 1000u);
  EXPECT_LT(lower_hits[0], lower_hits[1] / 10);
}

#if NVCACHE_ROCKSDB_7  // the only version with a cache of compressed blocks
// RocksDB's saved form of a compressed block lacks the compression type: such blocks
// must not be made anew from a lower tier.
TEST(TieredDb, CompressedBlocksStayInTheFirstTier) {
  TempDir dir;
  const Tiered tiered("tiered://?dram=128KiB&shards=1&tier=(size=8MiB)");
  {
    ::rocksdb::Options options = db_options({.dram_bytes = 64 << 10});
    auto table = *options.table_factory->GetOptions<::rocksdb::BlockBasedTableOptions>();
    table.block_cache_compressed = tiered.cache;
    options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
    options.compression = ::rocksdb::kSnappyCompression;
    TestDb db(dir.file("db"), options);
    // Keys and paddings that compress; the values of test_db.h do not.
    const auto text = [](int record) { return key_of(record) + std::string(400, 'v'); };
    for (int record = 0; record < kRecords; ++record) {
      ASSERT_ROCKS_OK(db->Put(::rocksdb::WriteOptions(), key_of(record), text(record)));
    }
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    std::mt19937_64 random(test_seed());
    std::string value;
    for (int i = 0; i < 5000; ++i) {
      const int record = static_cast<int>(random() % kRecords);
      ASSERT_ROCKS_OK(db->Get(::rocksdb::ReadOptions(), key_of(record), &value));
      ASSERT_EQ(value, text(record));
    }
    const TieredStats stats = tiered.opened->stats();
    EXPECT_GT(stats.tiers[0].hits, 100u) << stats.to_json();
    EXPECT_EQ(stats.tiers[1].demoted_in, 0u) << stats.to_json();
  }
  tiered.expect_drained();
}
#endif

TEST(TieredDb, BadSpecificationIsInvalidArgument) {
  std::shared_ptr<::rocksdb::Cache> cache;
  const ::rocksdb::Status status =
      NewTieredCache({.spec = "tiered://?dram=1MiB&polcy=dram_first"}, &cache);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("unknown setting 'polcy'; allowed: policy"), std::string::npos)
      << status.ToString();
  EXPECT_EQ(cache, nullptr);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
