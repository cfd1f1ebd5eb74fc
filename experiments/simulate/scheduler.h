// Discrete events: tasks that wait for points of simulated time, in one thread.
//
// A task is a coroutine. It runs until it waits; then the task whose time comes first goes on, and
// of equal times the one that began to wait first. So everything that tasks do to what they share
// happens in the order of time. A wait costs O(log n) of the tasks that wait.
//
//   Task client(Scheduler& time) {
//     co_await time.busy_until(time.now_ns() + 100);   // a core computes, or waits for memory
//     co_await time.idle_until(disk_is_done_ns);       // others may have the core
//   }
//
// A task may wait for another: co_await another_task. One that does not wait idly keeps its core,
// unless it hands it on: co_await time.yield(), as the OS takes cores from those that compute on.
// Caller-locked.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace nvcache::simulate {

// Begins when it is awaited, or started by a Scheduler. Owns its coroutine, and those within it.
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Finish {
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle done) noexcept {
      const std::coroutine_handle<> caller = done.promise().caller;
      return caller ? caller : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  struct promise_type {
    std::coroutine_handle<> caller;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Finish final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }  // to the caller of the scheduler
  };

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() const noexcept {}

  std::coroutine_handle<> handle() const { return handle_; }

 private:
  Handle handle_;
};

class Scheduler {
 public:
  explicit Scheduler(uint32_t cores) : free_cores_(cores) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  uint64_t now_ns() const { return now_ns_; }

  // The task begins at the time that is now, with a core if one is free.
  void start(const Task& task) { push({now_ns_, order_++, task.handle(), true}); }

  struct Wait {
    Scheduler& time;
    uint64_t when_ns;
    bool idle;

    bool await_ready() const noexcept { return when_ns <= time.now_ns_; }
    void await_suspend(std::coroutine_handle<> task) {
      if (idle) time.give_core_back();
      time.push({when_ns, time.order_++, task, idle});
    }
    void await_resume() const noexcept {}
  };
  Wait busy_until(uint64_t when_ns) { return {*this, when_ns, false}; }
  Wait idle_until(uint64_t when_ns) { return {*this, when_ns, true}; }

  // Those that wait for a core have this one first. Nothing happens if there are none.
  struct Yield {
    Scheduler& time;

    bool await_ready() const noexcept { return time.waiting_.empty(); }
    void await_suspend(std::coroutine_handle<> task) {
      time.give_core_back();
      time.waiting_.push_back(task);
    }
    void await_resume() const noexcept {}
  };
  Yield yield() { return {*this}; }

  // Tasks that wait to be woken. Outlived by the scheduler.
  class Parked {
   public:
    struct Park {
      Parked& lot;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> task) {
        lot.tasks_.push_back(task);
        lot.time_.give_core_back();
      }
      void await_resume() const noexcept {}
    };

    explicit Parked(Scheduler& time) : time_(time) {}
    Park park() { return {*this}; }
    // Wakes the one that has waited longest; nothing if there is none.
    void wake_one() {
      if (tasks_.empty()) return;
      time_.push({time_.now_ns_, time_.order_++, tasks_.front(), true});
      tasks_.pop_front();
    }

   private:
    Scheduler& time_;
    std::deque<std::coroutine_handle<>> tasks_;
  };

  // Carries out the next event before `end_ns`. False: there is none.
  bool step(uint64_t end_ns) {
    if (events_.empty() || events_.front().at_ns >= end_ns) return false;
    std::pop_heap(events_.begin(), events_.end(), later);
    const Event event = events_.back();
    events_.pop_back();
    NVCACHE_ASSERT(event.at_ns >= now_ns_);
    now_ns_ = event.at_ns;
    if (!event.needs_core) {
      event.task.resume();
    } else if (free_cores_ == 0) {
      waiting_.push_back(event.task);
    } else {
      --free_cores_;
      event.task.resume();
    }
    return true;
  }

 private:
  struct Event {
    uint64_t at_ns;
    uint64_t order;
    std::coroutine_handle<> task;
    bool needs_core;
  };

  static bool later(const Event& a, const Event& b) {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
  }
  void push(const Event& event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), later);
  }
  // To the task that has waited longest for one.
  void give_core_back() {
    if (waiting_.empty()) {
      ++free_cores_;
      return;
    }
    push({now_ns_, order_++, waiting_.front(), false});
    waiting_.pop_front();
  }

  uint64_t now_ns_ = 0;
  uint64_t order_ = 0;
  uint32_t free_cores_;
  std::vector<Event> events_;                    // min-heap
  std::deque<std::coroutine_handle<>> waiting_;  // for a core
};

}  // namespace nvcache::simulate
