// Emulated storage: what reads of SST files cost, under a virtual clock, and that the
// bytes stay what they are.
#include "experiments/engines/emulated_storage.h"

#include <gmock/gmock.h>
#include <time.h>

#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adapters/rocksdb/test_db.h"
#include "base/prng.h"
#include "base/virtual_clock.h"
#include "experiments/engines/other_clients.h"
#include "experiments/engines/rocksdb_parts.h"
#include "medium/profiles.h"
#include "rocksdb/env.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::FileOptions;
using ::rocksdb::FileSystem;
using ::rocksdb::FSRandomAccessFile;
using ::rocksdb::FSReadRequest;
using ::rocksdb::IOOptions;
using ::rocksdb::Slice;
using ::testing::HasSubstr;

constexpr uint64_t kLatencyNs = 85'000;  // Table 1 of *Hybrid Cache*: flash
constexpr size_t kFileBytes = 8 << 20;
constexpr uint64_t kBlockBytes = 16 << 10;
constexpr uint64_t kTransferNs = kBlockBytes * 10 / 16;  // at 1.6 GB/s

class EmulatedStorageTest : public ::testing::Test {
 protected:
  EmulatedStorageTest() {
    bytes_.resize(kFileBytes);
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i * 7 + i / 4096);
    for (const char* name : {"000001.sst", "000002.log"}) {
      std::ofstream(folder_.file(name), std::ios::binary) << bytes_;
    }
  }

  std::unique_ptr<FSRandomAccessFile> open(const std::string& name, FileOptions options = {}) {
    std::unique_ptr<FSRandomAccessFile> file;
    const auto status = storage_->NewRandomAccessFile(folder_.file(name), options, &file, nullptr);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return file;
  }

  // Reads, checks the bytes, and says how long it took.
  uint64_t read(FSRandomAccessFile& file, uint64_t offset, size_t size) {
    const uint64_t start_ns = clock_.now_ns();
    std::string scratch(size, 0);
    Slice result;
    EXPECT_TRUE(file.Read(offset, size, IOOptions(), &result, scratch.data(), nullptr).ok());
    EXPECT_EQ(result.ToString(), bytes_.substr(offset, size));
    return clock_.now_ns() - start_ns;
  }

  TempDir folder_;
  std::string bytes_;
  VirtualClock clock_;
  std::shared_ptr<EmulatedStorage> storage_ =
      std::make_shared<EmulatedStorage>(*find_profile("flash"), FileSystem::Default(), clock_);
};

TEST_F(EmulatedStorageTest, ASmallReadCostsTheLatency) {
  const auto file = open("000001.sst");
  EXPECT_EQ(read(*file, 0, 4096), kLatencyNs);
  EXPECT_EQ(read(*file, 16 << 10, 16 << 10), kLatencyNs);
  const StorageStats stats = storage_->take_stats();
  EXPECT_EQ(stats.reads, 2u);
  EXPECT_EQ(stats.read_bytes, 20u << 10);
  EXPECT_NEAR(static_cast<double>(stats.latency_ns.quantile(0.5)), kLatencyNs, kLatencyNs * 0.02);
  EXPECT_EQ(storage_->take_stats().reads, 0u);
}

TEST_F(EmulatedStorageTest, ALargeReadCostsTheBandwidth) {
  const auto file = open("000001.sst");
  EXPECT_EQ(read(*file, 0, kFileBytes), static_cast<uint64_t>(kFileBytes / 1.6));
}

TEST_F(EmulatedStorageTest, AllFilesShareOneMedium) {
  std::ofstream(folder_.file("000003.sst"), std::ios::binary) << bytes_;
  const auto one = open("000001.sst"), two = open("000003.sst");
  clock_.expect(2);
  uint64_t took_ns[2] = {};
  const auto reader = [&](size_t number, FSRandomAccessFile& file) {
    VirtualClock::Participant seat(clock_, number);
    took_ns[number] = read(file, 0, kFileBytes);
  };
  std::thread first(reader, 0, std::ref(*one)), second(reader, 1, std::ref(*two));
  first.join();
  second.join();
  EXPECT_EQ(took_ns[0], static_cast<uint64_t>(kFileBytes / 1.6));
  EXPECT_EQ(took_ns[1], static_cast<uint64_t>(2 * kFileBytes / 1.6));
}

TEST_F(EmulatedStorageTest, OtherClientsReadsAreWaitedFor) {
  storage_ = std::make_shared<EmulatedStorage>(*find_profile("flash"), FileSystem::Default(),
                                               clock_, /*load=*/8);
  constexpr uint64_t kReads = 200;
  for (uint64_t i = 0; i < kReads; ++i) {
    EXPECT_NEAR(storage_->start_read(0, kBlockBytes), i * kTransferNs + kLatencyNs, 2);
  }
  // By now seven others for each of them have come, and are served one after the other.
  EXPECT_NEAR(storage_->start_read(OtherClients::kSpreadNs, kBlockBytes),
              8 * kReads * kTransferNs + kLatencyNs, 2);
}

TEST_F(EmulatedStorageTest, ALargeReadBringsNoOthers) {
  storage_ = std::make_shared<EmulatedStorage>(*find_profile("flash"), FileSystem::Default(),
                                               clock_, /*load=*/8);
  constexpr uint64_t kLargeBytes = 1 << 20;
  EXPECT_NEAR(storage_->start_read(0, kLargeBytes), kLargeBytes / 1.6, 2);
  EXPECT_NEAR(storage_->start_read(OtherClients::kSpreadNs, kBlockBytes),
              OtherClients::kSpreadNs + kLatencyNs, 2);
}

// The mean wait of reads that, with the three others which each brings, keep the medium busy
// for the share `busy` of the time, over that of an M/D/1 queue.
double wait_to_md1(double busy, bool at_random) {
  Prng prng(test_seed());
  OtherClients others(/*load=*/4, /*read_gb_s=*/1.6);
  constexpr int kReads = 100'000;
  double now_ns = 0, waited_ns = 0;
  for (int i = 0; i < kReads; ++i) {
    now_ns += (at_random ? -std::log(1 - prng.unit()) : 1) * 4 * kTransferNs / busy;
    const auto at_ns = static_cast<uint64_t>(now_ns);
    waited_ns += static_cast<double>(others.start_read(at_ns, kBlockBytes) - at_ns);
  }
  return waited_ns / kReads / (kTransferNs * busy / (2 * (1 - busy)));
}

TEST(OtherClientsTest, ReadsWaitAboutAsLongAsInAQueueOfIndependentClients) {
  for (const double busy : {0.4, 2.0 / 3}) {
    const double at_random = wait_to_md1(busy, true), evenly = wait_to_md1(busy, false);
    EXPECT_GT(at_random, 1) << busy;  // bursts bring bursts
    EXPECT_LT(at_random, 1.5) << busy;
    EXPECT_GT(evenly, 0.4) << busy;
    EXPECT_LT(evenly, 0.75) << busy;
  }
}

TEST(OtherClientsTest, OneClientWaitsForNobody) {
  OtherClients others(/*load=*/1, /*read_gb_s=*/1.6);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(others.start_read(i, kBlockBytes), i);
}

TEST_F(EmulatedStorageTest, ReadsOfOneBatchAreUnderWayTogether) {
  const auto file = open("000001.sst");
  std::array<FSReadRequest, 4> requests;
  std::array<std::string, 4> scratch;
  for (size_t i = 0; i < requests.size(); ++i) {
    scratch[i].resize(4096);
    requests[i].offset = i * 100'000;
    requests[i].len = 4096;
    requests[i].scratch = scratch[i].data();
  }
  ASSERT_TRUE(file->MultiRead(requests.data(), requests.size(), IOOptions(), nullptr).ok());
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(requests[i].status.ok());
    EXPECT_EQ(requests[i].result.ToString(), bytes_.substr(i * 100'000, 4096));
  }
  EXPECT_EQ(clock_.now_ns(), kLatencyNs);
  EXPECT_EQ(storage_->take_stats().reads, 4u);
}

TEST_F(EmulatedStorageTest, OtherFilesCostWhatTheyDo) {
  const auto file = open("000002.log");
  EXPECT_EQ(read(*file, 0, 4096), 0u);
  EXPECT_EQ(storage_->take_stats().reads, 0u);
}

TEST_F(EmulatedStorageTest, DirectAndMappedReadsAreBufferedInstead) {
  FileOptions options;
  options.use_direct_reads = true;
  options.use_mmap_reads = true;
  const auto file = open("000001.sst", options);
  EXPECT_FALSE(file->use_direct_io());
  EXPECT_EQ(read(*file, 13, 100), kLatencyNs);
}

TEST_F(EmulatedStorageTest, ReadaheadIsLeftToTheEngine) {
  const auto file = open("000001.sst");
  EXPECT_TRUE(file->Prefetch(0, 4096, IOOptions(), nullptr).IsNotSupported());
  EXPECT_EQ(clock_.now_ns(), 0u);
}

TEST_F(EmulatedStorageTest, ErrorsBelowAreHandedOn) {
  std::unique_ptr<FSRandomAccessFile> file;
  EXPECT_FALSE(
      storage_->NewRandomAccessFile(folder_.file("none.sst"), FileOptions(), &file, nullptr).ok());
  EXPECT_EQ(file, nullptr);
}

TEST_F(EmulatedStorageTest, WithoutAProfileReadsAreOnlyCounted) {
  storage_ = std::make_shared<EmulatedStorage>(std::nullopt, FileSystem::Default(), clock_);
  EXPECT_EQ(std::string(storage_->Name()).find("emulated"), std::string::npos);
  const auto file = open("000001.sst");
  EXPECT_EQ(read(*file, 0, 4096), 0u);
  EXPECT_EQ(storage_->take_stats().read_bytes, 4096u);
}

TEST(SleepingClockTest, NeverWakesEarlyAndLeavesTheCore) {
  Clock& clock = sleeping_clock();
  timespec before = {}, after = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  constexpr int kWaits = 50;
  constexpr uint64_t kWaitNs = 2'000'000;
  for (int i = 0; i < kWaits; ++i) {
    const uint64_t when_ns = clock.now_ns() + kWaitNs;
    clock.wait_until_ns(when_ns);
    ASSERT_GE(clock.now_ns(), when_ns);
  }
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const double cpu_ns = static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
                        static_cast<double>(after.tv_nsec - before.tv_nsec);
  EXPECT_LT(cpu_ns, 0.5 * kWaits * kWaitNs);
  clock.wait_until_ns(0);  // in the past
}

TEST(RocksdbStorageTest, NamesTheProfilesThatThereAre) {
  EXPECT_TRUE(is_invalid_argument(open_rocksdb_storage("emulated:flash,load=0").status()));
  for (const char* wrong : {"emulated:tape", "tape", "emulated:flash,weight=2"}) {
    const std::string message(open_rocksdb_storage(wrong).status().message());
    EXPECT_THAT(message, HasSubstr(wrong));
    EXPECT_THAT(message, HasSubstr("flash"));
  }
}

TEST(RocksdbStorageTest, ADatabaseReadsRightOnIt) {
  TempDir folder;
  const auto storage = open_rocksdb_storage("emulated:flash").value();
  EXPECT_THAT(storage->Name(), HasSubstr("emulated:flash"));
  const std::unique_ptr<::rocksdb::Env> env = ::rocksdb::NewCompositeEnv(storage);
  ::rocksdb::Options options = db_options({.dram_bytes = 1 << 20});
  options.env = env.get();
  {
    TestDb db(folder.file("db"), options);
    db.fill();
    db.read_and_verify(1000);
    // A compaction and an iterator read ahead.
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    const std::unique_ptr<::rocksdb::Iterator> row(db->NewIterator(::rocksdb::ReadOptions()));
    int rows = 0;
    for (row->SeekToFirst(); row->Valid(); row->Next()) ++rows;
    EXPECT_EQ(rows, kRecords);
    // MultiGet
    const std::string key_a = key_of(1), key_b = key_of(kRecords - 1);
    std::vector<std::string> values;
    const auto statuses = db->MultiGet(::rocksdb::ReadOptions(), {key_a, key_b}, &values);
    ASSERT_ROCKS_OK(statuses[0]);
    EXPECT_EQ(version_in(kRecords - 1, values[1]), 0);
  }
  const StorageStats stats = storage->take_stats();
  EXPECT_GT(stats.reads, 100u);
  EXPECT_GT(stats.read_bytes, uint64_t{kRecords} * kValueBytes);  // the compaction read all
  EXPECT_GE(stats.latency_ns.quantile(0.01), kLatencyNs * 98 / 100);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
