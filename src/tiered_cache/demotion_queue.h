// Objects on their way out of the first tier of a TieredCache. The reader that pushed one out goes
// on; one thread saves it to the lower tier. Until then a lookup takes it back.
//
// Bounded by objects and bytes: a full queue refuses, and the caller moves the object itself, so
// that readers are slowed to what the lower tier can take. The thread starts with the first object,
// is woken for kBatch of them, and works until none waits. Fewer wait for others, since a wake-up
// costs the reader as much as a copy. The thread yields its core after each object, so that a
// reader that wakes up on that core does not wait for a batch.
//
// An entry keeps the token that it left with. If its key was replaced since, the lower tier
// refuses it, and so does the first tier when a lookup takes it back.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/background_thread.h"
#include "base/bounded_queue.h"
#include "base/mutex.h"
#include "tiered_cache/object_entry.h"

namespace nvcache {

// Thread-safe. Owns the entries in it. No lock is held while one is moved or ended, so both may
// call the queue. An exception of a move does not end the thread: the entry is ended.
class DemotionQueue {
 public:
  static constexpr size_t kMaxBlocks = 64;
  static constexpr size_t kBatch = 8;

  struct Work {
    std::function<void(const ObjectEntry&)> move;  // to the lower tier
    std::function<void(ObjectEntry*)> end;         // destroys it
  };

  DemotionQueue(size_t max_bytes, Work work);
  ~DemotionQueue();  // ends what is left, unmoved

  // Gives it an entry that is in no table. False, and the entry stays the caller's, if there is no
  // room.
  [[nodiscard]] bool push(ObjectEntry* entry, size_t charge_bytes);

  // Takes the last entry of a key out again; null if there is none. While one is being moved, waits
  // until it has arrived. Takes no lock if no key of that hash waits.
  ObjectEntry* take(std::string_view key, uint64_t hash);

  // Waits until all that are in it now are moved and ended, or taken back, and for none that comes
  // later.
  void drain();
  // False if none could be had yet: then nothing is moved.
  bool has_thread() const { return thread_.started(); }
  // False in a child of the process that made it, where it must not be destroyed.
  bool is_in_this_process() const { return thread_.is_in_this_process(); }
  // Ends those that wait, unmoved, and waits for the one that is being moved and ended.
  void clear();

  struct Use {
    uint64_t blocks = 0;  // gauges, including the one that is being moved
    uint64_t bytes = 0;
  };
  Use use() const;
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  bool move_next();  // the thread's round; false: nothing to do
  void move(ObjectEntry* entry);
  void count_in(const ObjectEntry& entry) NVCACHE_REQUIRES(mutex_);
  void count_out(const ObjectEntry& entry) NVCACHE_REQUIRES(mutex_);
  std::atomic<uint32_t>& mark_of(uint64_t hash) { return marks_[hash % marks_.size()]; }

  const Work work_;
  mutable Mutex mutex_;
  CondVar arrived_;  // for those that wait for an entry
  BoundedQueue<ObjectEntry*> entries_ NVCACHE_GUARDED_BY(mutex_);
  uint32_t drains_ NVCACHE_GUARDED_BY(mutex_) = 0;  // under way
  bool working_ NVCACHE_GUARDED_BY(mutex_) = false;
  bool stopping_ NVCACHE_GUARDED_BY(mutex_) = false;
  std::atomic<size_t> bytes_{0};                     // of entries_, read without the lock
  std::array<std::atomic<uint32_t>, 1024> marks_{};  // entries by hash: see take()
  BackgroundThread thread_;                          // started under mutex_
};

}  // namespace nvcache
