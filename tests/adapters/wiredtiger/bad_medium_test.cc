// A medium that is damaged, cut short, full or failing in the middle of a run. The run ends with
// the right data, WiredTiger notices nothing, and the statistics show it.
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "adapters/wiredtiger/file_system.h"
#include "file_cache/file_block_cache.h"
#include "support/damaged_file.h"
#include "support/failing_cache.h"
#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

const TableShape kShape = {.create = "allocation_size=512,leaf_page_max=4KB"};

// Another byte at each step.
off_t byte_of(int step) { return 17 * step % 512; }

// A run over a medium in a file. Each step does something to the file.
class FileMediumTest : public ::testing::TestWithParam<const char*> {
 protected:
  void run(const std::function<void(int step)>& at_step, const char* more_spec = "") {
    const std::string spec =
        "nvcache://?size=6MiB&write_queue=2MiB&admission=always&eviction=clock&medium=file:" +
        medium_ + ",io=" + GetParam() + more_spec;
    ASSERT_WT_OK(db_.open({.spec = spec})) << db_.messages();
    VersionedTables tables(kShape, test_seed());
    tables.create(db_.get());
    tables.verify(db_.get());
    LoadShape load{.operations = 4000, .steps = 7};
    if (has_extension()) load.at_step = at_step;
    tables.run(db_.get(), load);
    tables.verify(db_.get());
    ASSERT_GOOD(tables) << db_.messages();
    ASSERT_WT_OK(db_.close());
    EXPECT_EQ(db_.messages().find("PANIC"), std::string::npos) << db_.messages();
    ASSERT_WT_OK(db_.open_stock()) << db_.messages();
    tables.verify(db_.get());
    ASSERT_GOOD(tables) << "read by stock WiredTiger";
    ASSERT_WT_OK(db_.close());
  }
  TempDir dir_;
  std::string medium_ = dir_.file("medium");
  Database db_{dir_.file("db")};
};

TEST_P(FileMediumTest, DamagedBytesAreNeverServed) {
  ASSERT_NO_FATAL_FAILURE(run([&](int step) { flip_bytes(medium_, byte_of(step)); }));
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db_.stats();
  EXPECT_GT(stats.of_cache("damaged_blocks"), 50u) << stats.text();
  EXPECT_GT(stats.of_files("served_reads"), 100u) << stats.text();
}

// Shows that the damage matters: the test above would otherwise prove nothing.
TEST_P(FileMediumTest, ControlDamagedBytesAreServedWithoutVerification) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // WiredTiger panics and cannot be closed: in a process of its own, which ends at the panic.
  const auto leave = [&](int code) {
    std::error_code ignored;
    std::filesystem::remove_all(dir_.path(), ignored);  // no destructor will
    ::_exit(code);
  };
  const auto run_unverified = [&] {
    Database db(dir_.file("unverified"), [&] { leave(3); });
    const std::string spec =
        "nvcache://?size=6MiB&write_queue=2MiB&verify=never&admission=always&eviction=clock"
        "&medium=file:" +
        medium_ + ",io=" + GetParam();
    if (db.open({.spec = spec}) != 0) leave(1);
    VersionedTables tables(kShape, test_seed());
    tables.create(db.get());
    tables.verify(db.get());
    if (!tables.good()) leave(2);
    tables.run(db.get(),
               {.steps = 7, .at_step = [&](int step) { flip_bytes(medium_, byte_of(step)); }});
    tables.verify(db.get());
    leave(tables.good() ? 0 : 3);
  };
  EXPECT_EXIT(
      run_unverified(),
      [](int status) {
        return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 3);
      },
      "");
}

TEST_P(FileMediumTest, AFileCutShortAndMadeLongAgain) {
  ASSERT_NO_FATAL_FAILURE(run([&](int step) {
    std::filesystem::resize_file(medium_, step % 2 == 1 ? (step == 3 ? 0 : 100'000) : 6 << 20);
  }));
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db_.stats();
  EXPECT_GT(stats.of_cache("medium_errors") + stats.of_cache("damaged_blocks"), 0u) << stats.text();
}

TEST_P(FileMediumTest, AFileCutShortForGood) {
  ASSERT_NO_FATAL_FAILURE(run([&](int step) {
    if (step == 3) std::filesystem::resize_file(medium_, 0);
  }));
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db_.stats();
  EXPECT_GT(stats.of_cache("medium_errors"), 0u) << stats.text();
  EXPECT_GT(stats.of_files("served_reads"), 100u) << stats.text();
}

INSTANTIATE_TEST_SUITE_P(Io, FileMediumTest, ::testing::Values("mmap", "direct"),
                         [](const auto& io) { return std::string(io.param); });

// A database opens even if the medium of its cache cannot be opened.
void expect_goes_on_without(const std::string& medium_in, const std::string& size) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open({.spec = "nvcache://?size=" + size + "&medium=file:" + medium_in}))
      << db.messages();
  EXPECT_NE(db.messages().find("without a cache"), std::string::npos) << db.messages();
  EXPECT_NE(db.messages().find(medium_in), std::string::npos) << db.messages();
  VersionedTables tables(kShape, test_seed());
  tables.create_run_verify(db.get(), {.operations = 1000});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  EXPECT_FALSE(db.stats().has_cache()) << db.stats().text();
  EXPECT_GT(db.stats().of_files("disk_reads"), 0u);
}

TEST(FullMediumTest, AFileThatDoesNotFit) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  expect_goes_on_without(dir.file("medium"), "8TiB");
}

TEST(FullMediumTest, AFolderThatIsNotThere) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  expect_goes_on_without(dir.file("no/medium"), "8MiB");
}

TEST(FullMediumTest, AFileSystemThatIsFull) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  if (::mount("none", dir.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "no mount here: " << std::strerror(errno);
  }
  expect_goes_on_without(dir.file("medium"), "8MiB");
  EXPECT_EQ(::umount(dir.path().c_str()), 0) << std::strerror(errno);
}

// nvcache_test_attach attaches these.
std::shared_ptr<FileBlockCache> attached_files;

// In place (DRAM) and as a device (a file with direct I/O).
class FailingMediumTest : public ::testing::TestWithParam<bool> {};

TEST_P(FailingMediumTest, TheRunGoesOnAtRandomErrorsAndWithoutTheCacheInTheEnd) {
  TempDir dir;
  const auto [cache, medium] =
      test::open_failing("nvcache://?size=6MiB&admission=always&eviction=clock&verify=always",
                         GetParam() ? "dram" : "file:" + dir.file("medium") + ",io=direct");
  ASSERT_NE(cache, nullptr);
  attached_files = std::make_shared<FileBlockCache>(cache);

  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open_as(
      "create,cache_size=5MB,extensions=[local=(early_load=true,entry=nvcache_test_attach)]"))
      << db.messages();
  VersionedTables tables(kShape, test_seed());
  tables.create(db.get());
  const Status error = unavailable_error("Input/output error");
  medium->fail_some(error, 10, test_seed());
  tables.run(db.get(), {.operations = 3000});
  tables.verify(db.get());
  ASSERT_GOOD(tables) << db.messages();
  const Stats some = cache->stats();
  EXPECT_GT(some.medium_errors, 100u) << some.to_json();
  EXPECT_EQ(some.failed, 0u) << some.to_json();
  EXPECT_GT(attached_files->stats()[FileCount::kServedReads], 100u);

  tables.run(db.get(), {.operations = 3000, .at_step = [&, failing = medium](int step) {
                          if (step == 2) failing->fail_some(error, 100, test_seed());
                        }});
  tables.verify(db.get());
  ASSERT_GOOD(tables) << db.messages();
  EXPECT_EQ(cache->stats().failed, 1u) << cache->stats().to_json();
  ASSERT_WT_OK(db.close());
  EXPECT_EQ(db.messages().find("PANIC"), std::string::npos) << db.messages();
  attached_files.reset();
}
INSTANTIATE_TEST_SUITE_P(Media, FailingMediumTest, ::testing::Bool(), [](const auto& in_place) {
  return in_place.param ? "InPlace" : "Device";
});

}  // namespace
}  // namespace nvcache::wt_test

// WiredTiger looks it up in this program, which therefore exports it.
extern "C" [[gnu::visibility("default")]] int nvcache_test_attach(WT_CONNECTION* connection,
                                                                  WT_CONFIG_ARG* /*config*/) {
  return nvcache::attach_file_system(connection, nvcache::wt_test::attached_files);
}
