#include "tiered_cache/demotion_queue.h"

#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/first_exception.h"

namespace nvcache {

DemotionQueue::DemotionQueue(size_t max_bytes, Work work)
    : work_(std::move(work)),
      entries_(kMaxBlocks, max_bytes, kMaxBlocks),
      thread_({.name = "nvcache-demote", .round = [this] { return move_next(); }}) {}

DemotionQueue::~DemotionQueue() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  thread_.stop();
  clear();
}

void DemotionQueue::count_in(const ObjectEntry& entry) {
  bytes_.store(entries_.bytes(), std::memory_order_relaxed);
  mark_of(entry.hash).fetch_add(1, std::memory_order_release);
}

void DemotionQueue::count_out(const ObjectEntry& entry) {
  bytes_.store(entries_.bytes(), std::memory_order_relaxed);
  const uint32_t before = mark_of(entry.hash).fetch_sub(1, std::memory_order_release);
  NVCACHE_ASSERT(before > 0);
}

bool DemotionQueue::push(ObjectEntry* entry, size_t charge_bytes) {
  bool wake = false;
  {
    MutexLock lock(mutex_);
    if (stopping_ || !entries_.reserve(charge_bytes) || !thread_.start()) return false;
    entries_.push(entry, charge_bytes);
    count_in(*entry);
    wake = !working_ && entries_.waiting() >= kBatch;
  }
  if (wake) thread_.wake();
  return true;
}

ObjectEntry* DemotionQueue::take(std::string_view key, uint64_t hash) {
  if (mark_of(hash).load(std::memory_order_acquire) == 0) return nullptr;
  const auto matches = [&](const ObjectEntry* entry) {
    return entry->hash == hash && entry->key() == key;
  };
  ObjectEntry* found = nullptr;
  bool drained = false;
  {
    MutexLock lock(mutex_);
    while (entries_.current() != nullptr && matches(*entries_.current()) && !thread_.is_current() &&
           thread_.is_in_this_process()) {
      arrived_.wait(mutex_);
    }
    found = entries_.take_newest(matches).value_or(nullptr);
    if (found == nullptr) return nullptr;
    count_out(*found);
    drained = drains_ > 0;
  }
  if (drained) arrived_.notify_all();
  return found;
}

void DemotionQueue::drain() {
  if (thread_.is_current() || !thread_.started() || !thread_.is_in_this_process()) return;
  MutexLock lock(mutex_);
  const uint64_t last = entries_.last_number();
  ++drains_;
  thread_.wake();
  while (!entries_.finished(last)) arrived_.wait(mutex_);
  --drains_;
}

void DemotionQueue::clear() {
  std::array<ObjectEntry*, kMaxBlocks> ended;
  size_t count = 0;
  {
    MutexLock lock(mutex_);
    const auto any = [](const ObjectEntry*) { return true; };
    while (const auto taken = entries_.take_newest(any)) {
      ended[count++] = *taken;
      count_out(**taken);
    }
    const uint64_t last = entries_.last_number();
    while (!thread_.is_current() && thread_.is_in_this_process() && !entries_.finished(last)) {
      arrived_.wait(mutex_);
    }
  }
  arrived_.notify_all();
  while (count > 0) work_.end(ended[--count]);  // oldest first
}

DemotionQueue::Use DemotionQueue::use() const {
  MutexLock lock(mutex_);
  return {.blocks = entries_.waiting() + (entries_.current() != nullptr ? 1 : 0), .bytes = bytes()};
}

bool DemotionQueue::move_next() {
  ObjectEntry* entry = nullptr;
  {
    MutexLock lock(mutex_);
    const size_t waiting = entries_.waiting();
    working_ = waiting > 0 && (working_ || drains_ > 0 || waiting >= kBatch);
    if (!working_ || stopping_) return false;
    entry = *entries_.begin_next();
  }
  move(entry);
  return true;
}

void DemotionQueue::move(ObjectEntry* entry) {
  FirstException problem;
  problem.run([&] { work_.move(*entry); });
  {
    MutexLock lock(mutex_);
    entries_.release();
    count_out(*entry);
  }
  arrived_.notify_all();
  problem.run([&] { work_.end(entry); });
  std::this_thread::yield();  // to a reader that waits for this core
  {
    MutexLock lock(mutex_);
    entries_.finish();
  }
  arrived_.notify_all();
  problem.rethrow();
}

}  // namespace nvcache
