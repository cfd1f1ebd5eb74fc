// A thread that runs an event loop of its own until it is stopped. The caller adds events before
// start(), or on the thread itself: libevent's loops are not shared between threads.
#pragma once

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace nvcache::server {

// Caller-locked.
class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() {
    stop();
    if (wake_ != nullptr) event_free(wake_);
    if (base_ != nullptr) event_base_free(base_);
    if (wake_fd_ >= 0) close(wake_fd_);
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  // False if the system has no more memory or descriptors.
  [[nodiscard]] bool create() {
    base_ = event_base_new();
    wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (base_ == nullptr || wake_fd_ < 0) return false;
    wake_ = event_new(base_, wake_fd_, EV_READ | EV_PERSIST, on_wake, base_);
    return wake_ != nullptr && event_add(wake_, nullptr) == 0;
  }
  event_base* base() { return base_; }

  void start() {
    thread_ = std::thread([this] { event_base_dispatch(base_); });
  }
  // Waits for the event that is being served. Events may be freed after that.
  void stop() {
    if (!thread_.joinable()) return;
    const uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof one);
    thread_.join();
  }

 private:
  static void on_wake(int, short, void* base) {
    event_base_loopbreak(static_cast<event_base*>(base));
  }

  event_base* base_ = nullptr;
  event* wake_ = nullptr;
  int wake_fd_ = -1;
  std::thread thread_;
};

}  // namespace nvcache::server
