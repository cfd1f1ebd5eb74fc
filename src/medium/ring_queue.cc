#include "medium/ring_queue.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/descriptors.h"
#include "base/no_memory.h"
#include "medium/check.h"
#include "medium/read_queues.h"

#ifdef NVCACHE_HAS_URING
#include <liburing.h>

namespace nvcache {
namespace {

constexpr std::chrono::microseconds kPause{50};

Status refused(const char* step, int error_number) {
  return errno_status(step, "io_uring", error_number);
}

// A ring, and nothing of what goes on in it. Caller-locked.
class Ring {
 public:
  Ring() = default;
  ~Ring() {
    if (!made_) return;
    forget_kept(ring_.ring_fd);
    io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] Status make(unsigned depth) {
    // Without the first two flags, a read that is done interrupts a system call of the thread that
    // began it, and a host that waits for its sockets would find EINTR.
    constexpr unsigned kGuest = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    int error = make_with(depth, kGuest | IORING_SETUP_SUBMIT_ALL);
    if (error == -EINVAL) error = make_with(depth, 0);  // a kernel before 5.19
    if (error < 0) return refused("making", -error);
    made_ = true;
    keep_from_children(ring_.ring_fd);
    return ok_status();
  }
  io_uring* get() { return &ring_; }

 private:
  int make_with(unsigned depth, unsigned flags) {
    const StandardPlacesHeld held;
    return io_uring_queue_init(depth, &ring_, flags);
  }

  io_uring ring_{};
  bool made_ = false;
};

class RingQueue final : public ReadQueue {
 public:
  explicit RingQueue(const ReadTarget& target) : target_(target) {}

  [[nodiscard]] Status make() { return ring_.make(kDepth); }
  bool is_sound() const override { return sound_; }

 private:
  void begin(Slot slot, QueuedRead& read) override;
  void begin_no_more() override;
  void reap(bool wait) override;
  bool can_read(const QueuedRead& read) const;
  void take(const io_uring_cqe& done);
  void read_alone(Slot slot);

  const ReadTarget target_;
  Ring ring_;
  std::array<Slot, kDepth> begun_{};  // that the kernel has not taken: the first begun_count_
  size_t begun_count_ = 0;
  size_t in_kernel_ = 0;
  bool sound_ = true;
};

// As the medium's own read() checks it.
bool RingQueue::can_read(const QueuedRead& read) const {
  const uint64_t size_bytes = target_.medium.size_bytes();
  const uint64_t unit_bytes = target_.medium.traits().io_granularity_bytes;
  const auto address = reinterpret_cast<uintptr_t>(read.into.data());
  return read.offset <= size_bytes && read.into.size() <= size_bytes - read.offset &&
         (read.offset | read.into.size() | address) % unit_bytes == 0;
}

void RingQueue::begin(Slot slot, QueuedRead& read) {
  io_uring_sqe* const entry = sound_ && can_read(read) ? io_uring_get_sqe(ring_.get()) : nullptr;
  if (entry == nullptr) {
    read_alone(slot);
    return;
  }
  io_uring_prep_read(entry, target_.fd, read.into.data(), static_cast<unsigned>(read.into.size()),
                     target_.first_byte + read.offset);
  entry->user_data = slot;
  begun_[begun_count_++] = slot;
}

// The kernel takes reads in the order in which they were begun. Those that it does not take, it
// never will: the queue asks it for nothing more.
void RingQueue::begin_no_more() {
  constexpr int kMostTries = 8;
  size_t taken = 0;
  for (int tries = 0; taken < begun_count_ && tries < kMostTries; ++tries) {
    const int result = io_uring_submit(ring_.get());
    if (result > 0) taken += static_cast<size_t>(result);
    if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY) break;
  }
  NVCACHE_ASSERT(taken <= begun_count_);
  in_kernel_ += taken;
  if (taken < begun_count_) sound_ = false;
  for (size_t at = taken; at < begun_count_; ++at) read_alone(begun_[at]);
  begun_count_ = 0;
}

void RingQueue::reap(bool wait) {
  while (in_kernel_ > 0) {
    io_uring_cqe* done = nullptr;
    const bool waits = wait && !any_finished();
    const int result =
        waits ? io_uring_wait_cqe(ring_.get(), &done) : io_uring_peek_cqe(ring_.get(), &done);
    if (result == 0) {
      take(*done);
      io_uring_cqe_seen(ring_.get(), done);
      continue;
    }
    if (!waits) return;
    // Somebody has closed our descriptor, or a signal came. The kernel still ends what it began,
    // and its news are in memory.
    if (result != -EINTR) {
      sound_ = false;
      std::this_thread::sleep_for(kPause);
    }
  }
}

void RingQueue::take(const io_uring_cqe& done) {
  NVCACHE_ASSERT(done.user_data < kDepth && in_kernel_ > 0);
  const auto slot = static_cast<Slot>(done.user_data);
  --in_kernel_;
  const bool whole = done.res >= 0 && static_cast<size_t>(done.res) == read_of(slot).into.size();
  if (whole) {
    finish(slot, ok_status());
  } else {
    read_alone(slot);
  }
}

// Also names what is wrong, as the ring cannot.
void RingQueue::read_alone(Slot slot) {
  QueuedRead& read = read_of(slot);
  Status status;
  try {
    status = target_.medium.read(read.offset, read.into);
  } catch (const std::exception&) {
    status = no_memory_status("reading a medium");
  }
  finish(slot, std::move(status));
}

struct FreeUnit {
  void operator()(void* bytes) const { std::free(bytes); }
};

}  // namespace

Status try_ring(int fd, uint32_t unit_bytes) {
  std::unique_ptr<void, FreeUnit> unit(std::aligned_alloc(unit_bytes, unit_bytes));
  if (unit == nullptr) return no_memory_status("trying io_uring");
  Ring ring;
  if (Status status = ring.make(1); !status.ok()) return status;
  io_uring_prep_read(io_uring_get_sqe(ring.get()), fd, unit.get(), unit_bytes, 0);
  int result = io_uring_submit(ring.get());
  if (result != 1) return refused("submitting to", result < 0 ? -result : EAGAIN);
  io_uring_cqe* done = nullptr;
  while ((result = io_uring_wait_cqe(ring.get(), &done)) == -EINTR) continue;
  if (result < 0) {
    (void)unit.release();  // the kernel may still write there
    return refused("waiting for", -result);
  }
  const int read = done->res;
  io_uring_cqe_seen(ring.get(), done);
  if (read < 0) return refused("reading by", -read);
  return ok_status();
}

StatusOr<std::unique_ptr<ReadQueue>> open_ring_queue(const ReadTarget& target) {
  auto queue = std::make_unique<RingQueue>(target);
  if (Status status = queue->make(); !status.ok()) return status;
  return std::unique_ptr<ReadQueue>(std::move(queue));
}

}  // namespace nvcache

#else

namespace nvcache {

Status try_ring(int, uint32_t) { return unimplemented_error("nvcache was built without liburing"); }

StatusOr<std::unique_ptr<ReadQueue>> open_ring_queue(const ReadTarget&) {
  return unimplemented_error("nvcache was built without liburing");
}

}  // namespace nvcache

#endif
