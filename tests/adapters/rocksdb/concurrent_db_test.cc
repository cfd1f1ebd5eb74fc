// Readers, writers and compaction at once, each answer checked against a model:
// a read returns no version older than the last one whose write had ended when
// the read began, and none newer than the last one begun when it ended.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

constexpr int kKeys = 6000;
constexpr int kWrites = 15000;        // a writer
constexpr int kReadsAtLeast = 10000;  // a reader; it reads on while there are writers
constexpr int kWriters = 2;
constexpr int kReaders = 2;

class Model {
 public:
  explicit Model(::rocksdb::DB* db) : db_(db), begun_(kKeys), ended_(kKeys) {}

  void write_some(int writer) {
    std::mt19937_64 random(test_seed() + writer);
    for (int i = 0; i < kWrites; ++i) {
      // Each key has one writer, so that its versions have one order.
      const int record = static_cast<int>(random() % (kKeys / kWriters)) * kWriters + writer;
      const uint32_t version = begun_[record].fetch_add(1) + 1;
      ASSERT_ROCKS_OK(
          db_->Put(::rocksdb::WriteOptions(), key_of(record), value_of(record, version)));
      ended_[record].store(version);
    }
  }

  void read_one(int record) {
    const uint32_t oldest = ended_[record].load();
    std::string value;
    const ::rocksdb::Status status = db_->Get(::rocksdb::ReadOptions(), key_of(record), &value);
    const uint32_t newest = begun_[record].load();
    if (status.IsNotFound()) {
      ASSERT_EQ(oldest, 0u) << "record " << record << " is lost";
      return;
    }
    ASSERT_ROCKS_OK(status);
    const int64_t version = version_in(record, value);
    ASSERT_GE(version, oldest) << "record " << record;
    ASSERT_LE(version, newest) << "record " << record;
  }

  void read_all() {
    for (int record = 0; record < kKeys; ++record) read_one(record);
  }

 private:
  ::rocksdb::DB* const db_;
  std::vector<std::atomic<uint32_t>> begun_;
  std::vector<std::atomic<uint32_t>> ended_;
};

class ConcurrentDbTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ConcurrentDbTest, ReadsSeeWhatWasWritten) {
  TempDir dir;
  std::string spec = std::string("nvcache://?size=1MiB&admission=always&eviction=") + GetParam();
  if (spec.ends_with("direct")) spec.insert(spec.find(",io="), dir.file("medium"));
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewSecondaryCache({.spec = spec}, &secondary, &cache));
  ::rocksdb::Options options = db_options({.secondary = secondary, .dram_bytes = 128 << 10});
  options.write_buffer_size = 512 << 10;  // many flushes and compactions
  options.target_file_size_base = 512 << 10;
  TestDb db(dir.file("db"), options);
  Model model(db.get());

  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      model.write_some(writer);
      --writing;
    });
  }
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.emplace_back([&, reader] {
      std::mt19937_64 random(test_seed() + 100 + reader);
      for (int i = 0; i < kReadsAtLeast || writing > 0; ++i) {
        model.read_one(static_cast<int>(random() % kKeys));
        if (::testing::Test::HasFatalFailure()) return;
      }
    });
  }
  threads.emplace_back([&] {
    do {
      EXPECT_ROCKS_OK(db->Flush(::rocksdb::FlushOptions()));
      EXPECT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    } while (writing > 0);
  });
  for (std::thread& thread : threads) thread.join();
  model.read_all();
  // On a busy machine with a slow disk a cache may have taken little until here.
  while (cache->stats().hits <= 100 || cache->stats().evictions <= 100) model.read_all();
  const Stats stats = cache->stats();
  EXPECT_GT(stats.background_misses, 0u) << stats.to_json();
  EXPECT_EQ(stats.damaged_blocks, 0u) << stats.to_json();
}
INSTANTIATE_TEST_SUITE_P(Media, ConcurrentDbTest,
                         ::testing::Values("clock&verify=always", "lru&verify=always",
                                           "clock&medium=file:,io=direct"));

}  // namespace
}  // namespace nvcache::rocksdb::testing
