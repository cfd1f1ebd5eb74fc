// The memory of the entries of all shards: one reserved range, handed out in chunks. Huge pages can
// back it without waste in every shard. (A lookup waits for the entry's cache line and, without
// huge pages, for its page tables: at 1M blocks the entries span 6,000 pages of 4 KiB.)
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "block_cache/index/entry.h"

namespace nvcache {

// Thread-safe. Entries never move. The pool keeps their memory as long as it lives.
class EntryPool {
 public:
  static constexpr uint32_t kChunkEntries = 256;

  explicit EntryPool(uint64_t max_chunks)
      : entries_(max_chunks * kChunkEntries, Pages::kHugeIfLarge), first_slots_(max_chunks) {}

  // Hands out a chunk of free entries, as its owner's slots from `first_slot` on.
  Entry* take_chunk(uint32_t first_slot) {
    const uint64_t chunk = taken_.fetch_add(1, std::memory_order_relaxed);
    NVCACHE_ASSERT(chunk < first_slots_.size());
    first_slots_[chunk] = first_slot;
    return &entries_[chunk * kChunkEntries];
  }

  // The owner's slot number of an entry.
  uint32_t slot_of(const Entry& entry) const {
    const auto at = static_cast<uint64_t>(&entry - &entries_[0]);
    return first_slots_[at / kChunkEntries] + static_cast<uint32_t>(at % kChunkEntries);
  }

 private:
  ReservedArray<Entry> entries_;
  ReservedArray<uint32_t> first_slots_;
  std::atomic<uint64_t> taken_{0};
};

}  // namespace nvcache
