#include "kv_store/log/zone_mover.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {

constexpr size_t kAhead = 8;  // items whose descriptors are fetched early

void step() { call(test_hooks.on_cleaning_step); }

}  // namespace

KvDescriptor ZoneMover::descriptor_for(const Survivor& item, uint64_t to, uint32_t version) const {
  const KvDescriptor& old = item.descriptor;
  const uint64_t address = parts_.geometry.zone_at(zone_) + to;
  const uint32_t checksum = address == old.address()
                                ? old.checksum() ^ kv_version_mask(old.version(), address)
                                : parts_.items.checksum(address, view_item(at(item.offset)));
  return make_descriptor(address, old.tag(), version, checksum);
}

bool ZoneMover::begin(uint64_t to, uint64_t from) {
  note(to, from);
  parts_.headers.mark_cleaning(zone_, version_);
  step();
  // Durable before the first descriptor of another version: the next cleaning would believe it.
  return !parts_.memory.flushes_updates() || parts_.headers.persist(zone_);
}

ZoneMover::Done ZoneMover::run(const std::vector<Move>& moves) {
  Done done;
  uint64_t first_moved = 0;
  for (size_t i = 0; i < moves.size(); ++i) {
    if (i + kAhead < moves.size()) parts_.table.prefetch_slot(moves[i + kAhead].item.slot);
    const Move& move = moves[i];
    if (move.to != move.item.offset) {
      if (done.moved == 0) first_moved = move.to;
      note(move.to, move.item.offset);
      move_bytes(move.to, move.item.offset, move.item.size_bytes);
      rebind(move.to);
      ++done.moved;
      done.moved_bytes += move.item.size_bytes;
    }
    if (!publish(move)) continue;
    ++done.items;
    done.item_bytes += move.item.size_bytes;
  }
  const uint64_t address = parts_.geometry.zone_at(zone_) + first_moved;
  if (done.moved_bytes > 0 && parts_.memory.flushes_all()) {
    parts_.memory.persist(address, done.moved_bytes);
  } else if (done.moved_bytes > 0) {
    parts_.memory.note_write(address, done.moved_bytes);
  }
  return done;
}

// A kill undoes nothing that was written, so that the order in the program is all that counts.
void ZoneMover::move_bytes(uint64_t to, uint64_t from, uint64_t size_bytes) {
  NVCACHE_ASSERT(to < from && from + size_bytes <= parts_.geometry.zone_bytes);
  const uint64_t way = from - to;
  while (size_bytes > 0) {
    const uint64_t piece = std::min(way, size_bytes);
    std::memcpy(at(to), at(from), piece);
    step();
    to += piece;
    from += piece;
    size_bytes -= piece;
    note(to, from);
  }
}

void ZoneMover::rebind(uint64_t to) {
  const KvItemView item = view_item(at(to));
  parts_.items.set_expiry(parts_.geometry.zone_at(zone_) + to, item.expires_s(), item.header.cas);
  step();
}

void ZoneMover::note(uint64_t to, uint64_t from) {
  parts_.headers.note_progress(zone_, version_, {.to = to, .from = from, .attempt = attempt_});
  step();
}

// False, and nothing is changed, if the item was deleted or replaced since the survey.
bool ZoneMover::publish(const Move& move) {
  DescriptorTable::Stripe& stripe = parts_.table.stripe_of(move.item.slot);
  MutexLock lock(stripe.mutex);
  if (parts_.table.load(move.item.slot) != move.item.descriptor) return false;
  parts_.table.write(stripe, move.item.slot, move.descriptor);
  step();
  if (parts_.memory.flushes_all()) {
    parts_.table.persist(move.item.slot);
  } else {
    parts_.table.note_write(move.item.slot);
  }
  return true;
}

}  // namespace nvcache
