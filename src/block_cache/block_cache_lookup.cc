// Lookups of the block cache.
//
// One path: a block is found in the index, or in the write queue; the reader gives its bytes, in
// place or copied; they are verified; the caller gets them pinned, or in a buffer of its own.
#include <cstring>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "block_cache/block_cache_impl.h"

namespace nvcache {

Lookup BlockCacheImpl::lookup(const BlockKey& key, const LookupOptions& options) {
  return look_up<false>(key, options, nullptr);
}

Lookup BlockCacheImpl::lookup_counted(const BlockKey& key, uint32_t* references) {
  *references = 0;
  return look_up<true>(key, {}, references);
}

template <bool kCounts>
inline Lookup BlockCacheImpl::look_up(const BlockKey& key, const LookupOptions& options,
                                      uint32_t* references) {
  const uint64_t hash = hash_key(key, config_.seed);
  Shard& shard = shard_of(hash);
  const bool background = options.caller == Caller::kBackground;
  Counters::Stripe& stripe = counters_.mine();
  const PinnedBlock found = shard.find_and_pin(hash, key);
  if (found.found()) [[likely]] {
    shard.on_hit(found.slot);
    if (reader_.reads() == Reads::kInPlace && !options.copy_into) [[likely]] {
      const Extent extent = extent_of(found);
      const auto size_bytes = static_cast<uint32_t>(extent.size_bytes);
      stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
      stripe.add(Count::kHitBytes, size_bytes);
      if constexpr (kCounts) *references = shard.add_reference(found.slot);
      return {Pin(this, handle_of(shard.entry(found.slot)), reader_.peek(extent)), size_bytes, {}};
    }
  } else if (write_queue_ == nullptr) {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    return {{}, 0, token_of(hash)};
  }
  return serve<kCounts>(hash, key, found, options, references);
}

template <bool kCounts>
Lookup BlockCacheImpl::serve(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                             const LookupOptions& options, uint32_t* references) {
  const bool background = options.caller == Caller::kBackground;
  uint32_t slot = found.slot;
  Lookup lookup = found.found() ? serve_pinned(hash, key, found, options)
                                : serve_pending(hash, key, options, &slot);
  Counters::Stripe& stripe = counters_.mine();
  if (lookup.hit()) {
    if constexpr (kCounts) *references = shard_of(hash).add_reference(slot);
    stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
    stripe.add(Count::kHitBytes, lookup.size_bytes);
  } else {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    lookup.token = token_of(hash);
  }
  return lookup;
}

// Read after the miss and before the caller reads the disk: an erase from now on
// makes the token worthless, an earlier one cannot matter.
MissToken BlockCacheImpl::token_of(uint64_t hash) const {
  return {generations_[hash % kGenerations].load(std::memory_order_acquire), true};
}

// A miss if the medium fails, or there is no memory, or the block is damaged. A block that cannot
// be read is removed, as a damaged one is: the next put can bring it again, to another place. Of a
// block that is copied, the copy is verified: it is what the caller gets, and in the processor's
// cache by then.
Lookup BlockCacheImpl::serve_pinned(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                                    const LookupOptions& options) {
  const uint64_t handle = handle_of(shard_of(hash).entry(found.slot));
  Pin pin(this, handle, {});
  const Extent extent = extent_of(found);
  const auto size_bytes = static_cast<uint32_t>(extent.size_bytes);
  if (options.copy_into && size_bytes > options.copy_into->size())
    return {.size_bytes = size_bytes};
  if (!health_.may_access()) return {};
  if (options.copy_into) {
    const MutableBytes copy = options.copy_into->first(size_bytes);
    if (!fetched(hash, found, reader_.read(extent, copy)) || !intact(hash, key, found, copy)) {
      return {};
    }
    return {.size_bytes = size_bytes};
  }
  SharedBuffer copy;
  ByteView bytes;
  if (!fetched(hash, found, reader_.view(extent, &copy, &bytes)) ||
      !intact(hash, key, found, bytes)) {
    return {};
  }
  if (copy != nullptr) return serve_buffer(std::move(copy), bytes);
  std::move(pin).detach();
  return {.pin = Pin(this, handle, bytes), .size_bytes = size_bytes};
}

Lookup BlockCacheImpl::serve_buffer(SharedBuffer buffer, ByteView bytes) {
  Pin pin = pin_buffer(std::move(buffer), bytes);
  if (pin.bytes().empty()) return {};
  return {.pin = std::move(pin), .size_bytes = static_cast<uint32_t>(bytes.size())};
}

bool BlockCacheImpl::fetched(uint64_t hash, const PinnedBlock& found, Fetch outcome) {
  if (outcome == Fetch::kMediumFailed) shard_of(hash).remove_unreadable(hash, found.slot);
  return outcome == Fetch::kOk;
}

Lookup BlockCacheImpl::serve_pending(uint64_t hash, const BlockKey& key,
                                     const LookupOptions& options, uint32_t* slot) {
  // It may be written, and live, since the lookup that did not find it.
  const std::optional<uint32_t> entered = shard_of(hash).find_slot(hash, key);
  if (!entered) return {};
  *slot = *entered;
  uint32_t size_bytes = 0;
  SharedBuffer buffer =
      write_queue_->find(queue_handle(shard_number(hash), *entered), key, &size_bytes);
  if (buffer == nullptr) {
    const PinnedBlock found = shard_of(hash).find_and_pin(hash, key);  // just written, or gone
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

bool BlockCacheImpl::intact(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                            ByteView block) {
  if (!verify_) return true;
  Shard& shard = shard_of(hash);
  if (checksum_block(key, block) == shard.checksum(found.slot)) return true;
  shard.remove_damaged(hash, found.slot);
  return false;
}

void BlockCacheImpl::release(uint64_t handle) {
  Entry& entry = *reinterpret_cast<Entry*>(handle);
  if (!entry.unpin()) [[likely]]
    return;
  // The last pin of a removed block: its key still says whose it is.
  shard_of(hash_key(entry.key(), config_.seed)).free_unpinned(entry);
}

}  // namespace nvcache
