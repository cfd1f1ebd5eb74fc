// The medium of a key-value store, as memory that is written in place. persist() makes
// writes durable and counts the flushes.
//
// After one failed flush failed() stays true, and the store acknowledges no more changes.
// Thread-safe on disjoint extents. Does not own the medium.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kv_store/api/counters.h"
#include "kv_store/format/layout.h"
#include "medium/medium.h"
#include "nvcache/kv_store.h"

namespace nvcache {

class DurableMemory {
 public:
  DurableMemory(Medium& medium, Durability durability, KvCounters& counters)
      : medium_(medium),
        counters_(counters),
        base_(const_cast<std::byte*>(medium.direct().data())),
        durability_(durability),
        emulated_(medium.traits().emulated),
        charges_reads_(medium.traits().reads == Reads::kInPlaceAsked) {}

  std::byte* at(uint64_t offset) const { return base_ + offset; }

  // Starts to make bytes durable: they are after the next drain(). False if the medium fails.
  bool flush(uint64_t offset, uint64_t size_bytes) {
    counters_.add(KvCounter::kFlushes, 1);
    counters_.add(KvCounter::kFlushedBytes, size_bytes);
    counters_.add(KvCounter::kFlushedLines,
                  (offset + size_bytes + kKvLineBytes - 1) / kKvLineBytes - offset / kKvLineBytes);
    return noted(medium_.flush({offset, size_bytes}));
  }
  bool drain() {
    counters_.add(KvCounter::kDrains, 1);
    return noted(medium_.drain());
  }
  // Flushes and drains.
  bool persist(uint64_t offset, uint64_t size_bytes) {
    return flush(offset, size_bytes) && drain();
  }
  // Tells the medium of a write that is not flushed: an emulated medium charges for it.
  void note_write(uint64_t offset, uint64_t size_bytes) {
    if (emulated_) medium_.on_direct_write({offset, size_bytes});
  }
  // Tells the medium of a read in place. False if the medium cannot read the bytes.
  bool note_read(uint64_t offset, uint64_t size_bytes) {
    return !charges_reads_ || medium_.on_direct_read({offset, size_bytes}).ok();
  }

  // Says so for the caller that found that the medium failed.
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // The flushes that the store's durability requires.
  bool flushes_updates() const { return durability_ != Durability::kVolatile; }
  bool flushes_all() const {
    return durability_ == Durability::kEach || durability_ == Durability::kEachLru;
  }
  bool flushes_use() const { return durability_ == Durability::kEachLru; }

 private:
  bool noted(const Status& status) {
    if (!status.ok()) fail();
    return status.ok();
  }

  Medium& medium_;
  KvCounters& counters_;
  std::byte* const base_;
  const Durability durability_;
  const bool emulated_;
  const bool charges_reads_;
  std::atomic<bool> failed_{false};
};

}  // namespace nvcache
