// Blocks on their way to a medium that is a device: the caller copies a block
// into DRAM and goes on, one thread writes. Bounded: a full queue refuses.
// Until it is written, a block is served from the queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "medium/medium.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"

namespace nvcache {

// Memory aligned for direct I/O, rounded up to whole 4 KiB.
class AlignedBuffer {
 public:
  static constexpr size_t kAlignmentBytes = 4096;

  explicit AlignedBuffer(size_t size_bytes);
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

// A block in the queue. `handle` is the cache's name for its slot.
struct PendingBlock {
  uint64_t handle = 0;
  BlockKey key;
  uint64_t offset = 0;
  uint32_t size_bytes = 0;    // of the block
  uint32_t padded_bytes = 0;  // of the write
  std::shared_ptr<AlignedBuffer> bytes;
};

// Thread-safe. No lock is held while the medium is written or an event is told.
class WriteQueue {
 public:
  // What is told of each write, on the queue's thread: `written` while find() still finds
  // the block, so that readers find it somewhere at any time, and must keep its handle
  // from being pushed again; `left` when find() no longer does. drain() waits for both.
  struct Events {
    std::function<void(const PendingBlock&, const absl::Status&)> written;
    std::function<void(const PendingBlock&, const absl::Status&)> left;
  };

  WriteQueue(Medium& medium, uint64_t capacity_bytes, Events events);
  ~WriteQueue();  // writes what is left

  // False when the queue has no room for it.
  [[nodiscard]] bool push(PendingBlock block);

  // The bytes of a pending block, or null. They stay as they are.
  std::shared_ptr<const AlignedBuffer> find(uint64_t handle, const BlockKey& key,
                                            uint32_t* size_bytes) const;

  // Waits until all that is in it now is written; not for what comes meanwhile.
  void drain();
  uint64_t pending_bytes() const;

 private:
  void run();

  Medium& medium_;
  const uint64_t capacity_bytes_;
  const Events events_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<uint64_t> order_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, PendingBlock> pending_ ABSL_GUARDED_BY(mutex_);
  uint64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;  // blocks, since it was made
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nvcache
