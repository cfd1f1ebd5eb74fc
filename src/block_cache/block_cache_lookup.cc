// Lookups of the block cache: pinned in place, or copied.
#include <cstring>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "block_cache/block_cache_impl.h"

namespace nvcache {
namespace {

// Owns the private copies behind pins of blocks that are not served in place: the
// pin's handle is the copy's owner on the heap. Stateless.
class BufferOwner final : public Pin::Owner {
 public:
  static Pin pin(std::shared_ptr<const AlignedBuffer> buffer, uint32_t size_bytes) {
    static BufferOwner owner;
    const ByteView block(buffer->data(), size_bytes);
    auto* held = new Held(std::move(buffer));
    return Pin(&owner, reinterpret_cast<uint64_t>(held), block);
  }
  void release(uint64_t handle) override { delete reinterpret_cast<Held*>(handle); }

 private:
  using Held = std::shared_ptr<const AlignedBuffer>;
};

}  // namespace

Lookup BlockCacheImpl::get(const BlockKey& key, Caller caller) {
  return look_up<false>(key, caller, nullptr);
}

Lookup BlockCacheImpl::get_counted(const BlockKey& key, uint32_t* references) {
  *references = 0;
  return look_up<true>(key, Caller::kForeground, references);
}

template <bool kCounts>
inline Lookup BlockCacheImpl::look_up(const BlockKey& key, Caller caller, uint32_t* references) {
  const uint64_t hash = hash_key(key, config_.seed);
  Shard& shard = shard_of(hash);
  const bool background = caller == Caller::kBackground;
  Counters::Stripe& stripe = counters_.mine();
  const PinnedBlock found = shard.find_and_pin(hash, key);
  Pin pin;
  uint32_t slot = found.slot;
  if (found.found()) [[likely]] {
    shard.on_hit(found.slot);
    if (plain_) [[likely]] {
      stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
      stripe.add(Count::kHitBytes, found.word.size_bytes());
      if constexpr (kCounts) *references = shard.add_reference(slot);
      return {in_place_pin(shard, found), {}};
    }
    pin = reads_in_place_ ? serve_in_place(hash, key, found) : serve_copy(hash, key, found);
  } else if (!in_place_) {
    pin = serve_pending(hash, key, &slot);
  }
  if (pin) {
    if constexpr (kCounts) *references = shard.add_reference(slot);
    stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
    stripe.add(Count::kHitBytes, pin.block().size());
    return {std::move(pin), {}};
  }
  stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
  return {Pin(), token_of(hash)};
}

// Read after the miss and before the caller reads the disk: an erase from now on
// makes the token worthless, an earlier one cannot matter.
MissToken BlockCacheImpl::token_of(uint64_t hash) const {
  return {generations_[hash % kGenerations].load(std::memory_order_acquire), true};
}

Copied BlockCacheImpl::get_copy(const BlockKey& key, MutableBytes into, Caller caller) {
  const uint64_t hash = hash_key(key, config_.seed);
  Shard& shard = shard_of(hash);
  const bool background = caller == Caller::kBackground;
  uint32_t size_bytes = 0;
  if (const PinnedBlock found = shard.find_and_pin(hash, key); found.found()) {
    const Pin guard(this, handle_of(shard.entry(found.slot)), {});
    shard.on_hit(found.slot);
    if (copy_into(hash, key, found, into)) size_bytes = found.word.size_bytes();
  } else if (!in_place_) {
    if (const Pin pin = serve_pending(hash, key); pin) {
      size_bytes = static_cast<uint32_t>(pin.block().size());
      if (size_bytes <= into.size()) std::memcpy(into.data(), pin.block().data(), size_bytes);
    }
  }
  Counters::Stripe& stripe = counters_.mine();
  if (size_bytes == 0) {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    return {0, token_of(hash)};
  }
  stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
  stripe.add(Count::kHitBytes, size_bytes);
  return {size_bytes, {}};
}

// False if the medium failed or the block is damaged. The copy is what is verified: it
// is hot then, and it is what the caller gets.
bool BlockCacheImpl::copy_into(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                               MutableBytes into) {
  const uint32_t size_bytes = found.word.size_bytes();
  if (size_bytes > into.size()) return true;
  if (!plain_ && failed_.load(std::memory_order_relaxed)) return false;
  const uint64_t offset = space_.to_bytes(found.word.offset_grains());
  if (reads_in_place_) {
    if (charges_direct_reads_) {
      const absl::Status status = medium_->on_direct_read({offset, size_bytes});
      count_medium_result(status);
      if (!status.ok()) return false;
    }
    std::memcpy(into.data(), bytes_.data() + offset, size_bytes);
  } else if (!read_into(offset, into.first(size_bytes))) {
    return false;
  }
  return !verify_ || intact(hash, key, found, into.first(size_bytes));
}

bool BlockCacheImpl::read_into(uint64_t offset, MutableBytes into) {
  const uint32_t padded_bytes = padded(into.size());
  const bool aligned =
      in_place_ || (padded_bytes == into.size() &&
                    reinterpret_cast<uintptr_t>(into.data()) % AlignedBuffer::kAlignmentBytes == 0);
  if (aligned) return read_padded(offset, into);
  AlignedBuffer buffer(padded_bytes);
  if (!read_padded(offset, {buffer.data(), padded_bytes})) return false;
  std::memcpy(into.data(), buffer.data(), into.size());
  return true;
}

bool BlockCacheImpl::read_padded(uint64_t offset, MutableBytes into) {
  const absl::Status status = medium_->read(offset, into);
  count_medium_result(status);
  if (status.ok()) counters_.add(Count::kMediumReadBytes, into.size());
  return status.ok();
}

inline Pin BlockCacheImpl::in_place_pin(Shard& shard, const PinnedBlock& found) {
  const uint64_t offset = space_.to_bytes(found.word.offset_grains());
  return Pin(this, handle_of(shard.entry(found.slot)),
             {bytes_.data() + offset, found.word.size_bytes()});
}

Pin BlockCacheImpl::serve_in_place(uint64_t hash, const BlockKey& key, const PinnedBlock& found) {
  Pin pin = in_place_pin(shard_of(hash), found);
  const ByteView block = pin.block();
  if (failed_.load(std::memory_order_relaxed)) return Pin();
  if (charges_direct_reads_) {
    const absl::Status status =
        medium_->on_direct_read({space_.to_bytes(found.word.offset_grains()), block.size()});
    count_medium_result(status);
    if (!status.ok()) return Pin();
  }
  if (verify_ && !intact(hash, key, found, block)) return Pin();
  return pin;
}

Pin BlockCacheImpl::serve_copy(uint64_t hash, const BlockKey& key, const PinnedBlock& found) {
  const Pin guard(this, handle_of(shard_of(hash).entry(found.slot)), {});
  if (failed_.load(std::memory_order_relaxed)) return Pin();
  const uint32_t size_bytes = found.word.size_bytes();
  const uint32_t padded_bytes = padded(size_bytes);
  auto buffer = std::make_shared<AlignedBuffer>(padded_bytes);
  const uint64_t offset = space_.to_bytes(found.word.offset_grains());
  if (!read_padded(offset, {buffer->data(), padded_bytes})) return Pin();
  if (verify_ && !intact(hash, key, found, {buffer->data(), size_bytes})) return Pin();
  return BufferOwner::pin(std::move(buffer), size_bytes);
}

Pin BlockCacheImpl::serve_pending(uint64_t hash, const BlockKey& key, uint32_t* slot) {
  // It may be written, and live, since the lookup that did not find it.
  const std::optional<uint32_t> entered = shard_of(hash).find_slot(hash, key);
  if (!entered) return Pin();
  if (slot != nullptr) *slot = *entered;
  uint32_t size_bytes = 0;
  std::shared_ptr<const AlignedBuffer> buffer =
      write_queue_->find(queue_handle(shard_number(hash), *entered), key, &size_bytes);
  if (buffer != nullptr) return BufferOwner::pin(std::move(buffer), size_bytes);
  const PinnedBlock found = shard_of(hash).find_and_pin(hash, key);  // written just now, or gone
  if (slot != nullptr && found.found()) *slot = found.slot;
  return found.found() ? serve_copy(hash, key, found) : Pin();
  // (The analyzer loses sight of copies that pins own by handle.)
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

bool BlockCacheImpl::intact(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                            ByteView block) {
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
