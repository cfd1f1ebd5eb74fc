// A medium that is damaged, full, failing or cut short: every read of the
// database is right all the same, and the statistics say what happened.
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include "base/virtual_clock.h"
#include "nvcache/status.h"
#include "support/damaged_file.h"
#include "support/failing_cache.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

struct Case {
  const char* io;
  bool persistent;  // PersistentCache, else SecondaryCache
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << (each.persistent ? "PersistentCache" : "SecondaryCache") << '_' << each.io;
}

class DamagedFileTest : public ::testing::TestWithParam<Case> {};

TEST_P(DamagedFileTest, IsNeverServed) {
  TempDir dir;
  const std::string medium = dir.file("medium");
  const CacheOptions options{.spec = "nvcache://?size=32MiB&admission=always&medium=file:" +
                                     medium + ",io=" + GetParam().io};
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(GetParam().persistent ? NewPersistentCache(options, &caches.persistent, &cache)
                                        : NewSecondaryCache(options, &caches.secondary, &cache));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(20000);
  cache->drain();
  const Stats before = cache->stats();
  ASSERT_GT(before.hits, 1000u) << before.to_json();
  ASSERT_EQ(before.damaged_blocks, 0u);

  ASSERT_NO_FATAL_FAILURE(flip_bytes(medium, 100));
  db.read_and_verify(20000, 0, /*salt=*/1);
  const Stats after = cache->stats();
  EXPECT_GT(after.damaged_blocks, 100u) << after.to_json();
  EXPECT_EQ(after.failed, 0u);
  EXPECT_GT(after.hits, before.hits) << "fresh blocks replace the damaged ones";
}
INSTANTIATE_TEST_SUITE_P(All, DamagedFileTest,
                         ::testing::Values(Case{"mmap", false}, Case{"direct", false},
                                           Case{"mmap", true}, Case{"direct", true}),
                         ::testing::PrintToStringParamName());

// If RocksDB itself noticed, the check above would prove nothing.
TEST(DamagedFileTest, IsServedWithoutVerification) {
  TempDir dir;
  const std::string medium = dir.file("medium");
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewSecondaryCache({.spec = "nvcache://?size=32MiB&admission=always&verify=never"
                                             "&medium=file:" +
                                             medium + ",io=direct"},
                                    &caches.secondary, &cache));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(20000);
  cache->drain();
  ASSERT_NO_FATAL_FAILURE(flip_bytes(medium, 100));
  int wrong = 0;
  for (int record = 0; record < kRecords; record += 3) {
    std::string value;
    const ::rocksdb::Status status = db->Get(::rocksdb::ReadOptions(), key_of(record), &value);
    wrong += !status.ok() || version_in(record, value) != 0;
  }
  EXPECT_GT(wrong, 100);
}

TEST(FullMediumTest, BlocksAreRefusedAndReadsGoOn) {
  TempDir dir;
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewSecondaryCache({.spec = "nvcache://?size=2MiB&admission=always&eviction=none"},
                                    &caches.secondary, &cache));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(20000);
  const Stats stats = cache->stats();
  EXPECT_GT(stats.refused[static_cast<size_t>(Reason::kNoSpace)], 1000u) << stats.to_json();
  EXPECT_EQ(stats.evictions, 0u);
  EXPECT_GT(stats.hits, 100u) << "what came first is still served";
}

TEST(FullMediumTest, AFileThatDoesNotFitIsRefusedAtOpen) {
  TempDir dir;
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  const ::rocksdb::Status status = NewSecondaryCache(
      {.spec = "nvcache://?size=8TiB&medium=file:" + dir.file("medium")}, &secondary);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(secondary, nullptr);
  EXPECT_NE(status.ToString().find("medium"), std::string::npos) << status.ToString();
}

// In place (DRAM) and as a device (a file with direct I/O).
class FailingMediumTest : public ::testing::TestWithParam<bool> {};

TEST_P(FailingMediumTest, TheDatabaseGoesOnWithoutTheCache) {
  TempDir dir;
  VirtualClock clock;  // stands still, so that no probe is ever due
  const auto [cache, failing] =
      test::open_failing("nvcache://?size=4MiB&admission=always&eviction=clock",
                         GetParam() ? "dram" : "file:" + dir.file("medium") + ",io=direct", clock);
  ASSERT_NE(cache, nullptr);
  Caches caches;
  ASSERT_ROCKS_OK(NewSecondaryCache({.cache = cache}, &caches.secondary));

  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(10000);
  EXPECT_GT(cache->stats().hits, 100u);
  EXPECT_EQ(cache->stats().failed, 0u);

  failing->fail_reads(unavailable_error("read: EIO"));
  failing->fail_writes(unavailable_error("write: EIO"));
  db.read_and_verify(10000, 0, /*salt=*/1);
  db.fill(2);
  db.read_and_verify(10000, 2);
  const Stats stats = cache->stats();
  EXPECT_GT(stats.medium_errors, 0u) << stats.to_json();
  EXPECT_EQ(stats.failed, 1u) << stats.to_json();
  EXPECT_GT(stats.refused[static_cast<size_t>(Reason::kMediumFailed)], 0u) << stats.to_json();
  const uint64_t accesses = failing->reads() + failing->writes();
  db.read_and_verify(1000, 2, /*salt=*/2);
  EXPECT_EQ(failing->reads() + failing->writes(), accesses) << "a medium that is off is left alone";
}
INSTANTIATE_TEST_SUITE_P(Media, FailingMediumTest, ::testing::Bool(), [](const auto& in_place) {
  return in_place.param ? "InPlace" : "Device";
});

class TruncatedFileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TruncatedFileTest, IsAFailingMedium) {
  TempDir dir;
  const std::string medium = dir.file("medium");
  Caches caches;
  std::shared_ptr<BlockCache> cache;
  ASSERT_ROCKS_OK(NewSecondaryCache({.spec = "nvcache://?size=16MiB&admission=always&medium=file:" +
                                             medium + ",io=" + GetParam()},
                                    &caches.secondary, &cache));
  TestDb db(dir.file("db"), db_options(caches));
  db.fill();
  db.read_and_verify(10000);
  cache->drain();
  std::filesystem::resize_file(medium, 0);
  db.read_and_verify(10000, 0, /*salt=*/1);
  EXPECT_GT(cache->stats().medium_errors, 0u) << cache->stats().to_json();
}
INSTANTIATE_TEST_SUITE_P(Media, TruncatedFileTest, ::testing::Values("mmap", "direct"));

}  // namespace
}  // namespace nvcache::rocksdb::testing
