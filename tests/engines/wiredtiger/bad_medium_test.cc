// A medium that is damaged, cut short, full or failing in the middle of a run: the run
// ends with the right data, WiredTiger notices nothing, the statistics tell.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/prng.h"
#include "cache/block_cache_impl.h"
#include "cache/file_block_cache.h"
#include "engines/wiredtiger/file_system.h"
#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

const TableShape kShape = {.create = "allocation_size=512,leaf_page_max=4KB"};

// Inverts a byte in each 512 of the file, another one at each step.
void flip_bytes(const std::string& path, int step) {
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0) << path << ": " << std::strerror(errno);
  const auto size = static_cast<off_t>(std::filesystem::file_size(path));
  for (off_t at = 17 * step % 512; at < size; at += 512) {
    unsigned char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
    byte = static_cast<unsigned char>(~byte);
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
  }
  ::close(fd);
}

// A run over a medium in a file, at whose steps something is done to the file.
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
  ASSERT_NO_FATAL_FAILURE(run([&](int step) { flip_bytes(medium_, step); }));
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db_.stats();
  EXPECT_GT(stats.of_cache("damaged_blocks"), 50u) << stats.text();
  EXPECT_GT(stats.of_files("served_reads"), 100u) << stats.text();
}

// The test above would pass for nothing if the damage did not matter.
TEST_P(FileMediumTest, ControlDamagedBytesAreServedWithoutVerification) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // WiredTiger panics and cannot be closed: in a process of its own.
  const auto leave = [&](int code) {
    std::error_code ignored;
    std::filesystem::remove_all(dir_.path(), ignored);  // no destructor will
    ::_exit(code);
  };
  const auto run_unverified = [&] {
    const std::string spec =
        "nvcache://?size=6MiB&write_queue=2MiB&verify=never&admission=always&eviction=clock"
        "&medium=file:" +
        medium_ + ",io=" + GetParam();
    if (db_.open({.spec = spec}) != 0) leave(1);
    VersionedTables tables(kShape, test_seed());
    tables.create(db_.get());
    tables.verify(db_.get());
    if (!tables.good()) leave(2);
    tables.run(db_.get(), {.steps = 7, .at_step = [&](int step) { flip_bytes(medium_, step); }});
    tables.verify(db_.get());
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

// A medium that cannot be had is no reason to keep the database closed.
void expect_goes_on_without(const std::string& medium_in, const std::string& size) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open({.spec = "nvcache://?size=" + size + "&medium=file:" + medium_in}))
      << db.messages();
  EXPECT_NE(db.messages().find("without a cache"), std::string::npos) << db.messages();
  EXPECT_NE(db.messages().find(medium_in), std::string::npos) << db.messages();
  VersionedTables tables(kShape, test_seed());
  tables.create(db.get());
  tables.run(db.get(), {.operations = 1000});
  tables.verify(db.get());
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

// Fails a share of its accesses, at random; on demand all.
class FlakyMedium final : public Medium {
 public:
  FlakyMedium(std::unique_ptr<Medium> inner, uint64_t seed)
      : inner_(std::move(inner)), traits_(inner_->traits()), seed_(seed) {
    traits_.charges_direct_reads = true;  // or reads in place could not fail
  }
  void set_failing_percent(uint32_t percent) { percent_ = percent; }

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] absl::Status read(uint64_t offset, MutableBytes into) override {
    return fails() ? failure() : inner_->read(offset, into);
  }
  [[nodiscard]] absl::Status write(uint64_t offset, ByteView from) override {
    return fails() ? failure() : inner_->write(offset, from);
  }
  [[nodiscard]] absl::Status flush(Extent extent) override { return inner_->flush(extent); }
  [[nodiscard]] absl::Status drain() override { return inner_->drain(); }
  ByteView direct() const override { return inner_->direct(); }
  [[nodiscard]] absl::Status on_direct_read(Extent extent) override {
    return fails() ? failure() : inner_->on_direct_read(extent);
  }
  [[nodiscard]] absl::Status resize(uint64_t size_bytes) override {
    return inner_->resize(size_bytes);
  }

 private:
  bool fails() { return mix64(seed_ + count_++) % 100 < percent_; }
  static absl::Status failure() { return absl::UnavailableError("Input/output error"); }

  const std::unique_ptr<Medium> inner_;
  Traits traits_;
  const uint64_t seed_;
  std::atomic<uint64_t> count_{0};
  std::atomic<uint32_t> percent_{0};
};

// What nvcache_test_attach attaches.
std::shared_ptr<FileBlockCache> attached_files;

// In place (DRAM) and as a device (a file with direct I/O).
class FailingMediumTest : public ::testing::TestWithParam<bool> {};

TEST_P(FailingMediumTest, TheRunGoesOnAtRandomErrorsAndWithoutTheCacheInTheEnd) {
  TempDir dir;
  Config config;
  config.size_bytes = config.max_size_bytes = 6 << 20;
  config.admission = "always";
  config.eviction = "clock";
  config.verify = Verify::kAlways;
  const std::string spec = GetParam() ? "dram" : "file:" + dir.file("medium") + ",io=direct";
  auto inner = open_medium(
      spec, {.size_bytes = config.size_bytes, .max_size_bytes = config.size_bytes}, system_clock());
  ASSERT_TRUE(inner.ok()) << inner.status();
  auto medium = std::make_unique<FlakyMedium>(*std::move(inner), test_seed());
  FlakyMedium& flaky = *medium;
  auto made = BlockCacheImpl::make(config, std::move(medium), system_clock());
  ASSERT_TRUE(made.ok()) << made.status();
  const std::shared_ptr<BlockCache> cache = *std::move(made);
  attached_files = std::make_shared<FileBlockCache>(cache);

  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open_as(
      "create,cache_size=5MB,extensions=[local=(early_load=true,entry=nvcache_test_attach)]"))
      << db.messages();
  VersionedTables tables(kShape, test_seed());
  tables.create(db.get());
  flaky.set_failing_percent(10);
  tables.run(db.get(), {.operations = 3000});
  tables.verify(db.get());
  ASSERT_GOOD(tables) << db.messages();
  const Stats some = cache->stats();
  EXPECT_GT(some.medium_errors, 100u) << some.to_json();
  EXPECT_EQ(some.failed, 0u) << some.to_json();
  EXPECT_GT(attached_files->stats()[FileCount::kServedReads], 100u);

  tables.run(db.get(), {.operations = 3000, .at_step = [&](int step) {
                          if (step == 2) flaky.set_failing_percent(100);
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
