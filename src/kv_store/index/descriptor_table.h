// The table of 16-byte descriptors through which items are found: groups of 8 buckets of 8
// descriptors, and 16 overflow descriptors that the buckets of a group share (NVMcached,
// section 3.1; docs/design/format.md). A key's hash names its bucket; nothing is linked.
//
// Readers take no lock. They read a descriptor as two words. A miss is certain if the
// sequence of the bucket's stripe was even and did not change. Writers hold the
// stripe's lock. The table knows nothing of zones and items: callers say which descriptors
// are in use.
//
// Cost in DRAM: a line for each of up to 4096 stripes, a byte for each group.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/reserved_array.h"
#include "base/sequence.h"
#include "kv_store/format/durable_memory.h"
#include "kv_store/format/layout.h"
#include "kv_store/format/superblock.h"
#include "nvcache/function_ref.h"

namespace nvcache {

class DescriptorTable {
 public:
  struct alignas(64) Stripe {
    Mutex mutex;
    Sequence sequence;                     // changes while descriptors are written, under the mutex
    std::atomic<uint32_t> cached_keys{0};  // keys whose value is in the write cache
    // Descriptors of the stripe were cleared together with many others, and are not durably so yet:
    // a writer must neither believe that their keys are absent nor take their slots.
    std::atomic<bool> clearing{false};
  };
  // The slots where the descriptor of a key may be.
  struct Bucket {
    uint64_t hash;
    uint64_t group;
    uint64_t first_slot;
    Stripe& stripe;
  };
  enum class SlotUse : uint8_t { kFree, kInUse, kBeingCleaned };
  struct SlotChoice {
    uint64_t slot;
    bool evicts;  // the slot's descriptor is in use
  };

  // `recovered`: the table may hold descriptors.
  DescriptorTable(DurableMemory& memory, const KvGeometry& geometry, bool recovered);

  Bucket bucket_of(uint64_t hash) const {
    const auto bucket =
        static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * buckets_) >> 64);
    const uint64_t group = bucket / kKvGroupBuckets;
    return {.hash = hash,
            .group = group,
            .first_slot = group * kKvGroupSlots + bucket % kKvGroupBuckets * kKvBucketSlots,
            .stripe = stripes_[group & stripe_mask_]};
  }
  Stripe& stripe_of(uint64_t slot) const { return stripes_[slot / kKvGroupSlots & stripe_mask_]; }

  // Starts fetching the bucket and its stripe into the processor's cache.
  void prefetch(const Bucket& bucket) const {
    const std::byte* const at = address(bucket.first_slot);
    static_assert(kKvBucketSlots * sizeof(KvDescriptor) == 128);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
    __builtin_prefetch(&bucket.stripe, /*rw=*/1);
  }

  void prefetch_slot(uint64_t slot) const {
    __builtin_prefetch(address(slot), /*rw=*/1);
    __builtin_prefetch(&stripe_of(slot), /*rw=*/1);
  }

  KvDescriptor load(uint64_t slot) const {
    const std::byte* at = address(slot);
    return {.place = load_word(at, std::memory_order_acquire),
            .proof = load_word(at + 8, std::memory_order_acquire)};
  }
  uint64_t load_place(uint64_t slot) const {
    return load_word(address(slot), std::memory_order_acquire);
  }
  // The descriptor of a slot whose place was read before. False if that changed since.
  bool load_whole(uint64_t slot, uint64_t place, KvDescriptor* descriptor) const {
    const std::byte* at = address(slot);
    *descriptor = {.place = place, .proof = load_word(at + 8, std::memory_order_acquire)};
    return load_word(at, std::memory_order_acquire) == place;
  }

  // Calls visit(slot) for each slot that may hold a descriptor of the bucket, until one
  // returns true; returns whether one did.
  template <typename Visit>
  bool any_slot(const Bucket& bucket, Visit visit) const {
    for (uint64_t slot = bucket.first_slot; slot < bucket.first_slot + kKvBucketSlots; ++slot) {
      if (visit(slot)) return true;
    }
    const uint8_t use = overflow_use(bucket.group).load(std::memory_order_acquire);
    if (use == kNoOverflow) return false;
    const uint64_t first = first_overflow(bucket.group);
    for (uint64_t slot = first; slot < first + kKvOverflowSlots; ++slot) {
      if (visit(slot)) return true;
    }
    if (use == kOverflowUnknown) learn_overflow(bucket.group);
    return false;
  }

  // Returns a free slot, or else the bucket's slot of the greatest age. Empty if a slot's
  // zone is being cleaned: try again. use_of(descriptor) tells a SlotUse,
  // age_of(slot) how long its item has not been used.
  template <typename UseOf, typename AgeOf>
  std::optional<SlotChoice> choose_slot(const Bucket& bucket, UseOf use_of, AgeOf age_of)
      NVCACHE_REQUIRES(bucket.stripe.mutex) {
    bool being_cleaned = false;
    uint32_t oldest = 0;
    uint64_t victim = ~uint64_t{0};
    const auto free = [&](uint64_t slot) {
      const KvDescriptor there = load(slot);
      if (there.place == 0) return true;
      const SlotUse use = use_of(there);
      being_cleaned |= use == SlotUse::kBeingCleaned;
      return use == SlotUse::kFree;
    };
    for (uint64_t slot = bucket.first_slot; slot < bucket.first_slot + kKvBucketSlots; ++slot) {
      if (free(slot)) return SlotChoice{.slot = slot, .evicts = false};
      const uint32_t age = age_of(slot);
      if (victim == ~uint64_t{0} || age > oldest) {
        victim = slot;
        oldest = age;
      }
    }
    const uint64_t first = first_overflow(bucket.group);
    for (uint64_t slot = first; slot < first + kKvOverflowSlots; ++slot) {
      if (!free(slot)) continue;
      overflow_use(bucket.group).store(kOverflow, std::memory_order_release);
      return SlotChoice{.slot = slot, .evicts = false};
    }
    if (being_cleaned) return std::nullopt;
    return SlotChoice{.slot = victim, .evicts = true};
  }

  // Not flushed. An empty descriptor clears the slot.
  void write(Stripe& stripe, uint64_t slot, const KvDescriptor& descriptor)
      NVCACHE_REQUIRES(stripe.mutex);
  // Clears a descriptor whose item is damaged. Readers miss either way, so that the sequence
  // stays.
  void clear_damaged(uint64_t slot) { store_word(address(slot), 0, std::memory_order_release); }

  // Flushes a slot's descriptor; or tells the medium that it was written without a flush.
  bool persist(uint64_t slot) { return memory_.persist(offset(slot), sizeof(KvDescriptor)); }
  void note_write(uint64_t slot) { memory_.note_write(offset(slot), sizeof(KvDescriptor)); }

  // Clear many descriptors with one drain. Their stripes are `clearing` until that is done. The
  // caller holds the cleaning lock: two calls must not overlap. False if the medium fails.
  //
  // clear_each() clears those of the slots for which goes(slot) is true under the lock of its
  // stripe, and leaves these in `slots`. clear_where() clears all descriptors for which goes() is
  // true.
  bool clear_each(std::vector<uint64_t>* slots, FunctionRef<bool(uint64_t)> goes);
  bool clear_where(FunctionRef<bool(const KvDescriptor&)> goes);

  uint64_t cached_keys() const;
  uint64_t memory_bytes() const { return (stripe_mask_ + 1) * sizeof(Stripe) + groups_; }

 private:
  // The use of a group's overflow descriptors. A writer that takes one says so first.
  enum OverflowUse : uint8_t { kNoOverflow, kOverflow, kOverflowUnknown };

  std::atomic_ref<uint8_t> overflow_use(uint64_t group) const {
    return std::atomic_ref<uint8_t>(overflows_[group]);
  }
  // Looks for overflow descriptors in a group that was there at the opening.
  void learn_overflow(uint64_t group) const;
  static uint64_t first_overflow(uint64_t group) {
    return (group + 1) * kKvGroupSlots - kKvOverflowSlots;
  }
  uint64_t offset(uint64_t slot) const { return table_at_ + slot * sizeof(KvDescriptor); }
  std::byte* address(uint64_t slot) const { return table_ + slot * sizeof(KvDescriptor); }

  void clear(Stripe& stripe, uint64_t slot) NVCACHE_REQUIRES(stripe.mutex);

  DurableMemory& memory_;
  const uint64_t table_at_;
  std::byte* const table_;
  const uint64_t groups_;
  const uint64_t buckets_;
  const uint64_t stripe_mask_;
  const std::unique_ptr<Stripe[]> stripes_;
  // An OverflowUse for each group.
  mutable ReservedArray<uint8_t> overflows_;
};

}  // namespace nvcache
