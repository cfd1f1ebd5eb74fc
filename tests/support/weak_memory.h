// A machine whose memory is as weak as C++'s memory model lets it be, for models of protocols that
// take no lock: it runs all executions of a few threads, so that a test on a strongly ordered
// processor can tell which orders a protocol needs.
//
// A view machine (J. Kang et al., "A Promising Semantics for Relaxed-Memory Concurrency", POPL '17,
// without its promises). A place keeps all that was stored to it. A thread has a view: how much of
// each place it must have seen, and of each thread. A load reads any store that its view has not
// passed, and an acquire takes over the view of the release that it reads. Operations of seq_cst
// have one order, that in which they run. Plain accesses, read() and write(), must not race: of two
// to one place, one of them a write, one must be in the view of the other.
//
// Less than all that C++ allows: no load reads a store that runs after it, and stores to one place
// are ordered as they run. The protocols store under a lock, or by read-modify-write, or one thread
// does.
//
// A model is a struct with a coroutine for each thread, start(), and is_right(), which is asked at
// the end of each execution. Executions grow exponentially: two threads of eight accesses are some
// ten thousand.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <vector>

#include "base/assert.h"

namespace nvcache::test {

// The choices of an execution where it had one. next() is the first that was not run yet.
class Choices {
 public:
  size_t pick(size_t of) {
    if (at_ == chosen_.size()) chosen_.push_back({0, of});
    NVCACHE_ASSERT(chosen_[at_].of == of);  // an execution is its choices, and nothing else
    return chosen_[at_++].one;
  }
  bool next() {
    while (!chosen_.empty() && chosen_.back().one + 1 == chosen_.back().of) chosen_.pop_back();
    if (chosen_.empty()) return false;
    ++chosen_.back().one;
    at_ = 0;
    return true;
  }

 private:
  struct Choice {
    size_t one;
    size_t of;
  };
  std::vector<Choice> chosen_;
  size_t at_ = 0;
};

// Caller-locked. All places begin at 0.
class WeakMemory {
 public:
  using Order = std::memory_order;
  static constexpr size_t kPlaces = 8;
  static constexpr size_t kThreads = 4;
  // By place: the number of the last store to it that was seen. By thread, behind that: how many of
  // its accesses come before.
  using View = std::array<size_t, kPlaces + kThreads>;

  explicit WeakMemory(Choices& choices) : choices_(choices) {
    for (Place& place : places_) place.stores.push_back({0, View{}});
  }
  ~WeakMemory() {
    for (const Handle thread : threads_) thread.destroy();
  }
  WeakMemory(const WeakMemory&) = delete;
  WeakMemory& operator=(const WeakMemory&) = delete;

  // Of an access. The thread goes on when the machine has carried it out.
  struct Access;
  struct Thread {
    struct promise_type {
      size_t number = 0;
      Access* pending = nullptr;
      View seen{};      // by the thread
      View acquired{};  // by its next acquire fence
      View released{};  // by its last release fence

      Thread get_return_object() { return {Handle::from_promise(*this)}; }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };
  using Handle = std::coroutine_handle<Thread::promise_type>;
  using State = Thread::promise_type;

  struct Access {
    enum What : uint8_t {
      kLoad,
      kStore,
      kAdd,
      kExchange,
      kCompare,
      kRead,
      kWrite,
      kFence,
      kLock,
      kUnlock,
    };

    WeakMemory& memory;
    What what;
    size_t place;
    uint64_t value;
    Order order;
    uint64_t expected = 0;
    uint64_t result = 0;

    bool await_ready() const { return false; }
    // Fences change what their thread sees, and nothing that others do.
    bool await_suspend(Handle thread) {
      thread.promise().pending = this;
      if (what != kFence || order == Order::seq_cst) return true;
      memory.carry_out(thread.promise());
      return false;
    }
    uint64_t await_resume() const { return result; }
  };

  Access load(size_t place, Order order) { return {*this, Access::kLoad, place, 0, order}; }
  Access store(size_t place, uint64_t value, Order order) {
    return {*this, Access::kStore, place, value, order};
  }
  // These return what was there before.
  Access add(size_t place, uint64_t value, Order order) {
    return {*this, Access::kAdd, place, value, order};
  }
  Access exchange(size_t place, uint64_t value, Order order) {
    return {*this, Access::kExchange, place, value, order};
  }
  // If it fails, it reads the last store.
  Access compare_exchange(size_t place, uint64_t expected, uint64_t value, Order order) {
    return {*this, Access::kCompare, place, value, order, expected};
  }
  // Plain: not atomic.
  Access read(size_t place) { return {*this, Access::kRead, place, 0, Order::relaxed}; }
  Access write(size_t place, uint64_t value) {
    return {*this, Access::kWrite, place, value, Order::relaxed};
  }
  Access fence(Order order) { return {*this, Access::kFence, 0, 0, order}; }
  // One mutex a place.
  Access lock(size_t place) { return {*this, Access::kLock, place, 0, Order::acquire}; }
  Access unlock(size_t place) { return {*this, Access::kUnlock, place, 0, Order::release}; }

  // Runs them to their ends.
  void run(std::initializer_list<Thread> threads) {
    NVCACHE_ASSERT(threads_.empty() && threads.size() <= kThreads);
    for (const Thread& thread : threads) {
      thread.handle.promise().number = threads_.size();
      threads_.push_back(thread.handle);
    }
    for (const Handle thread : threads_) thread.resume();  // to its first access
    for (std::vector<Handle> ready; find_ready(&ready);) {
      const Handle next = ready[choices_.pick(ready.size())];
      carry_out(next.promise());
      next.resume();
    }
  }
  // Two plain accesses had no order.
  bool raced() const { return raced_; }

 private:
  struct Store {
    uint64_t value;
    View view;  // that an acquire of it takes over
  };
  struct Place {
    std::vector<Store> stores;
    // Of plain accesses, the last of each thread, as it counts them; 0: none.
    std::array<size_t, kThreads> read{};
    std::array<size_t, kThreads> written{};
  };
  struct Lock {
    bool held = false;
    View view{};
  };

  static bool acquires(Order order) {
    return order == Order::acquire || order == Order::acq_rel || order == Order::seq_cst;
  }
  static bool releases(Order order) {
    return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
  }
  static void join(View* into, const View& from) {
    for (size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
  }

  bool find_ready(std::vector<Handle>* ready) const {
    ready->clear();
    for (const Handle thread : threads_) {
      if (thread.done()) continue;
      const Access& access = *thread.promise().pending;
      if (access.what != Access::kLock || !locks_[access.place].held) ready->push_back(thread);
    }
    return !ready->empty();
  }

  void carry_out(State& thread) {
    Access& access = *thread.pending;
    ++thread.seen[kPlaces + thread.number];
    switch (access.what) {
      case Access::kRead:
        find_race(thread, access);
        [[fallthrough]];
      case Access::kLoad:
        access.result = take(thread, access, choose(thread, access)).value;
        break;
      case Access::kWrite:
        find_race(thread, access);
        [[fallthrough]];
      case Access::kStore:
        put(thread, access, access.value, thread.released);
        break;
      case Access::kAdd:
      case Access::kExchange:
      case Access::kCompare:
        modify(thread, access);
        break;
      case Access::kFence:
        pass_fence(thread, access.order);
        break;
      case Access::kLock:
        locks_[access.place].held = true;
        join(&thread.seen, locks_[access.place].view);
        break;
      case Access::kUnlock:
        locks_[access.place] = {.held = false, .view = thread.seen};
        break;
    }
  }

  // A release sequence goes on through it.
  void modify(State& thread, Access& access) {
    const Store before = take(thread, access, places_[access.place].stores.size() - 1);
    access.result = before.value;
    if (access.what == Access::kCompare && before.value != access.expected) return;
    View view = thread.released;
    join(&view, before.view);
    put(thread, access, access.value + (access.what == Access::kAdd ? before.value : 0), view);
  }

  // The number of the store that a load reads.
  size_t choose(const State& thread, const Access& access) {
    size_t least = thread.seen[access.place];
    if (access.order == Order::seq_cst) least = std::max(least, in_order_[access.place]);
    return least + choices_.pick(places_[access.place].stores.size() - least);
  }

  Store take(State& thread, const Access& access, size_t number) {
    const Store& store = places_[access.place].stores[number];
    thread.seen[access.place] = number;
    join(acquires(access.order) ? &thread.seen : &thread.acquired, store.view);
    note_order(access, number);
    return store;
  }

  void put(State& thread, const Access& access, uint64_t value, View view) {
    std::vector<Store>& stores = places_[access.place].stores;
    thread.seen[access.place] = stores.size();
    if (releases(access.order)) join(&view, thread.seen);
    view[access.place] = stores.size();
    stores.push_back({value, view});
    note_order(access, stores.size() - 1);
  }

  void find_race(const State& thread, const Access& access) {
    Place& place = places_[access.place];
    const bool writes = access.what == Access::kWrite;
    for (size_t other = 0; other < kThreads; ++other) {
      const size_t last =
          writes ? std::max(place.read[other], place.written[other]) : place.written[other];
      raced_ = raced_ || last > thread.seen[kPlaces + other];
    }
    (writes ? place.written : place.read)[thread.number] = thread.seen[kPlaces + thread.number];
  }

  void pass_fence(State& thread, Order order) {
    if (acquires(order)) join(&thread.seen, thread.acquired);
    for (size_t place = 0; place < kPlaces && order == Order::seq_cst; ++place) {
      thread.seen[place] = in_order_[place] = std::max(in_order_[place], thread.seen[place]);
    }
    if (releases(order)) thread.released = thread.seen;
  }

  // An access of seq_cst that comes later sees no less of the place.
  void note_order(const Access& access, size_t number) {
    if (access.order != Order::seq_cst) return;
    in_order_[access.place] = std::max(in_order_[access.place], number);
  }

  Choices& choices_;
  std::array<Place, kPlaces> places_;
  std::array<Lock, kPlaces> locks_{};
  std::array<size_t, kPlaces> in_order_{};  // what operations of seq_cst have seen
  std::vector<Handle> threads_;
  bool raced_ = false;
};

// Whether each execution of the model is right, and has no race.
template <typename Model>
bool always_right(const Model& model) {
  Choices choices;
  do {
    Model one = model;
    WeakMemory memory(choices);
    one.start(memory);
    if (memory.raced() || !one.is_right()) return false;
  } while (choices.next());
  return true;
}

}  // namespace nvcache::test
