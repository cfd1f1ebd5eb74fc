// The lock that keeps other openers away from a file.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/file_steps.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

class FileLockTest : public testing::Test {
 protected:
  int open_file() const { return open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

  TempDir folder_;
  std::string path_ = folder_.path() + "/data";
};

// A descriptor on its way through a socket: its file stays locked, and no process has it open. So
// does the file of a killed process, until the kernel has given it up.
class OnItsWay {
 public:
  explicit OnItsWay(int fd) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
    char byte = 0;
    iovec bytes{.iov_base = &byte, .iov_len = 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    EXPECT_EQ(sendmsg(ends_[0], &message, 0), 1);
    close(fd);
  }
  ~OnItsWay() { give_up(); }

  void give_up() {
    for (int& end : ends_) {
      if (end >= 0) close(end);
      end = -1;
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(FileLockTest, AnotherDescriptorOfThisProcessIsRefusedAtOnce) {
  const int first = open_file();
  ASSERT_TRUE(lock_file(first, path_, "store").ok());
  const int second = open_file();
  int pauses = 0;
  const Status refused = lock_file(second, path_, "store", [&] { ++pauses; });
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("in use by another store"));
  EXPECT_EQ(pauses, 0);
  close(first);
  EXPECT_TRUE(lock_file(second, path_, "store").ok());
  close(second);
}

TEST_F(FileLockTest, ALockThatNobodyIsSeenToHoldIsWaitedFor) {
  const int first = open_file();
  ASSERT_TRUE(lock_file(first, path_, "store").ok());
  OnItsWay killed(first);
  const int second = open_file();
  int pauses = 0;
  EXPECT_TRUE(lock_file(second, path_, "store", [&] {
                if (++pauses == 3) killed.give_up();
              }).ok());
  EXPECT_GE(pauses, 3);
  close(second);
}

TEST_F(FileLockTest, ALockThatStaysIsRefused) {
  const int first = open_file();
  ASSERT_TRUE(lock_file(first, path_, "cache").ok());
  const OnItsWay killed(first);
  const int second = open_file();
  int pauses = 0;
  EXPECT_EQ(lock_file(second, path_, "cache", [&] { ++pauses; }).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(pauses, kLockAttempts - 1);
  close(second);
}

}  // namespace
}  // namespace nvcache
