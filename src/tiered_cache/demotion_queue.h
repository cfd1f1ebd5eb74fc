// Objects on their way out of the first tier of a TieredCache: who pushed one out goes
// on, one thread saves it to the tier below. Until then a lookup takes it back.
//
// Bounded by blocks and bytes: a full queue refuses, and the caller moves the object
// itself, so that readers are slowed to what the lower tier can take. The thread starts
// with the first object, is woken for kBatch of them, and works until none waits; fewer
// wait for others to come, for a wake-up costs the reader as much as a copy. It yields its
// core after each, so that a reader who wakes up on it does not wait for a batch.
// An entry keeps the token that it left with: one that was replaced meanwhile is refused
// where it arrives, and by who takes it back.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "tiered_cache/object_entry.h"

namespace nvcache {

// Thread-safe. Owns the entries in it. No lock is held while one is moved or ended, so
// that both may call the queue.
class DemotionQueue {
 public:
  static constexpr size_t kMaxBlocks = 64;
  static constexpr size_t kBatch = 8;

  struct Work {
    std::function<void(const ObjectEntry&)> move;  // to the tier below
    std::function<void(ObjectEntry*)> end;         // destroys it
  };

  DemotionQueue(size_t max_bytes, Work work);
  ~DemotionQueue();  // ends what is left, unmoved

  // Gives it an entry that is in no table; false, and it stays the caller's, if there is
  // no room.
  [[nodiscard]] bool push(ObjectEntry* entry, size_t charge_bytes);

  // Takes the last entry of a key out again; null if there is none. Where it is being moved
  // now, waits until it has arrived. Without a lock if no key of that hash waits.
  ObjectEntry* take(std::string_view key, uint64_t hash);

  // Waits until all that are in it now are moved and ended, or taken back; not for what
  // comes meanwhile.
  void drain();
  void clear();  // ends those that wait, and waits for the one that is being moved and ended

  struct Use {
    uint64_t blocks = 0;  // gauges, that being moved included
    uint64_t bytes = 0;
    uint64_t taken_back = 0;  // by take()
    uint64_t refused = 0;     // found it full
  };
  Use use() const;
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    uint64_t number = 0;  // in the order of arrival, from 1 on
    uint64_t hash = 0;
    size_t charge_bytes = 0;
    ObjectEntry* entry = nullptr;
  };

  void run();
  bool start_thread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_worker() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return thread_.get_id() == std::this_thread::get_id();
  }
  // Of the oldest that is not ended yet; one more than the newest if there is none.
  uint64_t oldest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void count_in(const Waiting& waiting) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void count_out(const Waiting& waiting) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::atomic<uint32_t>& mark_of(uint64_t hash) { return marks_[hash % marks_.size()]; }

  const size_t max_bytes_;
  const Work work_;
  mutable Mutex mutex_;
  std::condition_variable_any wake_;                      // the worker
  std::condition_variable_any arrived_;                   // who waits for it
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // oldest first
  Waiting moving_ ABSL_GUARDED_BY(mutex_);                // no entry: none
  uint32_t drains_ ABSL_GUARDED_BY(mutex_) = 0;           // under way
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t busy_with_ ABSL_GUARDED_BY(mutex_) = 0;  // moving or ending this number; 0: none
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t taken_back_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> bytes_{0};
  std::array<std::atomic<uint32_t>, 1024> marks_{};  // entries by hash: see take()
};

}  // namespace nvcache
