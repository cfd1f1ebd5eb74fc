// Room for a file: on file systems that reserve it, that are interrupted, that cannot, that are
// full.
#include "medium/reserve_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "gmock/gmock.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

constexpr uint64_t kBytes = 1 << 20;

int interruptions = 0;
int interrupted_twice(int fd, int mode, off_t offset, off_t length) {
  if (++interruptions > 2) return ::fallocate(fd, mode, offset, length);
  errno = EINTR;
  return -1;
}
int not_supported(int, int, off_t, off_t) {
  errno = EOPNOTSUPP;
  return -1;
}
int full(int, int, off_t, off_t) {
  errno = ENOSPC;
  return -1;
}

class ReserveRoom : public testing::Test {
 protected:
  ReserveRoom() : fd_(open(dir_.file("data").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  ~ReserveRoom() override { close(fd_); }
  struct stat found() const {
    struct stat found {};
    EXPECT_EQ(fstat(fd_, &found), 0);
    return found;
  }
  uint64_t length() const { return static_cast<uint64_t>(found().st_size); }
  uint64_t disk_bytes() const { return static_cast<uint64_t>(found().st_blocks) * 512; }

  TempDir dir_;
  const int fd_;
};

TEST_F(ReserveRoom, TakesItsBlocks) {
  const auto room = reserve_room(fd_, "data", kBytes);
  ASSERT_TRUE(room.ok()) << room.status();
  EXPECT_EQ(length(), kBytes);
  if (*room == Room::kReserved) {
    EXPECT_GE(disk_bytes(), kBytes);
  }
}

TEST_F(ReserveRoom, IsTriedAgainWhenASignalComes) {
  interruptions = 0;
  const auto room = reserve_room(fd_, "data", kBytes, interrupted_twice);
  ASSERT_TRUE(room.ok()) << room.status();
  EXPECT_EQ(interruptions, 3);
  EXPECT_EQ(length(), kBytes);
}

TEST_F(ReserveRoom, IsSparseWhereItCannotBeReserved) {
  const auto room = reserve_room(fd_, "data", kBytes, not_supported);
  ASSERT_TRUE(room.ok()) << room.status();
  EXPECT_EQ(*room, Room::kSparse);
  EXPECT_EQ(length(), kBytes);
  EXPECT_LT(disk_bytes(), kBytes) << "nothing is written";
  ASSERT_TRUE(reserve_room(fd_, "data", kBytes / 2, not_supported).ok());
  EXPECT_EQ(length(), kBytes) << "a longer file stays";
}

TEST_F(ReserveRoom, IsRefusedOnAFullDisk) {
  const auto room = reserve_room(fd_, "data", kBytes, full);
  EXPECT_EQ(room.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(length(), 0u);
}

}  // namespace
}  // namespace nvcache
