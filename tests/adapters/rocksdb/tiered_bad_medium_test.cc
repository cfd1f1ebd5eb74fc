// Lower tiers whose medium is damaged, cut short, or cannot be opened at all: every
// read of the database is right all the same, and the statistics say what happened.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

// Changes the version that stands in each value. The blocks stay well-formed, so that
// RocksDB cannot notice.
void damage(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0) << path;
  struct stat file = {};
  ASSERT_EQ(fstat(fd, &file), 0);
  std::string bytes(static_cast<size_t>(file.st_size), '\0');
  ASSERT_EQ(pread(fd, bytes.data(), bytes.size(), 0), file.st_size);
  int changed = 0;
  for (size_t at = 0; (at = bytes.find(":0:", at)) != std::string::npos; ++changed) {
    bytes[at + 1] = '7';
  }
  ASSERT_GT(changed, 1000);
  ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), file.st_size);
  ::close(fd);
}

class TieredBadMediumTest : public ::testing::TestWithParam<const char*> {
 protected:
  // The second lower tier is on a file, and holds most of what is read. Nothing is written to
  // it while a test damages it.
  std::string spec(const std::string& more = "") {
    return "tiered://"
           "?policy=bidirectional(3)&demote=foreground&dram=128KiB&tier=(size=256KiB)&tier=(size="
           "16MiB,"
           "medium=file:" +
           medium_ + ",io=" + GetParam() + more + ")";
  }

  TempDir dir_;
  const std::string medium_ = dir_.file("medium");
};
INSTANTIATE_TEST_SUITE_P(Io, TieredBadMediumTest, ::testing::Values("mmap", "direct"));

TEST_P(TieredBadMediumTest, DamageIsNeverServed) {
  const Tiered tiered(spec());
  {
    TestDb db(dir_.file("db"), tiered_options(tiered.cache));
    db.fill();
    db.read_and_verify(15000);
    const TieredStats before = tiered.opened->stats();
    ASSERT_GT(before.tiers[2].hits, 1000u) << before.to_json();
    ASSERT_NO_FATAL_FAILURE(damage(medium_));
    db.read_and_verify(15000, 0, /*salt=*/1);
    const TieredStats after = tiered.opened->stats();
    EXPECT_GT(after.tiers[2].block_cache.damaged_blocks, 100u) << after.to_json();
    EXPECT_GT(after.tiers[2].hits, before.tiers[2].hits) << "fresh blocks replace them";
  }
  tiered.expect_drained();
}

// If RocksDB itself noticed, the check above would prove nothing.
TEST_P(TieredBadMediumTest, DamageIsServedWithoutVerification) {
  const Tiered tiered(spec(",verify=never"));
  TestDb db(dir_.file("db"), tiered_options(tiered.cache));
  db.fill();
  db.read_and_verify(15000);
  ASSERT_NO_FATAL_FAILURE(damage(medium_));
  int wrong = 0;
  for (int record = 0; record < kRecords; record += 5) {
    std::string value;
    const ::rocksdb::Status status = db->Get(::rocksdb::ReadOptions(), key_of(record), &value);
    wrong += !status.ok() || version_in(record, value) != 0 ? 1 : 0;
  }
  EXPECT_GT(wrong, 100);
}

TEST_P(TieredBadMediumTest, CutShortIsAMiss) {
  const Tiered tiered(spec());
  {
    TestDb db(dir_.file("db"), tiered_options(tiered.cache));
    db.fill();
    db.read_and_verify(10000);
    std::filesystem::resize_file(medium_, 0);
    db.read_and_verify(10000, 0, /*salt=*/1);
    const TieredStats stats = tiered.opened->stats();
    EXPECT_GT(stats.tiers[2].block_cache.medium_errors, 0u) << stats.to_json();
    EXPECT_GT(stats.tiers[1].hits, 0u);
  }
  tiered.expect_drained();
}

TEST_P(TieredBadMediumTest, ThatCannotBeOpenedRefusesAllBlocks) {
  const Tiered tiered(std::string("tiered://?dram=128KiB&tier=(size=1MiB,medium=file:") +
                      dir_.file("nowhere/medium") + ",io=" + GetParam() + ")");
  {
    TestDb db(dir_.file("db"), tiered_options(tiered.cache));
    db.fill();
    db.read_and_verify(5000);
    const TieredStats stats = tiered.opened->stats();
    EXPECT_EQ(stats.tiers[1].hits, 0u) << stats.to_json();
    EXPECT_GT(stats.tiers[1].refused, 0u) << stats.to_json();
    EXPECT_NE(stats.tiers[1].problem, "") << stats.to_json();
  }
  tiered.expect_drained();
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
