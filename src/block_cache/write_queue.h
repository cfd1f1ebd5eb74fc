// Blocks on their way to a medium that is a device. The caller copies a block into DRAM and goes
// on; one thread writes. A full queue refuses. Until a block is written, the queue serves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/background_thread.h"
#include "base/bounded_queue.h"
#include "base/mutex.h"
#include "block_cache/aligned_buffer.h"
#include "medium/medium.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"

namespace nvcache {

// A block in the queue. `handle` is the cache's name for its slot.
struct PendingBlock {
  uint64_t handle = 0;
  BlockKey key;
  uint64_t offset = 0;
  uint32_t size_bytes = 0;    // of the block
  uint32_t padded_bytes = 0;  // of the write
  SharedBuffer bytes;
  bool probe = false;  // of a medium that is switched off
};

// Thread-safe. No lock is held while the medium is written or an event is told. An
// exception of the medium or of an event neither ends the thread nor keeps the block in the queue.
class WriteQueue {
 public:
  // What is told of each write, on the queue's thread. `written`: while find() still finds the
  // block, so that readers find it somewhere at any time. Its handle must not be pushed again yet.
  // `left`: when find() no longer finds it. drain() waits for both.
  struct Events {
    std::function<void(const PendingBlock&, const Status&)> written;
    std::function<void(const PendingBlock&, const Status&)> left;
    // False: the block is not written after all, and both are told kNotAsked. May be missing.
    std::function<bool(const PendingBlock&)> may_write{};
  };
  static constexpr StatusCode kNotAsked = StatusCode::kCancelled;

  WriteQueue(Medium& medium, uint64_t capacity_bytes, Events events);
  ~WriteQueue();  // writes what is left

  // False when the queue has no room for it, or the system no thread or no memory.
  [[nodiscard]] bool push(PendingBlock block) noexcept;

  // The bytes of a pending block, or null. They stay as they are.
  SharedBuffer find(uint64_t handle, const BlockKey& key, uint32_t* size_bytes) const;

  // Waits until all blocks that are in it now are written, and for none that comes after.
  void drain();
  uint64_t pending_bytes() const;

 private:
  bool write_next();  // false: none waits
  void write(const PendingBlock& block);

  Medium& medium_;
  const Events events_;
  mutable Mutex mutex_;
  CondVar finished_;                                         // a block
  BoundedQueue<uint64_t> order_ NVCACHE_GUARDED_BY(mutex_);  // handles
  // Not a map of Abseil: those are broken by an allocation that fails.
  std::unordered_map<uint64_t, PendingBlock> pending_ NVCACHE_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace nvcache
