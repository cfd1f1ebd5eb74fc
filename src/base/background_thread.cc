#include "base/background_thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

#include "base/test_hooks.h"

namespace nvcache {
namespace {

// While it lives, a thread that is made takes no signals of the program's: it begins with what its
// maker blocks.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
      sigdelset(&blocked, own);
    }
    if (test_hooks.take_signals) sigemptyset(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

constinit thread_local const BackgroundThread* BackgroundThread::current_ = nullptr;

BackgroundThread::BackgroundThread(Work work)
    : work_(std::move(work)), running_(std::make_unique<Running>()) {}

BackgroundThread::~BackgroundThread() { stop(); }

bool BackgroundThread::start() {
  if (!is_in_this_process()) return false;
  if (started()) return true;
  Running& running = *running_;
  MutexLock lock(running.mutex);
  if (running.thread.joinable() || running.stopping) return started();
  const SignalsBlocked blocked;
  try {
    running.thread = std::thread([this] { run(); });
  } catch (const std::exception&) {  // no thread, or no memory for one
    return false;
  }
  started_.store(true, std::memory_order_release);
  return true;
}

void BackgroundThread::wake() {
  if (!is_in_this_process()) return;
  if (woken_.exchange(true, std::memory_order_acq_rel)) return;
  // The thread sees the flag, or waits already.
  { MutexLock lock(running_->mutex); }
  running_->wakes.notify_one();
}

void BackgroundThread::stop() {
  if (!is_in_this_process()) {
    (void)running_.release();
    return;
  }
  Running& running = *running_;
  {
    MutexLock lock(running.mutex);
    if (running.stopping) return;
    running.stopping = true;
  }
  running.wakes.notify_one();
  if (running.thread.joinable()) running.thread.join();
}

bool BackgroundThread::sleep() {
  const auto deadline =
      CondVar::Clock::now() + std::chrono::duration_cast<CondVar::Clock::duration>(
                                  std::chrono::duration<double>(work_.interval_seconds));
  Running& running = *running_;
  MutexLock lock(running.mutex);
  for (;;) {
    if (woken_.exchange(false, std::memory_order_acq_rel)) return true;
    if (running.stopping) return false;
    if (work_.interval_seconds <= 0) {
      running.wakes.wait(running.mutex);
    } else if (!running.wakes.wait_until(running.mutex, deadline) && !running.stopping) {
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
