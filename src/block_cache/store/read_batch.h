// Lookups of a store whose blocks are read side by side. A store keeps some for the next callers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "block_cache/index/shard.h"
#include "block_cache/io/block_reader.h"
#include "medium/read_queue.h"
#include "nvcache/block_cache.h"
#include "nvcache/pin.h"

namespace nvcache {

// Caller-locked. 20 KB, and the queue.
struct ReadBatch {
  static constexpr size_t kMost = ReadQueue::kDepth;

  // A block that was found, and that is read, or will be there when another flight's read is done.
  struct Flight {
    BlockLookup* lookup = nullptr;
    uint64_t hash = 0;
    PinnedBlock found;
    Pin pin;  // of the entry, without bytes
    BlockReader::Copy copy;
    bool reads = false;
    Flight* same = nullptr;  // a list: the others that this one's read serves
  };

  explicit ReadBatch(TakenReadQueue taken) : queue(std::move(taken)) {}

  // The flight that reads this block already; null if none does. A pinned slot stays the block's.
  Flight* reading(uint64_t hash, const PinnedBlock& found) {
    for (Flight& each : std::span(flights).first(count)) {
      if (each.reads && each.found.slot == found.slot && each.hash == hash) return &each;
    }
    return nullptr;
  }

  TakenReadQueue queue;
  std::array<Flight, kMost> flights;    // the first `count`
  std::array<QueuedRead, kMost> reads;  // of the flight of the same number
  size_t count = 0;
};

}  // namespace nvcache
