#include "base/background_thread.h"

#include <pthread.h>

#include <exception>
#include <utility>

namespace nvcache {

constinit thread_local const BackgroundThread* BackgroundThread::current_ = nullptr;

BackgroundThread::BackgroundThread(Work work) : work_(std::move(work)) {}

BackgroundThread::~BackgroundThread() { stop(); }

bool BackgroundThread::start() {
  if (started()) return true;
  MutexLock lock(mutex_);
  if (thread_.joinable() || stopping_) return started();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {  // no thread, or no memory for one
    return false;
  }
  started_.store(true, std::memory_order_release);
  return true;
}

void BackgroundThread::wake() {
  if (woken_.exchange(true, std::memory_order_acq_rel)) return;
  // The thread sees the flag, or waits already.
  { MutexLock lock(mutex_); }
  wakes_.notify_one();
}

void BackgroundThread::stop() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundThread::sleep() {
  const auto deadline =
      CondVar::Clock::now() + std::chrono::duration_cast<CondVar::Clock::duration>(
                                  std::chrono::duration<double>(work_.interval_seconds));
  MutexLock lock(mutex_);
  for (;;) {
    if (woken_.exchange(false, std::memory_order_acq_rel)) return true;
    if (stopping_) return false;
    if (work_.interval_seconds <= 0) {
      wakes_.wait(mutex_);
    } else if (!wakes_.wait_until(mutex_, deadline) && !stopping_) {
      return true;
    }
  }
}

void BackgroundThread::tell(const char* what) noexcept {
  exceptions_.fetch_add(1, std::memory_order_relaxed);
  if (!work_.on_exception) return;
  try {
    work_.on_exception(what);
  } catch (...) {  // counted already
  }
}

bool BackgroundThread::run_round() {
  try {
    return work_.round();
  } catch (const std::exception& problem) {
    tell(problem.what());
  } catch (...) {
    tell("an exception of an unknown type");
  }
  return work_.interval_seconds <= 0;
}

void BackgroundThread::run() {
  current_ = this;
  pthread_setname_np(pthread_self(), work_.name);
  bool again = false;
  while (again || sleep()) again = run_round();
}

}  // namespace nvcache
