// A child that this process forks: it does its work, says so, and lives until it is told to end.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>

#include "gtest/gtest.h"

namespace nvcache::test {

class ForkedChild {
 public:
  // The work's result is the child's exit code. A child that hangs is killed after a minute.
  explicit ForkedChild(const std::function<int()>& work) {
    EXPECT_EQ(pipe(to_child_), 0);
    EXPECT_EQ(pipe(from_child_), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ != 0) {
      close(to_child_[0]);
      close(from_child_[1]);
      return;
    }
    close(to_child_[1]);
    close(from_child_[0]);
    alarm(60);
    const int code = work();
    char byte = 0;
    (void)!write(from_child_[1], &byte, 1);
    (void)!read(to_child_[0], &byte, 1);
    _exit(code);
  }
  ~ForkedChild() {
    if (pid_ > 0) (void)end();
    close(from_child_[0]);
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;

  pid_t pid() const { return pid_; }
  // False: it ended before.
  bool wait_until_done() const {
    char byte = 0;
    return read(from_child_[0], &byte, 1) == 1;
  }
  // Its exit code, or less the signal that ended it.
  int end() {
    close(to_child_[1]);
    return wait_for_end();
  }
  int kill_it() {
    kill(pid_, SIGKILL);
    return end();
  }

 private:
  int wait_for_end() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  int to_child_[2] = {-1, -1};
  int from_child_[2] = {-1, -1};
  pid_t pid_ = -1;
};

}  // namespace nvcache::test
