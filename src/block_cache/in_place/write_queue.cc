#include "block_cache/in_place/write_queue.h"

#include <new>
#include <utility>

#include "base/assert.h"
#include "base/first_exception.h"

namespace nvcache {

WriteQueue::WriteQueue(BlockWriter& writer, uint64_t capacity_bytes)
    : writer_(writer),
      order_(BoundedQueue<uint64_t>::kAnyNumber, capacity_bytes),
      thread_({.name = "nvcache-write", .round = [this] { return write_next(); }}) {
  MutexLock lock(mutex_);
  (void)thread_.start();  // push() tries again
}

WriteQueue::~WriteQueue() { thread_.stop(); }

bool WriteQueue::push(PendingBlock block) noexcept {
  try {
    MutexLock lock(mutex_);
    const uint64_t handle = block.handle;
    const uint64_t bytes = block.padded_bytes;
    if (!order_.reserve(bytes) || !thread_.start()) return false;
    [[maybe_unused]] const bool entered = pending_.emplace(handle, std::move(block)).second;
    NVCACHE_ASSERT_SLOW(entered);
    order_.push(handle, bytes);
  } catch (const std::bad_alloc&) {  // none of the three before order_.push() left anything
    return false;
  }
  thread_.wake();
  return true;
}

SharedBuffer WriteQueue::find(uint64_t handle, const BlockKey& key, uint32_t* size_bytes) const {
  MutexLock lock(mutex_);
  const auto it = pending_.find(handle);
  if (it == pending_.end() || !(it->second.key == key)) return nullptr;
  *size_bytes = it->second.size_bytes;
  return it->second.bytes;
}

void WriteQueue::drain() {
  MutexLock lock(mutex_);
  const uint64_t last = order_.last_number();
  while (thread_.is_in_this_process() && !order_.finished(last)) finished_.wait(mutex_);
}

uint64_t WriteQueue::pending_bytes() const {
  MutexLock lock(mutex_);
  return order_.bytes();
}

bool WriteQueue::write_next() {
  PendingBlock block;
  {
    MutexLock lock(mutex_);
    const uint64_t* const handle = order_.begin_next();
    if (handle == nullptr) return false;
    block = pending_.at(*handle);
  }
  write(block);
  return true;
}

void WriteQueue::write(const PendingBlock& block) {
  Shard& shard = *block.shard;
  FirstException problem;
  const Status status = writer_.write({block.offset, block.padded_bytes},
                                      {block.bytes->data(), block.padded_bytes}, block.probe);
  if (status.ok()) shard.publish_pinned(block.slot);
  {
    MutexLock lock(mutex_);
    const size_t erased = pending_.erase(block.handle);
    NVCACHE_ASSERT(erased == 1);
    order_.release();
  }
  problem.run([&] {
    if (status.ok()) return shard.unpin(block.slot);
    shard.abandon(block.slot, /*failed=*/true);
  });
  {
    MutexLock lock(mutex_);
    order_.finish();
  }
  finished_.notify_all();
  problem.rethrow();
}

}  // namespace nvcache
