// Finds a key's item on the medium, through the table and the zones, and makes a descriptor
// lead to another item or to none.
//
// One rule keeps old values from coming back: a descriptor that a reader could follow is
// overwritten or cleared only together with a flush and a drain, under the lock of its
// stripe, or while the stripe is `clearing` (kv_store/index/descriptor_table.h). So a DELETE
// that misses needs no flush, because whatever made it miss is durable: another DELETE, an UPDATE,
// the move to the write cache, the loss of the slot to another key, the sweep of an expired item,
// or the new version of the item's zone, which is used only after its drain
// (kv_store/log/cleaner.h). That is the third issue of NVMcached's section 2.
//
// Thread-safe. find() takes no lock, except to drop an item that a crash damaged. Does not own the
// parts. Cost in DRAM: a bit for each descriptor.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/reserved_array.h"
#include "kv_store/log/parts.h"

namespace nvcache {

// An item on the medium, as it was found.
struct ItemLocation {
  uint64_t slot = 0;
  uint64_t zone = ZoneLog::kNoZone;
  KvDescriptor descriptor;
  KvItemView item;
};

class ItemIndex {
 public:
  using Bucket = DescriptorTable::Bucket;
  // kUnsure: a descriptor was being written, or a zone cleaned; look again.
  enum class Presence : uint8_t { kPresent, kAbsent, kUnsure };

  explicit ItemIndex(KvParts& parts) : parts_(parts), checked_(parts.geometry.slots() / 64 + 1) {}

  // With kPresent, the item's zone is pinned and the caller unpins it.
  Presence find(const Bucket& bucket, std::string_view key, ItemLocation* found) {
    return scan(bucket, key, /*locked=*/false, found);
  }
  Presence find_locked(const Bucket& bucket, std::string_view key, ItemLocation* found)
      NVCACHE_REQUIRES(bucket.stripe.mutex) {
    return scan(bucket, key, /*locked=*/true, found);
  }
  // The item that a slot's descriptor leads to, whatever its key. With true, its zone is pinned and
  // the caller unpins it.
  bool look_at(uint64_t slot, ItemLocation* found);
  // Starts fetching the item of the bucket's hash into the processor's cache.
  void prefetch(const Bucket& bucket) const;

  // Makes a descriptor lead to a new item and flushes it if it voids another one. Replaces
  // `old`, the key's present item, unless that is null. False: nothing changed, try again.
  bool publish(const Bucket& bucket, uint64_t zone, const KvDescriptor& descriptor,
               uint64_t item_bytes, const ItemLocation* old) NVCACHE_REQUIRES(bucket.stripe.mutex);

  // Clears the descriptor of an item, durably. False where the medium fails.
  bool drop(const Bucket& bucket, const ItemLocation& found) NVCACHE_REQUIRES(bucket.stripe.mutex);

  // Notes that an item was used.
  void note_use(uint64_t slot) {
    parts_.use_list.use(slot);
    if (parts_.memory.flushes_use()) parts_.memory.persist(parts_.geometry.uses_at + slot, 1);
  }

  uint64_t memory_bytes() const { return parts_.geometry.slots() / 8; }

 private:
  Presence scan(const Bucket& bucket, std::string_view key, bool locked, ItemLocation* found);
  Presence follow(uint64_t slot, uint64_t place, std::string_view key, bool locked,
                  ItemLocation* found);
  bool is_intact(const ItemLocation& found);
  void drop_damaged(const ItemLocation& found);
  bool free_slot(const Bucket& bucket, uint64_t* slot, bool* evicted)
      NVCACHE_REQUIRES(bucket.stripe.mutex);

  KvParts& parts_;
  ReservedArray<uint64_t> checked_;  // a bit a slot: its item was verified since the opening
};

}  // namespace nvcache
