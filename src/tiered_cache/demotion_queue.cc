#include "tiered_cache/demotion_queue.h"

#include <system_error>
#include <utility>

namespace nvcache {

DemotionQueue::DemotionQueue(size_t max_bytes, Work work)
    : max_bytes_(max_bytes), work_(std::move(work)) {
  waiting_.reserve(kMaxBlocks);
}

DemotionQueue::~DemotionQueue() {
  std::thread worker;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    worker = std::move(thread_);
  }
  wake_.notify_one();
  if (worker.joinable()) worker.join();
  clear();
}

bool DemotionQueue::start_thread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no more threads
    return false;
  }
  return true;
}

void DemotionQueue::count_in(const Waiting& waiting) {
  bytes_.fetch_add(waiting.charge_bytes, std::memory_order_relaxed);
  mark_of(waiting.hash).fetch_add(1, std::memory_order_release);
}

void DemotionQueue::count_out(const Waiting& waiting) {
  bytes_.fetch_sub(waiting.charge_bytes, std::memory_order_relaxed);
  mark_of(waiting.hash).fetch_sub(1, std::memory_order_release);
}

bool DemotionQueue::push(ObjectEntry* entry, size_t charge_bytes) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    const bool room = waiting_.size() < kMaxBlocks && bytes() + charge_bytes <= max_bytes_;
    if (!room || stopping_ || !start_thread()) {
      ++refused_;
      return false;
    }
    waiting_.push_back({.number = ++last_number_,
                        .hash = entry->hash,
                        .charge_bytes = charge_bytes,
                        .entry = entry});
    count_in(waiting_.back());
    wake = !working_ && waiting_.size() >= kBatch;
  }
  if (wake) wake_.notify_one();
  return true;
}

ObjectEntry* DemotionQueue::take(std::string_view key,
                                 uint64_t hash) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (mark_of(hash).load(std::memory_order_acquire) == 0) return nullptr;
  ObjectEntry* found = nullptr;
  mutex_.lock();
  while (moving_.entry != nullptr && moving_.hash == hash && moving_.entry->key() == key &&
         !is_worker()) {
    arrived_.wait(mutex_);
  }
  for (size_t i = waiting_.size(); i-- > 0;) {
    if (waiting_[i].hash != hash || waiting_[i].entry->key() != key) continue;
    found = waiting_[i].entry;
    count_out(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
    ++taken_back_;
    break;
  }
  const bool drained = found != nullptr && drains_ > 0;
  mutex_.unlock();
  if (drained) arrived_.notify_all();
  return found;
}

uint64_t DemotionQueue::oldest() const {
  if (busy_with_ != 0) return busy_with_;
  return waiting_.empty() ? last_number_ + 1 : waiting_.front().number;
}

// The oldest number only grows: whoever comes late to look at it finds it grown.
void DemotionQueue::drain() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  if (!is_worker() && thread_.joinable()) {
    const uint64_t last = last_number_;
    ++drains_;
    wake_.notify_one();
    while (oldest() <= last) arrived_.wait(mutex_);
    --drains_;
  }
  mutex_.unlock();
}

void DemotionQueue::clear() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  std::vector<Waiting> ended;
  mutex_.lock();
  ended.swap(waiting_);
  waiting_.reserve(kMaxBlocks);
  for (const Waiting& each : ended) count_out(each);
  const uint64_t busy_with = busy_with_;
  while (busy_with != 0 && busy_with_ == busy_with && !is_worker()) arrived_.wait(mutex_);
  mutex_.unlock();
  arrived_.notify_all();
  for (const Waiting& each : ended) work_.end(each.entry);
}

DemotionQueue::Use DemotionQueue::use() const {
  MutexLock lock(mutex_);
  return {.blocks = waiting_.size() + (moving_.entry != nullptr ? 1 : 0),
          .bytes = bytes(),
          .taken_back = taken_back_,
          .refused = refused_};
}

void DemotionQueue::run() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  while (!stopping_) {
    working_ = !waiting_.empty() && (working_ || drains_ > 0 || waiting_.size() >= kBatch);
    if (!working_) {
      wake_.wait(mutex_);
      continue;
    }
    moving_ = waiting_.front();
    busy_with_ = moving_.number;
    waiting_.erase(waiting_.begin());
    mutex_.unlock();
    work_.move(*moving_.entry);
    mutex_.lock();
    const Waiting moved = std::exchange(moving_, {});
    count_out(moved);
    mutex_.unlock();
    arrived_.notify_all();
    work_.end(moved.entry);
    std::this_thread::yield();  // to a reader that waits for this core
    mutex_.lock();
    busy_with_ = 0;
    arrived_.notify_all();
  }
  mutex_.unlock();
}

}  // namespace nvcache
