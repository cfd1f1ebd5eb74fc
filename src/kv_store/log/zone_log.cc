#include "kv_store/log/zone_log.h"

#include <algorithm>
#include <thread>

#include "base/assert.h"
#include "base/striped_counters.h"

namespace nvcache {
namespace {

constexpr int kPinSpins = 200;
constexpr int kOpenAttempts = 100;
constexpr int kSweptAtOnce = 4;
constexpr size_t kSweepSample = 256;
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
  NVCACHE_ASSERT_SLOW(item_bytes % kKvGrainBytes == 0 && item_bytes <= geometry_.zone_bytes);
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
    const bool opened = open_next(lane, zone, item_bytes, cleaner);
    if (memory_.failed()) return std::nullopt;
    if (!opened) {
      ++attempt;
      std::this_thread::yield();
    }
  }
  return std::nullopt;
}

// True if the lane has another zone now, whoever opened it.
bool ZoneLog::open_next(Lane& lane, uint64_t full_zone, uint64_t item_bytes, ZoneCleaner& cleaner) {
  const bool opened = open_ready(lane, full_zone, item_bytes);
  if (wake_) wake_();
  if (opened) return true;
  MutexLock cleaning(cleaning_mutex_);
  // Whoever had the lock may have cleaned one for this lane, or ahead.
  if (open_ready(lane, kNoZone, item_bytes)) return true;
  const uint64_t zone = clean_next(cleaner, item_bytes);
  if (zone == kNoZone) return false;
  MutexLock lock(space_mutex_);
  NVCACHE_ASSERT_SLOW(!is_somewhere(zone));
  if (lane.zone.load(std::memory_order_relaxed) == kNoZone) {
    lane.zone.store(zone, std::memory_order_seq_cst);
  } else {
    ready_.push_back(zone);
  }
  return true;
}

// Closes the zone that the caller found full, and opens one that is ready. False if none is.
bool ZoneLog::open_ready(Lane& lane, uint64_t full_zone, uint64_t item_bytes) {
  MutexLock lock(space_mutex_);
  if (lane.zone.load(std::memory_order_relaxed) != full_zone) return true;
  wanted_bytes_ = item_bytes;
  if (full_zone != kNoZone) {
    lane.zone.store(kNoZone, std::memory_order_seq_cst);
    NVCACHE_ASSERT_SLOW(!is_somewhere(full_zone));
    full_.push_back(full_zone);
  }
  while (!ready_.empty()) {
    const uint64_t zone = ready_.front();
    ready_.pop_front();
    const uint64_t cursor = zones_[zone].cursor.load(std::memory_order_relaxed);
    NVCACHE_ASSERT(cursor <= geometry_.zone_bytes);  // nobody writes in a zone that is not open
    if (geometry_.zone_bytes - cursor >= item_bytes) {
      lane.zone.store(zone, std::memory_order_seq_cst);
      return true;
    }
    full_.push_back(zone);
  }
  return false;
}

bool ZoneLog::clean_ahead(ZoneCleaner& cleaner) {
  MutexLock cleaning(cleaning_mutex_);
  uint64_t item_bytes = 0;
  {
    MutexLock lock(space_mutex_);
    if (ready_.size() >= most_ahead()) return false;
    item_bytes = wanted_bytes_;
  }
  const uint64_t zone = clean_next(cleaner, item_bytes);
  if (zone == kNoZone) return false;
  cleaner.populate(zone, zones_[zone].cursor.load(std::memory_order_relaxed));
  MutexLock lock(space_mutex_);
  NVCACHE_ASSERT_SLOW(!is_somewhere(zone));
  ready_.push_back(zone);
  return ready_.size() < most_ahead();
}

bool ZoneLog::is_somewhere(uint64_t zone) const {
  const auto has = [&](const auto& zones) { return std::ranges::find(zones, zone) != zones.end(); };
  return has(fresh_) || has(full_) || has(ready_) ||
         std::ranges::any_of(lanes_, [&](const Lane& lane) { return lane.zone.load() == zone; });
}

uint64_t ZoneLog::take_next(std::deque<uint64_t>& from, ZoneCleaner& cleaner) {
  if (from.empty()) return kNoZone;
  const size_t at = &from == &full_ ? cleaner.choose(full_) : 0;
  NVCACHE_ASSERT(at < from.size());
  const uint64_t zone = from[at];
  from.erase(from.begin() + static_cast<ptrdiff_t>(at));
  return zone;
}

// Nobody cleans a full zone meanwhile.
void ZoneLog::sweep_some(ZoneCleaner& cleaner) {
  for (int i = 0; i < kSweptAtOnce; ++i) {
    const uint32_t now_s = cleaner.sweep_time_s();
    const uint64_t zone = now_s == 0 ? kNoZone : zone_to_sweep(now_s);
    if (zone == kNoZone) return;
    std::atomic<uint32_t>& earliest_s = zones_[zone].earliest_s;
    uint32_t before_s = earliest_s.load(std::memory_order_relaxed);
    const uint32_t next_s = cleaner.sweep(zone);
    earliest_s.compare_exchange_strong(before_s, std::max(next_s, now_s + 1));
  }
}

// Of a sample of the full zones, the one in which items have been expired for longest.
uint64_t ZoneLog::zone_to_sweep(uint32_t now_s) {
  MutexLock lock(space_mutex_);
  uint64_t oldest = kNoZone;
  uint32_t earliest_s = now_s;
  const size_t looks = std::min(full_.size(), kSweepSample);
  for (size_t look = 0; look < looks; ++look) {
    const uint64_t zone = full_[++sample_ % full_.size()];
    const uint32_t zone_s = zones_[zone].earliest_s.load(std::memory_order_relaxed);
    if (zone_s > earliest_s) continue;
    earliest_s = zone_s;
    oldest = zone;
  }
  return oldest;
}

uint64_t ZoneLog::clean_next(ZoneCleaner& cleaner, uint64_t item_bytes) {
  sweep_some(cleaner);
  for (std::deque<uint64_t>* from : {&fresh_, &full_}) {
    uint64_t left = 1;
    for (bool first = true; left > 0; first = false, --left) {
      uint64_t zone = kNoZone;
      {
        MutexLock lock(space_mutex_);
        if (first) left = from->size();
        zone = take_next(*from, cleaner);
      }
      if (zone == kNoZone) break;
      if (cleaner.clean(zone, item_bytes)) return zone;
      MutexLock lock(space_mutex_);
      from->push_back(zone);
      if (memory_.failed()) return kNoZone;
    }
  }
  return kNoZone;
}

uint64_t ZoneLog::take_full(ZoneCleaner& cleaner) {
  MutexLock lock(space_mutex_);
  return take_next(full_, cleaner);
}

void ZoneLog::give_back(uint64_t zone) {
  MutexLock lock(space_mutex_);
  NVCACHE_ASSERT_SLOW(!is_somewhere(zone));
  full_.push_back(zone);
}

std::optional<ZoneLog::Room> ZoneLog::append(uint64_t zone, uint64_t item_bytes) {
  Zone& z = zones_[zone];
  const uint64_t offset = z.cursor.load(std::memory_order_relaxed);
  if (offset + item_bytes > geometry_.zone_bytes) return std::nullopt;
  z.cursor.store(offset + item_bytes, std::memory_order_relaxed);
  return Room{
      .zone = zone, .address = geometry_.zone_at(zone) + offset, .version = version_of(zone)};
}

bool ZoneLog::begin_switch(uint64_t zone) {
  Zone& z = zones_[zone];
  const uint64_t version = z.serving.fetch_or(kSwitching, std::memory_order_seq_cst);
  NVCACHE_ASSERT((version & kSwitching) == 0);  // the cleaning lock is held
  for (int spin = 0; z.pins.load(std::memory_order_seq_cst) != 0; ++spin) {
    if (spin < kPinSpins) continue;
    z.serving.store(version, std::memory_order_seq_cst);
    return false;
  }
  return true;
}

void ZoneLog::end_switch(uint64_t zone, uint64_t version, uint64_t hot_line) {
  Zone& z = zones_[zone];
  NVCACHE_ASSERT((z.serving.load(std::memory_order_relaxed) & kSwitching) != 0);
  NVCACHE_ASSERT((version & kSwitching) == 0 && hot_line <= geometry_.zone_bytes);
  z.hot_line = hot_line;
  z.earliest_s.store(hot_line == 0 ? UINT32_MAX : 0, std::memory_order_relaxed);
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
  for (std::deque<uint64_t>* from : {&full_, &ready_}) {
    fresh_.insert(fresh_.end(), from->begin(), from->end());
    from->clear();
  }
}

void ZoneLog::adopt(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence,
                    bool unchecked) {
  NVCACHE_ASSERT(zone < geometry_.zones);
  Zone& z = zones_[zone];
  z.serving.store(version, std::memory_order_relaxed);
  z.unchecked.store(unchecked, std::memory_order_relaxed);
  z.earliest_s.store(sequence == 0 ? UINT32_MAX : 0, std::memory_order_relaxed);
  z.hot_line = hot_line;
  sequence_ = std::max(sequence_, sequence);
  (sequence == 0 ? fresh_ : full_).push_back(zone);
}

}  // namespace nvcache
