// Blocks on their way to a medium that is a device. The caller copies a block into DRAM and goes
// on; one thread writes. A full queue refuses. Until a block is written, the queue serves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/background_thread.h"
#include "base/bounded_queue.h"
#include "base/mutex.h"
#include "block_cache/in_place/block_writer.h"
#include "block_cache/index/shard.h"
#include "block_cache/io/aligned_buffer.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"

namespace nvcache {

// A block in the queue: filling, in a slot of its shard. `handle` is the cache's name for the slot.
struct PendingBlock {
  uint64_t handle = 0;
  Shard* shard = nullptr;
  uint32_t slot = 0;
  BlockKey key;
  uint64_t offset = 0;
  uint32_t size_bytes = 0;    // of the block
  uint32_t padded_bytes = 0;  // of the write
  SharedBuffer bytes;
  bool probe = false;  // of a medium that is switched off
};

// Thread-safe. No lock of its own is held while the medium is written or a shard is called. A block
// is published while find() still finds it, so that readers find it somewhere at any time; the
// queue's pin keeps its slot until find() no longer does. One that could not be written is
// abandoned. An exception neither ends the thread nor keeps the block in the queue.
class WriteQueue {
 public:
  // `writer` and the shards must outlive it.
  WriteQueue(BlockWriter& writer, uint64_t capacity_bytes);
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

  BlockWriter& writer_;
  mutable Mutex mutex_;
  CondVar finished_;                                         // a block
  BoundedQueue<uint64_t> order_ NVCACHE_GUARDED_BY(mutex_);  // handles
  // Not a map of Abseil: those are broken by an allocation that fails.
  std::unordered_map<uint64_t, PendingBlock> pending_ NVCACHE_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace nvcache
