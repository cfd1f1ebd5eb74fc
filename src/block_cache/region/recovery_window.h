// Who does what while the indexes of regions come back in several threads: a window over the
// indexes, which moves from the newest to the oldest.
//
//   read()    up to kReaders threads read an index each, and do nothing else while the medium is at
//             it: so it reads on while processors work
//   sort()    an index that is read is checked, and sorted by shard
//   take()    the blocks of an index are divided into parts by their keys; each part goes through
//             the indexes in their order, by whatever thread is idle. It takes up to kMostTogether
//             sorted indexes at once, shard by shard: so more of what changes in a shard lies in
//             the processor's caches
//   forget    an index leaves once every part has been through it
//
// Of two blocks of one key, which are in one part, the newer one is met first. Threads that wait
// for nothing but the pace look again every 10 ms.
//
// Holds kMostIndexes indexes at most, and kMostBytes of them, or a single one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "block_cache/region/read_pace.h"

namespace nvcache {

// Thread-safe. No lock is held while an index is read or taken from.
class RecoveryWindow {
 public:
  static constexpr uint32_t kMostIndexes = 8;
  static constexpr uint32_t kReaders = 2;  // threads that read
  static constexpr uint64_t kMostBytes = 16 << 20;
  static constexpr uint32_t kMostTogether = 4;  // the other half is read and sorted

  // `index_bytes` of each index, in their order. Throws std::bad_alloc.
  RecoveryWindow(std::vector<uint64_t> index_bytes, uint32_t parts, ReadPace pace);

  struct Job {
    enum class What : uint8_t {
      kRead,  // `index`; then done()
      kSort,  // `index`; then done()
      kTake,  // `part` of `count` indexes from `index` on; then done()
      kNone,  // look again
      kEnd,   // all are through
    };
    What what = What::kNone;
    uint32_t index = 0;
    uint32_t part = 0;
    uint32_t count = 1;
  };
  // Waits if there is nothing to do yet.
  Job next();
  // All that was read is there for all threads; all that was taken is in. The thread then calls
  // next(), or leave().
  void done(const Job& job);
  // The thread calls next() no more: those that wait look again.
  void leave();
  // Whether all parts but this one have been through the index. Once for each index of a kTake, in
  // their order, before done(): so indexes are through in their order.
  bool is_last(uint32_t index) {
    return parts_left_[index % kMostIndexes].fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  struct Part {
    uint32_t next = 0;  // index
    bool busy = false;
  };
  enum class State : uint8_t { kEmpty, kRead, kSorted };

  bool has_room() const NVCACHE_REQUIRES(mutex_);  // to read the next index
  uint32_t through() const NVCACHE_REQUIRES(mutex_);
  Job find_part() const NVCACHE_REQUIRES(mutex_);
  Job find() const NVCACHE_REQUIRES(mutex_);
  void begin(const Job& job) NVCACHE_REQUIRES(mutex_);
  void wait() NVCACHE_REQUIRES(mutex_);

  const std::vector<uint64_t> index_bytes_;
  const uint32_t count_;
  std::array<std::atomic<uint32_t>, kMostIndexes> parts_left_{};
  Mutex mutex_;
  CondVar changed_;
  ReadPace pace_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<Part> parts_ NVCACHE_GUARDED_BY(mutex_);
  uint32_t readers_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t waiting_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t next_read_ NVCACHE_GUARDED_BY(mutex_) = 0;   // index
  uint32_t next_sort_ NVCACHE_GUARDED_BY(mutex_) = 0;   // index
  uint32_t sorted_end_ NVCACHE_GUARDED_BY(mutex_) = 0;  // parts may take all before it
  std::array<State, kMostIndexes> state_ NVCACHE_GUARDED_BY(mutex_) = {};  // from sorted_end_ on
};

}  // namespace nvcache
