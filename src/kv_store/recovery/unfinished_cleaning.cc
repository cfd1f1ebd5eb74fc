#include "kv_store/recovery/unfinished_cleaning.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/hash.h"

namespace nvcache {

UnfinishedCleaning::UnfinishedCleaning(KvParts& parts, Cleaner& cleaner, uint64_t zone,
                                       const ZoneHeaders::Loaded& header)
    : parts_(parts),
      cleaner_(cleaner),
      zone_(zone),
      header_(header),
      to_(header.cleaning->to),
      from_(header.cleaning->from),
      next_(header.version),
      mover_(parts, zone, header.version, header.cleaning->attempt + 1) {
  // The first cleaning gave the next version, and each attempt the one after that.
  for (uint64_t given = 0; given <= header.cleaning->attempt + uint64_t{1}; ++given) {
    versions_.push_back(parts.zones.low_bits(next_));
    next_ = cleaner.next_version(next_);
    comes_round_ |= cleaner.comes_round(next_);
  }
}

absl::Status UnfinishedCleaning::finish() try {
  ZoneMover::Done done;
  if (comes_round_) {
    cleaner_.clear_descriptors({zone_});  // it keeps none
    to_ = 0;
  } else {
    if (!mover_.begin(to_, from_)) {
      return absl::DataLossError("the medium failed while a cleaning was finished");
    }
    find_moved();
    find_unmoved();
    done = mover_.run(moves_);
  }
  parts_.counters.add(KvCounter::kFinishedCleanings, 1);
  parts_.headers.write(zone_, next_, to_, header_.sequence);
  parts_.headers.count(zone_, static_cast<int64_t>(done.items),
                       static_cast<int64_t>(done.item_bytes));
  if (parts_.memory.flushes_updates() && !parts_.headers.persist(zone_)) {
    return absl::DataLossError("the medium failed while a cleaning was finished");
  }
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory to finish the cleaning of a zone");
}

// From item to item, up to where the survivors have moved. The last may not be whole, or may have
// its old descriptor.
void UnfinishedCleaning::find_moved() {
  uint64_t offset = 0;
  while (offset < to_) {
    KvItemView item;
    const bool whole = to_ - offset >= kKvItemHeaderBytes &&
                       parts_.zones.item_at(zone_, offset, &item) &&
                       offset + item.size_bytes() <= to_;
    const uint64_t size_bytes = whole ? item.size_bytes() : finish_item(offset);
    if (size_bytes == 0) break;
    item = view_item(at(offset));
    const bool is_last = offset + size_bytes == to_;
    Survivor found{.hash = hash_bytes(item.key_text()),
                   .descriptor = {},
                   .offset = offset,
                   .size_bytes = size_bytes};
    const bool has_moved = find(offset, offset, item, &found);
    const bool was_moving =
        !has_moved && is_last && find(offset, offset + (from_ - to_), item, &found);
    if (was_moving) mover_.rebind(offset);
    if (was_moving || has_moved) add(found, offset);
    offset += size_bytes;
  }
  to_ = offset;  // less than it was only where a loss of power left no item
}

// Moves the rest of the item that starts there. Returns its size; 0 if there is none.
uint64_t UnfinishedCleaning::finish_item(uint64_t offset) {
  alignas(8) std::array<std::byte, kKvItemHeaderBytes> header;
  for (uint64_t i = 0; i < kKvItemHeaderBytes; ++i) {
    const uint64_t lies_at = offset + i < to_ ? offset + i : from_ + (offset + i - to_);
    if (lies_at >= parts_.geometry.zone_bytes) return 0;
    header[i] = *at(lies_at);
  }
  const KvItemView item = view_item(header.data());
  const uint64_t size_bytes = item.size_bytes();
  if (item.header.key_bytes == 0 || offset + size_bytes <= to_) return 0;
  const uint64_t rest_bytes = offset + size_bytes - to_;
  if (rest_bytes > parts_.geometry.zone_bytes - from_ || from_ == to_) return 0;
  mover_.move_bytes(to_, from_, rest_bytes);
  to_ += rest_bytes;
  from_ += rest_bytes;
  return size_bytes;
}

void UnfinishedCleaning::find_unmoved() {
  KvItemView item;
  for (uint64_t offset = from_; parts_.zones.item_at(zone_, offset, &item);
       offset += item.size_bytes()) {
    Survivor found{.hash = hash_bytes(item.key_text()),
                   .descriptor = {},
                   .offset = offset,
                   .size_bytes = item.size_bytes()};
    if (parts_.config.is_past(item.expires_s()) || !find(offset, offset, item, &found)) continue;
    add(found, to_);
    to_ += found.size_bytes;
  }
}

void UnfinishedCleaning::add(const Survivor& item, uint64_t to) {
  const uint32_t version = parts_.zones.low_bits(next_);
  moves_.push_back(
      {.item = item, .to = to, .descriptor = mover_.descriptor_for(item, to, version)});
}

// Finds the descriptor of an item that lies at an offset, and lay at another when it got it.
bool UnfinishedCleaning::find(uint64_t offset, uint64_t old_offset, const KvItemView& item,
                              Survivor* found) const {
  const uint64_t place = make_descriptor(address_of(old_offset), kv_tag(found->hash), 0, 0).place;
  return parts_.table.any_slot(parts_.table.bucket_of(found->hash), [&](uint64_t slot) {
    const KvDescriptor there = parts_.table.load(slot);
    if (there.place != place ||
        std::find(versions_.begin(), versions_.end(), there.version()) == versions_.end() ||
        !is_intact(there, offset, item)) {
      return false;
    }
    found->slot = slot;
    found->descriptor = there;
    return true;
  });
}

// The item's checks may be those of the place where it lay.
bool UnfinishedCleaning::is_intact(const KvDescriptor& descriptor, uint64_t offset,
                                   const KvItemView& item) const {
  const uint64_t old_address = descriptor.address();
  if (parts_.items.is_intact(old_address, descriptor, item)) return true;
  // It moved, and its time of expiry has the check of its new place already.
  const uint32_t want = descriptor.checksum() ^ kv_version_mask(descriptor.version(), old_address);
  return old_address != address_of(offset) && parts_.items.checksum(old_address, item) == want &&
         parts_.items.expiry_is_intact(address_of(offset), item);
}

}  // namespace nvcache
