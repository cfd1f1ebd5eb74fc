#include "block_cache/write_queue.h"

#include <new>
#include <utility>

namespace nvcache {

AlignedBuffer::AlignedBuffer(size_t size_bytes)
    : data_(static_cast<std::byte*>(
          ::operator new((size_bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes,
                         std::align_val_t{kAlignmentBytes}))) {}

AlignedBuffer::~AlignedBuffer() { ::operator delete(data_, std::align_val_t{kAlignmentBytes}); }

WriteQueue::WriteQueue(Medium& medium, uint64_t capacity_bytes, Events events)
    : medium_(medium),
      capacity_bytes_(capacity_bytes),
      events_(std::move(events)),
      thread_([this] { run(); }) {}

WriteQueue::~WriteQueue() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool WriteQueue::push(PendingBlock block) {
  {
    MutexLock lock(mutex_);
    if (pending_bytes_ + block.padded_bytes > capacity_bytes_) return false;
    pending_bytes_ += block.padded_bytes;
    order_.push_back(block.handle);
    pending_.emplace(block.handle, std::move(block));
  }
  changed_.notify_all();
  return true;
}

std::shared_ptr<const AlignedBuffer> WriteQueue::find(uint64_t handle, const BlockKey& key,
                                                      uint32_t* size_bytes) const {
  MutexLock lock(mutex_);
  const auto it = pending_.find(handle);
  if (it == pending_.end() || !(it->second.key == key)) return nullptr;
  *size_bytes = it->second.size_bytes;
  return it->second.bytes;
}

void WriteQueue::drain() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  const uint64_t last = written_ + order_.size();
  while (written_ < last) changed_.wait(mutex_);
  mutex_.unlock();
}

uint64_t WriteQueue::pending_bytes() const {
  MutexLock lock(mutex_);
  return pending_bytes_;
}

void WriteQueue::run() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  for (;;) {
    while (order_.empty() && !stopping_) changed_.wait(mutex_);
    if (order_.empty()) break;
    const uint64_t handle = order_.front();
    const PendingBlock block = pending_.at(handle);
    mutex_.unlock();
    const absl::Status status =
        medium_.write(block.offset, {block.bytes->data(), block.padded_bytes});
    events_.written(block, status);
    mutex_.lock();
    pending_.erase(handle);
    pending_bytes_ -= block.padded_bytes;
    mutex_.unlock();
    events_.left(block, status);
    mutex_.lock();
    order_.pop_front();
    ++written_;
    changed_.notify_all();
  }
  mutex_.unlock();
}

}  // namespace nvcache
