// Time that costs nothing: it stands still while code runs, and jumps when all threads
// wait. The same code runs under real and under virtual time.
//
// Without participants wait_until_ns() moves time forward and returns. With
// participants the clock is a deterministic discrete-event scheduler over real
// threads: exactly one of them runs at any moment; when it waits, time jumps to
// the earliest wake-up among all of them (ties: the lowest number) and that
// thread alone goes on. The order of events depends on nothing but the code.
//
//   clock.expect(n);                              // before the threads start
//   VirtualClock::Participant seat(clock, i);     // in thread i, 0 <= i < n
//
// States of a seat: absent -> waiting <-> running -> left. None runs until all
// n are seated; once all have left, the clock is without participants again.
//
// Thread-safe. A participant must not wait for another one by any other means
// (or hold a lock across wait_until_ns()): no other runs then, and both would
// hang. A thread without a seat that waits while there are
// participants is woken once they have moved time far enough, or have left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace nvcache {

class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(uint64_t start_ns = 0) : now_ns_(start_ns) {}
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  uint64_t now_ns() const override { return now_ns_.load(std::memory_order_acquire); }
  void wait_until_ns(uint64_t when_ns) override;

  // Announces how many participants will take their seats. Aborts if earlier
  // participants have not all left: their schedule would be undefined.
  void expect(size_t participants);

  // Seats the calling thread under `number` for its lifetime; returns when it is
  // this thread's turn to run. Aborts on a number that is taken or out of range.
  class Participant {
   public:
    Participant(VirtualClock& clock, size_t number);
    ~Participant();
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

   private:
    VirtualClock& clock_;
    const size_t number_;
  };

 private:
  enum class State { kAbsent, kWaiting, kRunning, kLeft };
  struct Seat {
    State state = State::kAbsent;
    uint64_t wake_ns = 0;
    CondVar turn;
  };

  void wait_for_turn(size_t number, uint64_t when_ns) NVCACHE_REQUIRES(mutex_);
  void wait_outside(uint64_t when_ns) NVCACHE_REQUIRES(mutex_);
  void run_next() NVCACHE_REQUIRES(mutex_);
  void move_to(uint64_t when_ns) NVCACHE_REQUIRES(mutex_);

  Mutex mutex_;
  std::atomic<uint64_t> now_ns_;  // written under mutex_
  std::vector<std::unique_ptr<Seat>> seats_ NVCACHE_GUARDED_BY(mutex_);
  size_t absent_ NVCACHE_GUARDED_BY(mutex_) = 0;
  CondVar outside_;
};

}  // namespace nvcache
