// The dataset's size that the listener reports.
#include <memory>

#include "fake_block_cache.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

TEST(DatasetSizeListenerTest, TellsTheSizeOfAllDatabasesThatShareIt) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  ::rocksdb::Options options = db_options({});
  options.listeners.push_back(NewDatasetSizeListener(fake));
  constexpr uint64_t kDataBytes = uint64_t{kRecords} * kValueBytes;

  TestDb first(dir.file("first"), options);
  EXPECT_EQ(fake->stats().dataset_size_bytes, 0u);
  first.fill();
  ASSERT_ROCKS_OK(first->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  const uint64_t one = fake->stats().dataset_size_bytes;
  EXPECT_GT(one, kDataBytes);
  EXPECT_LT(one, kDataBytes * 5 / 4);

  TestDb second(dir.file("second"), options);
  second.fill();
  ASSERT_ROCKS_OK(second->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  const uint64_t two = fake->stats().dataset_size_bytes;
  EXPECT_GT(two, 2 * kDataBytes);
  EXPECT_LT(two, 2 * kDataBytes * 5 / 4);

  ASSERT_ROCKS_OK(second->DeleteRange(::rocksdb::WriteOptions(), second->DefaultColumnFamily(),
                                      key_of(0), key_of(kRecords)));
  ASSERT_ROCKS_OK(second->Flush(::rocksdb::FlushOptions()));
  ASSERT_ROCKS_OK(second->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  EXPECT_LT(fake->stats().dataset_size_bytes, kDataBytes * 5 / 4);
}

TEST(DatasetSizeListenerTest, ADatabaseThatIsClosedCountsNoMore) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  ::rocksdb::Options options = db_options({});
  options.listeners.push_back(NewDatasetSizeListener(fake));
  uint64_t one = 0;
  for (const char* name : {"first", "second", "first"}) {
    TestDb db(dir.file(name), options);
    db.fill();
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    if (one == 0) one = fake->stats().dataset_size_bytes;
    EXPECT_GT(one, 0u);
    EXPECT_LT(fake->stats().dataset_size_bytes, one * 5 / 4) << name;
  }
  EXPECT_EQ(fake->stats().dataset_size_bytes, 0u);
}

// break_even weighs these times.
TEST(DatasetSizeListenerTest, TellsHowLongReadsOfTableFilesTake) {
  for (const bool wanted : {true, false}) {
    TempDir dir;
    const auto fake = std::make_shared<FakeBlockCache>();
    if (wanted) fake->want_storage_reads();
    ::rocksdb::Options options = db_options({});
    options.listeners.push_back(NewDatasetSizeListener(fake));
    TestDb db(dir.file("db"), options);
    db.fill();
    const uint64_t before = fake->storage_reads();
    db.read_and_verify(2000);
    if (wanted) {
      EXPECT_GT(fake->storage_reads(), before + 500);
    } else {
      EXPECT_EQ(fake->storage_reads(), 0u) << "RocksDB should not be asked for what is not used";
    }
    EXPECT_EQ(fake->wrong_times(), 0u);
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
