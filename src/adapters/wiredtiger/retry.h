// Repeats system calls that may succeed the next time, and keeps the first error of those that must
// not.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace nvcache {

// Repeats a call that a signal interrupts; errno, or 0.
template <typename Call>
int uninterrupted(Call&& call) {
  while (call() == -1) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Errors that pass: of a busy or full system.
inline bool may_pass(int error) {
  return error == EAGAIN || error == EBUSY || error == EIO || error == EMFILE || error == ENFILE ||
         error == ENOSPC;
}

constexpr int kTries = 10;
constexpr std::chrono::milliseconds kTryInterval{50};

// The same, and repeats one whose error may pass: up to ten times, 50 ms apart, as WiredTiger's own
// file system does. `pause` is for tests.
template <typename Call, typename Pause>
int retried(Call&& call, Pause&& pause) {
  int error = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries > 0) pause();
    error = uninterrupted(call);
    if (!may_pass(error)) break;
  }
  return error;
}
template <typename Call>
int retried(Call&& call) {
  return retried(call, [] { std::this_thread::sleep_for(kTryInterval); });
}

// The first error of several calls, whichever ends last. Thread-safe.
class FirstError {
 public:
  // 0: none yet.
  int get() const { return error_.load(std::memory_order_acquire); }
  // Returns the first error, which may be this one, or 0.
  int note(int error) {
    int first = 0;
    if (error == 0) return get();
    return error_.compare_exchange_strong(first, error) ? error : first;
  }

 private:
  std::atomic<int> error_{0};
};

}  // namespace nvcache
