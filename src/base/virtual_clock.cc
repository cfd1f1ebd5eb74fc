#include "base/virtual_clock.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace nvcache {
namespace {

// The seat of this thread, if it has one, and the clock it belongs to.
struct OwnSeat {
  const VirtualClock* clock = nullptr;
  size_t number = 0;
};
thread_local OwnSeat own_seat;

[[noreturn]] void misused(const char* what) {
  std::fprintf(stderr, "nvcache: VirtualClock: %s\n", what);
  std::abort();
}

}  // namespace

void VirtualClock::expect(size_t participants) {
  MutexLock lock(mutex_);
  if (!seats_.empty()) misused("expect() while participants are seated");
  for (size_t i = 0; i < participants; ++i) seats_.push_back(std::make_unique<Seat>());
  absent_ = participants;
}

VirtualClock::Participant::Participant(VirtualClock& clock, size_t number)
    : clock_(clock), number_(number) {
  MutexLock lock(clock_.mutex_);
  if (number >= clock_.seats_.size() || clock_.seats_[number]->state != State::kAbsent) {
    misused("a participant's number is taken or was not expected");
  }
  if (own_seat.clock != nullptr) misused("a thread has one seat at most");
  own_seat = {&clock_, number};
  --clock_.absent_;
  clock_.wait_for_turn(number, clock_.now_ns());
}

VirtualClock::Participant::~Participant() {
  MutexLock lock(clock_.mutex_);
  own_seat = {};
  clock_.seats_[number_]->state = State::kLeft;
  clock_.run_next();
}

void VirtualClock::wait_until_ns(uint64_t when_ns) {
  MutexLock lock(mutex_);
  if (seats_.empty()) {
    move_to(when_ns);
  } else if (own_seat.clock == this) {
    wait_for_turn(own_seat.number, when_ns);
  } else {
    wait_outside(when_ns);
  }
}

void VirtualClock::wait_for_turn(size_t number, uint64_t when_ns) {
  Seat& seat = *seats_[number];
  seat.state = State::kWaiting;
  seat.wake_ns = std::max(when_ns, now_ns());
  if (absent_ == 0) run_next();
  while (seat.state != State::kRunning) seat.turn.wait(mutex_);
}

void VirtualClock::wait_outside(uint64_t when_ns) {
  while (!seats_.empty() && now_ns() < when_ns) outside_.wait(mutex_);
  move_to(when_ns);
}

// Gives the turn to the earliest waiting seat. Called when nobody runs.
void VirtualClock::run_next() {
  Seat* next = nullptr;
  for (const auto& seat : seats_) {
    if (seat->state != State::kWaiting) continue;
    if (next == nullptr || seat->wake_ns < next->wake_ns) next = seat.get();
  }
  if (next == nullptr) {  // all have left
    seats_.clear();
    outside_.notify_all();
    return;
  }
  move_to(next->wake_ns);
  next->state = State::kRunning;
  next->turn.notify_one();
}

void VirtualClock::move_to(uint64_t when_ns) {
  if (when_ns <= now_ns()) return;
  now_ns_.store(when_ns, std::memory_order_release);
  outside_.notify_all();
}

}  // namespace nvcache
