// A thread that runs an event loop of its own. The caller adds events before start(), or on the
// thread itself: libevent's loops are not shared between threads. wake() is thread-safe; the caller
// serialises the rest.
#pragma once

#include <event2/event.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "nvcache/status.h"

namespace nvcache::server {

class LoopThread {
 public:
  // `name`, of at most 15 characters, is what top and gdb call the thread. `on_wake` runs on it
  // after each wake(); it may be empty.
  explicit LoopThread(const char* name, std::function<void()> on_wake = {})
      : name_(name), on_wake_(std::move(on_wake)) {}
  ~LoopThread();  // stops; the caller has freed its events
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  // False if the system has no more memory or descriptors.
  [[nodiscard]] bool create();
  event_base* base() { return base_; }

  // RESOURCE_EXHAUSTED: the system has no thread for it.
  [[nodiscard]] Status start();
  void wake();
  // Waits for the event that is being served. The caller may free its events after that.
  void stop();

 private:
  static void on_event(int fd, short what, void* self);

  const char* const name_;
  const std::function<void()> on_wake_;
  event_base* base_ = nullptr;
  event* wake_event_ = nullptr;
  int wake_fd_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace nvcache::server
