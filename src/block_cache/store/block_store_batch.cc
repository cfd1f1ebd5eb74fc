// Many lookups at once: blocks on a device are read side by side.
//
// Each lookup begins as find() does: the block is found and pinned. Those that need no read of a
// device are done then. The others are flights of a batch: all their reads are submitted together,
// and each ends when its read is done, in any order.
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "block_cache/store/block_store.h"

namespace nvcache {

void BlockStore::find_all(std::span<BlockLookup> lookups) {
  std::unique_ptr<ReadBatch> batch = lookups.size() > 1 ? take_batch() : nullptr;
  for (BlockLookup& each : lookups) {
    if (batch == nullptr) {
      uint32_t slot = 0;
      each.result = find(hash_of(each.key), each.key, each.options, &slot);
      continue;
    }
    begin(each, *batch);
    if (batch->count == ReadBatch::kMost) end_all(*batch);
  }
  if (batch == nullptr) return;
  end_all(*batch);
  if (batch->queue->is_sound()) batches_.give(std::move(batch));
}

// Null where blocks are not read side by side, or without memory.
std::unique_ptr<ReadBatch> BlockStore::take_batch() noexcept {
  if (!reads_side_by_side()) return nullptr;
  if (std::unique_ptr<ReadBatch> kept = batches_.take(); kept != nullptr) return kept;
  TakenReadQueue queue = medium_->take_read_queue();
  if (queue == nullptr) return nullptr;
  try {
    return std::make_unique<ReadBatch>(std::move(queue));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void BlockStore::begin(BlockLookup& lookup, ReadBatch& batch) {
  const uint64_t hash = hash_of(lookup.key);
  Shard& shard = shards_.of(hash);
  const LookupOptions& options = lookup.options;
  const PinnedBlock found = shard.find_and_pin(hash, lookup.key);
  if (!found.found()) {
    uint32_t slot = 0;
    lookup.result =
        pending_ == nullptr ? Lookup() : serve_pending(hash, lookup.key, options, &slot);
    count(lookup.key, options, lookup.result);
    return;
  }
  shard.on_hit(found.slot);
  Pin pin(this, handle_of(shard.entry(found.slot)), {});
  const Extent extent = shards_.extent_of(found.word);
  std::optional<MutableBytes> into;
  if (options.copy_into) {
    if (extent.size_bytes > options.copy_into->size()) {
      lookup.result = {.size_bytes = static_cast<uint32_t>(extent.size_bytes)};
      count(lookup.key, options, lookup.result);
      return;
    }
    into = options.copy_into->first(extent.size_bytes);
  }
  ReadBatch::Flight* const first = batch.reading(hash, found);
  ReadBatch::Flight& flight = batch.flights[batch.count];
  flight.lookup = &lookup;
  flight.hash = hash;
  flight.found = found;
  flight.pin = std::move(pin);
  flight.reads = first == nullptr;
  flight.same = nullptr;
  if (first != nullptr) {
    flight.same = std::exchange(first->same, &flight);
    ++batch.count;
    return;
  }
  bool done = false;
  const Fetch begun = reader_.begin(extent, into, &flight.copy, &batch.reads[batch.count], &done);
  if (done || begun != Fetch::kOk) {
    end(flight, begun);
  } else {
    ++batch.count;
  }
}

void BlockStore::end_all(ReadBatch& batch) {
  std::array<QueuedRead*, ReadBatch::kMost> reads{};
  size_t count = 0;
  for (size_t at = 0; at < batch.count; ++at) {
    if (batch.flights[at].reads) reads[count++] = &batch.reads[at];
  }
  if (count == 0) return;  // then there is no flight
  const uint64_t begin_ns = clock_.now_ns();
  [[maybe_unused]] const size_t begun = batch.queue->submit(std::span(reads).first(count));
  NVCACHE_ASSERT(begun == count);
  for (size_t ended = 0; ended < count;) {
    const size_t came = batch.queue->complete(reads, true);
    NVCACHE_ASSERT(came > 0);
    for (QueuedRead* const read : std::span(reads).first(came)) {
      end(batch.flights[static_cast<size_t>(read - batch.reads.data())], reader_.end(*read));
    }
    ended += came;
  }
  medium_->note_reads(count, clock_.now_ns() - begin_ns);
  batch.count = 0;
}

// A miss if the block cannot be had: see serve_pinned(). Serves the others that wait for the same
// block, too.
void BlockStore::end(ReadBatch::Flight& flight, Fetch fetch) {
  const ByteView block = flight.copy.block;
  const SharedBuffer buffer(std::move(flight.copy.buffer));
  const bool good = fetched(flight.hash, flight.found, fetch) &&
                    shards_.intact(flight.hash, flight.lookup->key, flight.found.slot, block);
  for (ReadBatch::Flight* each = &flight; each != nullptr; each = each->same) {
    BlockLookup& lookup = *each->lookup;
    lookup.result = good ? serve_copy(block, buffer, lookup.options) : Lookup();
    count(lookup.key, lookup.options, lookup.result);
    each->pin = Pin();
  }
}

// `buffer`: where the block lies; null if that is the memory of a caller.
Lookup BlockStore::serve_copy(ByteView block, SharedBuffer buffer, const LookupOptions& options) {
  const auto size_bytes = static_cast<uint32_t>(block.size());
  if (options.copy_into) {
    std::byte* const into = options.copy_into->data();
    if (into != block.data()) std::memcpy(into, block.data(), block.size());
    return {.size_bytes = size_bytes};
  }
  if (buffer != nullptr) return serve_buffer(std::move(buffer), block);
  MutableBuffer copy = reader_.make_buffer(block.size());
  if (copy == nullptr) return {};
  std::memcpy(copy->data(), block.data(), block.size());
  const ByteView bytes(copy->data(), block.size());
  return serve_buffer(SharedBuffer(std::move(copy)), bytes);
}

}  // namespace nvcache
