// A thread that sleeps until it is woken, or until an interval has passed, and runs a round.
//
// No exception ends the thread or the process: the thread counts it, reports it, and continues.
// A wake-up while one is outstanding costs one atomic exchange.
//
// A guest in another's process: the thread blocks all signals but those that its own faults raise,
// and SIGPROF, so that no handler of the program runs on it, and none of the signals that the
// program waits for is missed. In a child that the program forks, the thread is not there: then
// wake() and stop() do nothing, and start() fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/home_process.h"
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
  // False in a child of the process that made it: a round never ends there.
  bool is_in_this_process() const { return home_.is_here(); }
  bool is_current() const { return current_ == this; }  // the caller runs on this thread
  uint64_t exceptions() const { return exceptions_.load(std::memory_order_relaxed); }

 private:
  // To end a condition that a thread of another process waits for would wait for that thread.
  struct Running {
    Mutex mutex;
    CondVar wakes;
    bool stopping NVCACHE_GUARDED_BY(mutex) = false;
    std::thread thread;  // written under the lock, before `stopping`
  };

  void run();
  bool sleep();  // false: the thread must end
  bool run_round();
  void tell(const char* what) noexcept;

  static thread_local const BackgroundThread* current_;

  const Work work_;
  std::atomic<bool> started_{false};
  std::atomic<bool> woken_{false};
  std::atomic<uint64_t> exceptions_{0};
  const HomeProcess home_;
  std::unique_ptr<Running> running_;  // a child gives it up without an end
};

}  // namespace nvcache
