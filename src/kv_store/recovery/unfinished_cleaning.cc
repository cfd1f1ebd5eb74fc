#include "kv_store/recovery/unfinished_cleaning.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/hash.h"
#include "base/test_hooks.h"

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
      mover_(parts, zone, pass_lost_attempts(), header.cleaning->attempt + 1) {
  // The first cleaning gave the next version, and each attempt the one after that.
  pass_versions(header.cleaning->attempt + uint64_t{2});
}

// The version from which this attempt counts.
uint64_t UnfinishedCleaning::pass_lost_attempts() {
  if (!header_.cleaning->is_known) pass_versions(kMostLostAttempts);
  return next_;
}

void UnfinishedCleaning::pass_versions(uint64_t count) {
  for (; count > 0; --count) {
    versions_.push_back(parts_.zones.low_bits(next_));
    next_ = cleaner_.next_version(next_);
    comes_round_ |= cleaner_.comes_round(next_);
  }
}

Status UnfinishedCleaning::finish() try {
  ZoneMover::Done done;
  if (comes_round_) {
    cleaner_.clear_descriptors({zone_});  // it keeps none
    to_ = 0;
  } else {
    if (!mover_.begin(to_, from_)) {
      return data_loss_error("the medium failed while a cleaning was finished");
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
    return data_loss_error("the medium failed while a cleaning was finished");
  }
  return ok_status();
} catch (const std::bad_alloc&) {
  return resource_exhausted_error("no memory to finish the cleaning of a zone");
}

// Up to where the survivors have moved. The last may not be whole, or may have its old descriptor.
// Between them may lie what an earlier cleaning left in place, and nobody needs.
void UnfinishedCleaning::find_moved() {
  uint64_t end = 0;
  for (uint64_t offset = 0; offset < to_;) {
    Survivor found;
    if (find_whole(offset, &found) || finish_item(offset, &found)) {
      add(found, offset);
      offset += found.size_bytes;
      end = offset;
    } else if (test_hooks.trust_headers) {
      break;
    } else {
      offset += kKvGrainBytes;
    }
  }
  to_ = end;
}

// A survivor that lies before `to_` with all its bytes.
bool UnfinishedCleaning::find_whole(uint64_t offset, Survivor* found) {
  const uint64_t old_offset = offset + (from_ - to_);
  const bool begins = to_ - offset >= kKvItemHeaderBytes &&
                      (parts_.items.begins_item(at(offset), address_of(offset)) ||
                       parts_.items.begins_item(at(offset), address_of(old_offset)));
  KvItemView item;
  if (!begins || !parts_.zones.item_at(zone_, offset, &item)) return false;
  const uint64_t end = offset + item.size_bytes();
  if (end > to_) return false;
  if (find(offset, offset, item, found)) return true;
  if (end != to_ || !find(offset, old_offset, item, found)) return false;
  mover_.rebind(offset);
  return true;
}

// Moves the rest of the item that starts there and was being moved; its old descriptor is proof of
// that. False if there is none.
bool UnfinishedCleaning::finish_item(uint64_t offset, Survivor* found) {
  const uint64_t way = from_ - to_;
  const uint64_t old_offset = offset + way;
  const auto begins = [&](const std::byte* bytes) {
    return parts_.items.begins_item(bytes, address_of(old_offset));
  };
  if (way == 0 || (offset + kKvItemHeaderBytes <= to_ && !begins(at(offset)))) return false;
  alignas(8) std::array<std::byte, kKvItemHeaderBytes + UINT8_MAX> begin{};
  if (!gather(offset, kKvItemHeaderBytes, begin.data()) || !begins(begin.data())) return false;
  const uint64_t size_bytes = view_item(begin.data()).size_bytes();
  const uint8_t key_bytes = view_item(begin.data()).header.key_bytes;
  if (key_bytes == 0 || offset + size_bytes <= to_ ||
      size_bytes > parts_.geometry.zone_bytes - old_offset ||
      !gather(offset, kKvItemHeaderBytes + key_bytes, begin.data()) ||
      !any_descriptor(hash_bytes(view_item(begin.data()).key_text()), old_offset,
                      [](uint64_t, const KvDescriptor&) { return true; })) {
    return false;
  }
  const uint64_t rest_bytes = offset + size_bytes - to_;
  mover_.move_bytes(to_, from_, rest_bytes);
  to_ += rest_bytes;
  from_ += rest_bytes;
  if (!find(offset, old_offset, view_item(at(offset)), found)) return false;
  mover_.rebind(offset);
  return true;
}

// Copies the first bytes of an item of which those from `to_` on have not moved. False if they
// would not lie in the zone.
bool UnfinishedCleaning::gather(uint64_t offset, uint64_t size_bytes, std::byte* to) const {
  const uint64_t way = from_ - to_;
  if (size_bytes > parts_.geometry.zone_bytes - offset - way) return false;
  for (uint64_t i = 0; i < size_bytes; ++i) {
    to[i] = *at(offset + i < to_ ? offset + i : offset + i + way);
  }
  return true;
}

void UnfinishedCleaning::find_unmoved() {
  const uint64_t end = parts_.geometry.zone_bytes;
  for (uint64_t offset = from_; (offset = next_item_place(parts_, zone_, offset)) < end;) {
    KvItemView item;
    Survivor found;
    if (!parts_.zones.item_at(zone_, offset, &item) || !find(offset, offset, item, &found)) {
      if (test_hooks.trust_headers) break;
      offset += kKvGrainBytes;
      continue;
    }
    offset += found.size_bytes;
    if (parts_.config.is_past(item.expires_s())) continue;
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
  *found = {.hash = hash_bytes(item.key_text()),
            .descriptor = {},
            .offset = offset,
            .size_bytes = item.size_bytes()};
  return any_descriptor(found->hash, old_offset, [&](uint64_t slot, const KvDescriptor& there) {
    if (!is_intact(there, offset, item)) return false;
    found->slot = slot;
    found->descriptor = there;
    return true;
  });
}

// Of the zone's version or of one that an attempt gave.
bool UnfinishedCleaning::any_descriptor(
    uint64_t hash, uint64_t offset, FunctionRef<bool(uint64_t, const KvDescriptor&)> suits) const {
  const uint64_t place = make_descriptor(address_of(offset), kv_tag(hash), 0, 0).place;
  return parts_.table.any_slot(parts_.table.bucket_of(hash), [&](uint64_t slot) {
    const KvDescriptor there = parts_.table.load(slot);
    return there.place == place &&
           std::find(versions_.begin(), versions_.end(), there.version()) != versions_.end() &&
           suits(slot, there);
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
