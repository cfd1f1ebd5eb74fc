#include "kv_store/zone_log.h"

#include <algorithm>
#include <thread>

#include "base/striped_counters.h"

namespace nvcache {
namespace {

constexpr int kPinSpins = 200;
constexpr int kOpenAttempts = 100;
constexpr uint64_t kZonesForLanes = 64;

}  // namespace

ZoneLog::ZoneLog(DurableMemory& memory, const KvGeometry& geometry)
    : memory_(memory),
      geometry_(geometry),
      low_mask_(static_cast<uint32_t>((uint64_t{1} << geometry.version_bits) - 1)),
      zones_(std::make_unique<Zone[]>(geometry.zones)),
      lanes_(geometry.zones >= kZonesForLanes ? 4 : 1) {}

// An open zone is not cleaned, and cannot be closed and cleaned while it is pinned.
bool ZoneLog::allocate_in(uint64_t zone, const Lane& lane, uint64_t item_bytes, Room* room) {
  Zone& z = zones_[zone];
  z.pins.fetch_add(1, std::memory_order_seq_cst);
  if (lane.zone.load(std::memory_order_seq_cst) == zone) {
    room->version = version_of(zone);
    const uint64_t offset = z.cursor.fetch_add(item_bytes, std::memory_order_relaxed);
    if (offset + item_bytes <= geometry_.zone_bytes) {
      room->zone = zone;
      room->address = geometry_.zone_at(zone) + offset;
      return true;
    }
  }
  unpin(zone);
  return false;
}

std::optional<ZoneLog::Room> ZoneLog::allocate(uint64_t item_bytes, ZoneCleaner& cleaner) {
  Lane& lane = lanes_[thread_stripe() % lanes_.size()];
  for (int attempt = 0; attempt < kOpenAttempts;) {
    const uint64_t zone = lane.zone.load(std::memory_order_acquire);
    Room room;
    if (zone != kNoZone && allocate_in(zone, lane, item_bytes, &room)) return room;
    bool opened = true;
    {
      MutexLock lock(space_mutex_);
      if (lane.zone.load(std::memory_order_relaxed) != zone) continue;
      lane.zone.store(kNoZone, std::memory_order_seq_cst);
      if (zone != kNoZone) full_.push_back(zone);
      const uint64_t next = next_zone(cleaner, item_bytes);
      opened = next != kNoZone;
      lane.zone.store(next, std::memory_order_seq_cst);
    }
    if (memory_.failed()) return std::nullopt;
    if (!opened) {
      ++attempt;
      std::this_thread::yield();
    }
  }
  return std::nullopt;
}

uint64_t ZoneLog::next_zone(ZoneCleaner& cleaner, uint64_t item_bytes) {
  for (std::deque<uint64_t>* from : {&fresh_, &full_}) {
    for (size_t left = from->size(); left > 0; --left) {
      const size_t at = from == &full_ ? cleaner.choose(full_, item_bytes) : 0;
      const uint64_t zone = (*from)[at];
      from->erase(from->begin() + static_cast<ptrdiff_t>(at));
      if (cleaner.clean(zone, item_bytes)) return zone;
      from->push_back(zone);
      if (memory_.failed()) return kNoZone;
    }
  }
  return kNoZone;
}

bool ZoneLog::begin_switch(uint64_t zone) {
  Zone& z = zones_[zone];
  const uint64_t version = z.serving.fetch_or(kSwitching, std::memory_order_seq_cst);
  for (int spin = 0; z.pins.load(std::memory_order_seq_cst) != 0; ++spin) {
    if (spin < kPinSpins) continue;
    z.serving.store(version, std::memory_order_seq_cst);
    return false;
  }
  return true;
}

void ZoneLog::end_switch(uint64_t zone, uint64_t version, uint64_t hot_line) {
  Zone& z = zones_[zone];
  z.hot_line = hot_line;
  z.cursor.store(hot_line, std::memory_order_relaxed);
  z.unchecked.store(false, std::memory_order_relaxed);
  z.serving.store(version, std::memory_order_seq_cst);
}

std::vector<bool> ZoneLog::open_zones() {
  std::vector<bool> open(geometry_.zones);
  for (const Lane& lane : lanes_) {
    const uint64_t zone = lane.zone.load(std::memory_order_relaxed);
    if (zone != kNoZone) open[zone] = true;
  }
  return open;
}

void ZoneLog::forget_items() {
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) zones_[zone].hot_line = 0;
  fresh_.insert(fresh_.end(), full_.begin(), full_.end());
  full_.clear();
}

void ZoneLog::adopt(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence,
                    bool unchecked) {
  Zone& z = zones_[zone];
  z.serving.store(version, std::memory_order_relaxed);
  z.unchecked.store(unchecked, std::memory_order_relaxed);
  z.hot_line = hot_line;
  sequence_ = std::max(sequence_, sequence);
  (sequence == 0 ? fresh_ : full_).push_back(zone);
}

}  // namespace nvcache
