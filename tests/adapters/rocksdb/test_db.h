// A small RocksDB database whose every value can be told from its key and its
// version, so that a wrong byte anywhere below is seen.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "nvcache/rocksdb.h"
#include "open_db.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/persistent_cache.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache::rocksdb::testing {

inline ::testing::AssertionResult is_ok(const ::rocksdb::Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.ToString();
}
#define ASSERT_ROCKS_OK(expression) ASSERT_TRUE(is_ok(expression))
#define EXPECT_ROCKS_OK(expression) EXPECT_TRUE(is_ok(expression))

inline constexpr int kRecords = 24000;
inline constexpr size_t kValueBytes = 480;  // 12 MB of records in all

inline std::string key_of(int record) {
  char key[24];
  std::snprintf(key, sizeof key, "key%012d", record);
  return key;
}

// Random bytes, which do not compress: a block on disk is as large as in DRAM.
inline std::string value_of(int record, uint32_t version) {
  std::string value = key_of(record) + ":" + std::to_string(version) + ":";
  uint64_t state = (static_cast<uint64_t>(record) << 32 | version) * 0x9e3779b97f4a7c15ULL + 1;
  while (value.size() < kValueBytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value.append(reinterpret_cast<const char*>(&state), sizeof state);
  }
  value.resize(kValueBytes);
  return value;
}

// The version in a value of value_of, or -1 if it is not exactly such a value.
inline int64_t version_in(int record, const std::string& value) {
  const std::string prefix = key_of(record) + ":";
  if (!value.starts_with(prefix)) return -1;
  const auto version =
      static_cast<uint32_t>(std::strtoul(value.c_str() + prefix.size(), nullptr, 10));
  return value == value_of(record, version) ? version : -1;
}

struct Caches {
  std::shared_ptr<::rocksdb::SecondaryCache> secondary = nullptr;
  std::shared_ptr<::rocksdb::PersistentCache> persistent = nullptr;
  size_t dram_bytes = 256 << 10;
};

// Small tables and blocks, no compression, direct reads: what is not in a cache is
// read from the file.
inline ::rocksdb::Options db_options(const Caches& caches) {
  ::rocksdb::LRUCacheOptions lru;
  lru.capacity = caches.dram_bytes;
  lru.num_shard_bits = 0;
  lru.secondary_cache = caches.secondary;
  ::rocksdb::BlockBasedTableOptions table;
  table.block_cache = ::rocksdb::NewLRUCache(lru);
  table.persistent_cache = caches.persistent;
  table.block_size = 4096;
  ::rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = ::rocksdb::kNoCompression;
  options.use_direct_reads = true;
  options.write_buffer_size = 2 << 20;
  options.target_file_size_base = 2 << 20;
  options.max_background_jobs = 2;
  options.statistics = ::rocksdb::CreateDBStatistics();
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// A database that is closed with the object.
class TestDb {
 public:
  TestDb(std::string path, ::rocksdb::Options options)
      : path_(std::move(path)), options_(std::move(options)) {
    open();
  }

  void open() { EXPECT_ROCKS_OK(open_db(options_, path_, &db_)); }
  void close() { db_.reset(); }

  void fill(uint32_t version = 0) {
    ::rocksdb::WriteOptions write;
    write.disableWAL = true;
    for (int i = 0; i < kRecords; ++i) {
      ASSERT_ROCKS_OK(db_->Put(write, key_of(i), value_of(i, version)));
    }
    ASSERT_ROCKS_OK(db_->Flush(::rocksdb::FlushOptions()));
  }

  // Reads `count` random records, half of them from a hot tenth; all must be right.
  void read_and_verify(int count, uint32_t version = 0, uint64_t salt = 0) {
    std::mt19937_64 random(test_seed() + salt);
    std::string value;
    for (int i = 0; i < count; ++i) {
      const int range = random() % 2 == 0 ? kRecords : kRecords / 10;
      const int record = static_cast<int>(random() % range);
      ASSERT_ROCKS_OK(db_->Get(::rocksdb::ReadOptions(), key_of(record), &value));
      ASSERT_EQ(version_in(record, value), version) << "record " << record;
    }
  }

  uint64_t ticker(uint32_t name) const { return options_.statistics->getTickerCount(name); }
  ::rocksdb::DB* operator->() const { return db_.get(); }
  ::rocksdb::DB* get() const { return db_.get(); }

 private:
  std::string path_;
  ::rocksdb::Options options_;
  std::unique_ptr<::rocksdb::DB> db_;
};

}  // namespace nvcache::rocksdb::testing
