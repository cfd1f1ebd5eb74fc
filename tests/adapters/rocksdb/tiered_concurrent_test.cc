// Readers, writers, iterators, compaction and a cache that is resized, all at once.
// Each thread owns some of the keys and knows what they hold.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache_calls.h"
#include "rocksdb/iterator.h"
#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

constexpr int kOwners = 3;
constexpr int kKeys = 6000;
constexpr int kSteps = 12000;

// The versions of one thread's keys, 0 for none, and the database that must agree.
class Owner {
 public:
  Owner(::rocksdb::DB* db, int number)
      : db_(db), number_(number), versions_(kKeys), random_(test_seed() + number) {}

  void run() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFatalFailure(); ++step) {
      switch (random_() % 8) {
        case 0:
        case 1:
        case 2:
          write();
          break;
        case 3:
          erase();
          break;
        case 4:
          if (step % 16 == 0) scan();
          break;
        case 5:
          multiget();
          break;
        default:
          read(any());
      }
    }
    for (int record = number_; record < kKeys; record += kOwners) read(record);
  }

 private:
  int any() {
    const int range = random_() % 2 == 0 ? kKeys : kKeys / 10;
    return static_cast<int>(random_() % (range / kOwners)) * kOwners + number_;
  }

  void write() {
    const int record = any();
    versions_[record] = ++written_;
    ASSERT_ROCKS_OK(
        db_->Put(::rocksdb::WriteOptions(), key_of(record), value_of(record, versions_[record])));
  }

  void erase() {
    const int record = any();
    versions_[record] = 0;
    ASSERT_ROCKS_OK(db_->Delete(::rocksdb::WriteOptions(), key_of(record)));
  }

  void check(int record, const ::rocksdb::Status& status, const std::string& value) {
    if (versions_[record] == 0) {
      ASSERT_TRUE(status.IsNotFound()) << "record " << record << ": " << status.ToString();
      return;
    }
    ASSERT_ROCKS_OK(status);
    ASSERT_EQ(version_in(record, value), versions_[record]) << "record " << record;
  }

  void read(int record) {
    std::string value;
    const auto status = db_->Get(::rocksdb::ReadOptions(), key_of(record), &value);
    check(record, status, value);
  }

  void multiget() {
    std::vector<int> records;
    std::vector<std::string> keys;
    for (int i = 0; i < 8; ++i) records.push_back(any());
    for (const int record : records) keys.push_back(key_of(record));
    std::vector<::rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const auto statuses = db_->MultiGet(::rocksdb::ReadOptions(), slices, &values);
    for (size_t i = 0; i < records.size(); ++i) check(records[i], statuses[i], values[i]);
  }

  // Its own keys, in order, from somewhere on.
  void scan() {
    std::unique_ptr<::rocksdb::Iterator> it(db_->NewIterator(::rocksdb::ReadOptions()));
    int expected = any();
    it->Seek(key_of(expected));
    for (int i = 0; i < 60 && expected < kKeys; expected += kOwners) {
      if (versions_[expected] == 0) continue;
      it->Seek(key_of(expected));
      ASSERT_TRUE(it->Valid() && it->key() == key_of(expected)) << "record " << expected;
      check(expected, it->status(), it->value().ToString());
      ++i;
    }
    ASSERT_ROCKS_OK(it->status());
  }

  ::rocksdb::DB* const db_;
  const int number_;
  std::vector<uint32_t> versions_;
  uint32_t written_ = 0;
  std::mt19937_64 random_;
};

class TieredConcurrentDbTest : public ::testing::TestWithParam<TieredCase> {};
INSTANTIATE_TEST_SUITE_P(
    Caches, TieredConcurrentDbTest,
    ::testing::Values(
        TieredCase{"DramFirst", "dram=128KiB&tier=(size=1MiB)"},
        TieredCase{"ScmFirst", "policy=scm_first(1)&dram=128KiB&tier=(size=1MiB)"},
        TieredCase{"Bidirectional", "policy=bidirectional(1)&dram=128KiB&tier=(size=1MiB)"},
        TieredCase{"ScmOnly", "dram=0&tier=(size=1MiB,eviction=clock)"},
        TieredCase{"ThreeLowerTiers",
                   "policy=bidirectional(1)&dram=64KiB&tier=(size=256KiB)&tier=(size=256KiB)"
                   "&tier=(size=2MiB,medium=file:FILE,io=direct)"}),
    name_of);

TEST_P(TieredConcurrentDbTest, ReadersSeeWhatWasWritten) {
  TempDir dir;
  const Tiered tiered(spec_of(GetParam(), dir.file("medium")));
  const size_t capacity = tiered.cache->GetCapacity();
  {
    ::rocksdb::Options options = tiered_options(tiered.cache);
    options.write_buffer_size = 256 << 10;  // many flushes and compactions
    options.target_file_size_base = 256 << 10;
    TestDb db(dir.file("db"), options);
    std::atomic<int> running{kOwners};
    std::vector<std::thread> threads;
    for (int number = 0; number < kOwners; ++number) {
      threads.emplace_back([&, number] {
        Owner(db.get(), number).run();
        --running;
      });
    }
    threads.emplace_back([&] {
      for (int round = 0; running > 0; ++round) {
        EXPECT_ROCKS_OK(db->Flush(::rocksdb::FlushOptions()));
        EXPECT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
        if (capacity > 0) tiered.cache->SetCapacity(round % 2 == 0 ? capacity / 4 : capacity);
        for_each(*tiered.cache,
                 [](const ::rocksdb::Slice&, void*, size_t, ::rocksdb::Cache::DeleterFn) {});
      }
    });
    for (std::thread& thread : threads) thread.join();
    const TieredStats stats = tiered.opened->stats();
    EXPECT_GT(tiered.lower_hits(), 100u) << stats.to_json();
    for (size_t tier = 1; tier < stats.tiers.size(); ++tier) {
      EXPECT_EQ(stats.tiers[tier].block_cache.damaged_blocks, 0u) << stats.to_json();
    }
  }
  tiered.expect_drained();
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
