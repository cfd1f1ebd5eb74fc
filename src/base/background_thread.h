// A thread that sleeps until it is woken, or until an interval has passed, and runs a round.
//
// No exception ends the thread or the process: the thread counts it, reports it, and continues.
// A wake-up while one is outstanding costs one atomic exchange.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace nvcache {

// Thread-safe.
class BackgroundThread {
 public:
  struct Work {
    const char* name = "nvcache";  // of the thread; at most 15 characters
    double interval_seconds = 0;   // longest sleep between two rounds; 0: until it is woken
    // One round, with no lock held. True asks for another at once.
    std::function<bool()> round{};
    // Gets what a round threw, on the thread; may be empty. The next round follows at the interval,
    // or at once if there is none: a round of a queue takes its item before it can throw.
    std::function<void(const std::string&)> on_exception{};
  };

  explicit BackgroundThread(Work work);
  ~BackgroundThread();  // stops
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // Starts the thread unless it runs. False: the system has no more threads, or the thread was
  // stopped before.
  [[nodiscard]] bool start();
  // A round begins after this call, and sees what the caller did before.
  void wake();
  // Waits for the running round, for the rounds that it asks for, and for that of an earlier
  // wake(). Then ends the thread for good.
  void stop();

  bool started() const { return started_.load(std::memory_order_acquire); }
  bool is_current() const { return current_ == this; }  // the caller runs on this thread
  uint64_t exceptions() const { return exceptions_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool sleep();  // false: the thread must end
  bool run_round();
  void tell(const char* what) noexcept;

  static thread_local const BackgroundThread* current_;

  const Work work_;
  std::atomic<bool> started_{false};
  std::atomic<bool> woken_{false};
  std::atomic<uint64_t> exceptions_{0};
  Mutex mutex_;
  CondVar wakes_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // written under the lock, before stopping_
};

}  // namespace nvcache
