// std::mutex and std::condition_variable with the annotations that clang's thread-safety analysis
// checks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_annotations.h"

namespace nvcache {

class NVCACHE_MUTEX Mutex {
 public:
  void lock() NVCACHE_ACQUIRE() { mutex_.lock(); }
  void unlock() NVCACHE_RELEASE() { mutex_.unlock(); }
  // For a function that its caller's caller calls with the mutex held. Checks nothing by itself.
  void assert_held() const NVCACHE_ASSERT_HELD() {}
  bool try_lock() NVCACHE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class NVCACHE_SCOPED_LOCK MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NVCACHE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() NVCACHE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// The caller holds the mutex of a wait before and after it, and checks its condition in a loop:
// a wait may end without a notification.
class CondVar {
 public:
  using Clock = std::chrono::steady_clock;

  void wait(Mutex& mutex) NVCACHE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False once the deadline has passed.
  bool wait_until(Mutex& mutex, Clock::time_point deadline) NVCACHE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace nvcache
