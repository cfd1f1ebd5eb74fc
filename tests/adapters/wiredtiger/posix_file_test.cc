// Files that fail, pass again, or end too early.
#include "adapters/wiredtiger/posix_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace nvcache {
namespace {

class PosixFileTest : public testing::Test {
 protected:
  TempDir dir_;
  std::array<std::byte, 100> bytes_{};
  size_t done_ = 0;
};

TEST_F(PosixFileTest, AReadPastTheEndSaysHowFarItCame) {
  PosixFile file;
  ASSERT_EQ(file.open(dir_.file("a"), O_RDWR | O_CREAT), 0);
  ASSERT_EQ(file.write(0, bytes_, &done_), 0);
  EXPECT_EQ(done_, 100u);
  EXPECT_EQ(file.read(30, bytes_, &done_), PosixFile::kShortRead);
  EXPECT_EQ(done_, 70u);
}

TEST_F(PosixFileTest, AFullDeviceTakesNothing) {
  PosixFile file;
  ASSERT_EQ(file.open("/dev/full", O_RDWR), 0);
  EXPECT_EQ(file.write(0, bytes_, &done_), ENOSPC);
  EXPECT_EQ(done_, 0u);
}

TEST_F(PosixFileTest, AFailedSyncStaysFailed) {
  PosixFile file;
  ASSERT_EQ(file.open("/dev/full", O_RDWR), 0);  // which cannot be synced
  const int error = file.sync();
  EXPECT_NE(error, 0);
  ASSERT_EQ(file.close(), 0);
  ASSERT_EQ(file.open(dir_.file("a"), O_RDWR | O_CREAT), 0);
  EXPECT_EQ(file.sync(), error) << "though the descriptor could be synced by now";
}

TEST_F(PosixFileTest, AMissingFileIsNotWaitedFor) {
  EXPECT_FALSE(may_pass(ENOENT));
  PosixFile file;
  PosixStat stat;
  EXPECT_EQ(file.open(dir_.file("none"), O_RDONLY), ENOENT);
  EXPECT_EQ(stat_path(dir_.file("none"), &stat), ENOENT);
}

// A process that has all its descriptors in use gets one as soon as it closes another.
TEST_F(PosixFileTest, OpeningWaitsForADescriptor) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  PosixFile first;
  ASSERT_EQ(first.open(dir_.file("a"), O_RDWR | O_CREAT), 0);
  // Begins before descriptors are out: a sanitizer needs one at the start of a thread.
  std::atomic<bool> waits{false};
  std::thread later([&] {
    while (!waits) std::this_thread::yield();
    std::this_thread::sleep_for(kTryInterval / 2);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  });
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  PosixFile second;
  EXPECT_EQ(second.open(dir_.file("a"), O_RDONLY), EMFILE);
  std::vector<std::string> names;
  EXPECT_EQ(list_folder(dir_.path(), "", 10, &names), EMFILE);
  waits = true;
  EXPECT_EQ(second.open(dir_.file("a"), O_RDONLY), 0);
  later.join();
  EXPECT_EQ(list_folder(dir_.path(), "", 10, &names), 0);
  EXPECT_EQ(names, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace nvcache
