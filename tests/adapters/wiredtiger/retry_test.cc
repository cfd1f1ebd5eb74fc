// Which errors of system calls are tried again, and which stay.
#include "adapters/wiredtiger/retry.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>
#include <vector>

namespace nvcache {
namespace {

struct Outcome {
  int error;
  int calls;
  int pauses;
};

// A call that fails `failures` times.
Outcome run(int error, int failures) {
  Outcome outcome{};
  outcome.error = retried(
      [&] {
        errno = error;
        return outcome.calls++ < failures ? -1 : 0;
      },
      [&] { ++outcome.pauses; });
  return outcome;
}

TEST(Retried, ErrorsThatMayPassAreTriedTenTimes) {
  for (const int error : {EAGAIN, EBUSY, EIO, EMFILE, ENFILE, ENOSPC}) {
    const Outcome passes = run(error, 3);
    EXPECT_EQ(passes.error, 0) << error;
    EXPECT_EQ(passes.pauses, 3) << error;
    const Outcome stays = run(error, 1000);
    EXPECT_EQ(stays.error, error);
    EXPECT_EQ(stays.calls, 10) << error;
    EXPECT_EQ(stays.pauses, 9) << error;
  }
}

TEST(Retried, OtherErrorsAreNot) {
  for (const int error : {ENOENT, EACCES, EPERM, EINVAL, EROFS}) {
    const Outcome outcome = run(error, 1000);
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(outcome.calls, 1) << error;
  }
}

TEST(Retried, ASignalCostsNoTry) {
  const Outcome outcome = run(EINTR, 100);
  EXPECT_EQ(outcome.error, 0);
  EXPECT_EQ(outcome.pauses, 0);
}

TEST(FirstError, StaysWhateverComesLater) {
  FirstError error;
  EXPECT_EQ(error.note(0), 0);
  EXPECT_EQ(error.note(EIO), EIO);
  EXPECT_EQ(error.note(0), EIO) << "a success that ends later";
  EXPECT_EQ(error.note(ENOSPC), EIO);
  EXPECT_EQ(error.get(), EIO);
}

TEST(FirstError, OneOfManyThreadsIsFirst) {
  FirstError error;
  std::vector<std::thread> threads;
  for (int i = 1; i <= 8; ++i) {
    threads.emplace_back([&error, i] {
      for (int n = 0; n < 1000; ++n) error.note(n % 2 == 0 ? i : 0);
    });
  }
  const int first = [&] {
    while (error.get() == 0) std::this_thread::yield();
    return error.get();
  }();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(error.get(), first);
}

}  // namespace
}  // namespace nvcache
