// Reads of a medium that go on side by side: a caller starts many, and takes each as it is done.
//
//   auto queue = medium.take_read_queue();   // null: this medium reads one after the other
//   queue->submit(reads);                    // returns at once
//   while (queue->in_flight() > 0) {
//     const size_t n = queue->complete(done, true);   // waits for one at least
//   }
//
// A queue allocates nothing once it is made, and a medium keeps its queues for the next callers
// (base/kept.h): to take one costs no system call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "base/home_process.h"
#include "base/kept.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"

namespace nvcache {

// A read of a queue. It and `into` stay where they are, and `into` is not touched, until
// complete() gives it back. Offset, size and address are as Medium::read() wants them.
struct QueuedRead {
  uint64_t offset = 0;
  MutableBytes into;
  Status status;  // as Medium::read() returns it, once it is given back
};

// Caller-locked. A thread may submit and another complete. Destroy it with nothing in flight.
class ReadQueue {
 public:
  // Reads at a time. A batch of RocksDB has 32, and drives gain little beyond 128.
  static constexpr size_t kDepth = 128;

  ReadQueue();
  virtual ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  // Starts the first of these reads, as many as there is room for, and returns how many. Does not
  // wait for a read, but for those that the queue must do by itself since the system refuses more.
  size_t submit(std::span<QueuedRead* const> reads);

  // Gives back reads that are done, in any order, up to the size of `done`; returns how many. With
  // `wait`, at least one if any is in flight. In a child that the process forked, all of them, as
  // UNAVAILABLE: whether their bytes came is for the parent to know.
  size_t complete(std::span<QueuedRead*> done, bool wait);

  // Submitted, and not given back.
  size_t in_flight() const { return kDepth - free_count_ + finished_count_; }

  // False if the system failed it: it works on, one read after the other, and is not to be kept.
  virtual bool is_sound() const { return true; }

 protected:
  using Slot = uint16_t;

  // Starts a read, or finishes it at once. `reads` of one submit() follow each other.
  virtual void begin(Slot slot, QueuedRead& read) = 0;
  // All of a submit() were begun.
  virtual void begin_no_more() {}
  // Finishes what is done; with `wait`, at least one.
  virtual void reap(bool wait) = 0;

  void finish(Slot slot, Status status);
  QueuedRead& read_of(Slot slot) { return *reads_[slot]; }
  bool any_finished() const { return finished_count_ > 0; }
  bool is_in_this_process() const { return home_.is_here(); }

 private:
  void fail_all_in_flight();

  const HomeProcess home_;
  std::array<QueuedRead*, kDepth> reads_{};  // by slot; null: the slot is free, or finished
  std::array<Slot, kDepth> free_;            // the first free_count_
  std::array<QueuedRead*, kDepth> finished_{};
  size_t free_count_ = kDepth;
  size_t finished_count_ = 0;
};

using KeptReadQueues = Kept<ReadQueue>;

struct GiveReadQueueBack {
  KeptReadQueues* kept = nullptr;
  void operator()(ReadQueue* queue) const noexcept {
    std::unique_ptr<ReadQueue> given(queue);
    if (given->is_sound()) kept->give(std::move(given));
  }
};

// A queue that a caller has to itself. Must not outlive the medium.
using TakenReadQueue = std::unique_ptr<ReadQueue, GiveReadQueueBack>;

// One that was kept, or the one that `make` makes; null if that finds no memory.
template <typename Make>
TakenReadQueue take_or_make(KeptReadQueues& kept, Make make) noexcept {
  std::unique_ptr<ReadQueue> queue = kept.take();
  if (queue == nullptr) {
    try {
      queue = make();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  return TakenReadQueue(queue.release(), {&kept});
}

}  // namespace nvcache
