// Lookups of the block store, beyond those that find() serves in place.
//
// One path: a block is found in the index, or waits to be written; the reader gives its bytes, in
// place or copied; they are verified; the caller gets them pinned, or in a buffer of its own.
#include <cstring>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "block_cache/store/block_store.h"

namespace nvcache {

Lookup BlockStore::serve(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                         const LookupOptions& options, uint32_t* slot) {
  Lookup lookup = found.found() ? serve_pinned(hash, key, found, options)
                                : serve_pending(hash, key, options, slot);
  count(key, options, lookup);
  return lookup;
}

void BlockStore::count(const BlockKey& key, const LookupOptions& options, const Lookup& lookup) {
  const bool background = options.caller == Caller::kBackground;
  Counters::Stripe& stripe = counters_.mine();
  if (lookup.hit()) {
    stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
    stripe.add(Count::kHitBytes, lookup.size_bytes);
  } else {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    gone_files_.note_lookup(key.file);
  }
}

// A miss if the medium fails, or there is no memory, or the block is damaged. A block that cannot
// be read is removed, as a damaged one is: the next put can bring it again, to another place. Of a
// block that is copied, the copy is verified: it is what the caller gets, and in the processor's
// cache by then.
Lookup BlockStore::serve_pinned(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                                const LookupOptions& options) {
  const uint64_t handle = handle_of(shards_.of(hash).entry(found.slot));
  Pin pin(this, handle, {});
  const Extent extent = shards_.extent_of(found.word);
  const auto size_bytes = static_cast<uint32_t>(extent.size_bytes);
  if (options.copy_into && size_bytes > options.copy_into->size())
    return {.size_bytes = size_bytes};
  if (options.copy_into) {
    const MutableBytes copy = options.copy_into->first(size_bytes);
    if (!fetched(hash, found, reader_.read(extent, copy)) ||
        !shards_.intact(hash, key, found.slot, copy)) {
      return {};
    }
    return {.size_bytes = size_bytes};
  }
  SharedBuffer copy;
  ByteView bytes;
  if (!fetched(hash, found, reader_.view(extent, &copy, &bytes)) ||
      !shards_.intact(hash, key, found.slot, bytes)) {
    return {};
  }
  if (copy != nullptr) return serve_buffer(std::move(copy), bytes);
  std::move(pin).detach();
  return {.pin = Pin(this, handle, bytes), .size_bytes = size_bytes};
}

Lookup BlockStore::serve_buffer(SharedBuffer buffer, ByteView bytes) {
  return {.pin = pin_buffer(std::move(buffer), bytes),
          .size_bytes = static_cast<uint32_t>(bytes.size())};
}

bool BlockStore::fetched(uint64_t hash, const PinnedBlock& found, Fetch outcome) {
  if (outcome == Fetch::kMediumFailed) shards_.of(hash).remove_unreadable(hash, found.slot);
  return outcome == Fetch::kOk;
}

Lookup BlockStore::serve_pending(uint64_t hash, const BlockKey& key, const LookupOptions& options,
                                 uint32_t* slot) {
  // It may be written, and live, since the lookup that did not find it.
  const std::optional<uint32_t> entered = shards_.of(hash).find_slot(hash, key);
  if (!entered) return {};
  *slot = *entered;
  uint32_t size_bytes = 0;
  SharedBuffer buffer = pending_->find_pending(hash, *entered, key, &size_bytes);
  if (buffer == nullptr) {
    const PinnedBlock found = shards_.of(hash).find_and_pin(hash, key);  // just written, or gone
    *slot = found.slot;
    return found.found() ? serve_pinned(hash, key, found, options) : Lookup();
  }
  if (!options.copy_into) {
    const ByteView bytes(buffer->data(), size_bytes);
    return serve_buffer(std::move(buffer), bytes);
  }
  if (size_bytes <= options.copy_into->size()) {
    std::memcpy(options.copy_into->data(), buffer->data(), size_bytes);
  }
  return {.size_bytes = size_bytes};
}

void BlockStore::release(uint64_t handle) {
  Entry& entry = *reinterpret_cast<Entry*>(handle);
  if (!entry.unpin()) [[likely]]
    return;
  // The last pin of a removed block: its key still says whose it is.
  shards_.of(hash_of(entry.key())).free_unpinned(entry);
}

}  // namespace nvcache
