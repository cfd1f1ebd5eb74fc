#include "block_cache/region/region_table.h"

namespace nvcache {

RegionTable::RegionTable(const Options& options)
    : discards_(options.discards), regions_(options.regions), limit_(options.limit) {
  MutexLock lock(mutex_);
  // From the last to the first, so that the first is taken first.
  for (uint32_t region = options.limit; region-- > 0;) push_free(region);
}

std::optional<uint32_t> RegionTable::take_free() {
  MutexLock lock(mutex_);
  const uint32_t region = first_free_;
  if (region == kNone) return std::nullopt;
  first_free_ = regions_[region].older;
  free_count_.fetch_sub(1, std::memory_order_relaxed);
  regions_[region].held.store(1, std::memory_order_relaxed);
  regions_[region].state = State::kOpen;
  return region;
}

void RegionTable::seal(uint32_t region) {
  MutexLock lock(mutex_);
  Region& sealed = regions_[region];
  sealed.state = State::kSealed;
  sealed.newer = kNone;
  sealed.older = newest_;
  (newest_ == kNone ? oldest_ : regions_[newest_].newer) = region;
  newest_ = region;
  if (holders(sealed.held.load()) == 1) some_are_dead_ = true;
}

std::optional<uint32_t> RegionTable::take_to_empty(bool only_without_blocks) {
  MutexLock lock(mutex_);
  if (oldest_ == kNone) return std::nullopt;
  uint32_t chosen = only_without_blocks ? kNone : oldest_;
  if (some_are_dead_) {
    uint32_t dead = oldest_;
    while (dead != kNone && holders(regions_[dead].held.load()) != 1) dead = regions_[dead].newer;
    some_are_dead_ = dead != kNone;
    if (dead != kNone) chosen = dead;
  }
  if (chosen == kNone) return std::nullopt;
  unlink(chosen);
  regions_[chosen].state = State::kLeaving;
  return chosen;
}

bool RegionTable::take_sealed(uint32_t region) {
  MutexLock lock(mutex_);
  if (regions_[region].state != State::kSealed) return false;
  unlink(region);
  regions_[region].state = State::kLeaving;
  return true;
}

void RegionTable::unlink(uint32_t region) {
  const Region& gone = regions_[region];
  (gone.older == kNone ? oldest_ : regions_[gone.older].newer) = gone.newer;
  (gone.newer == kNone ? newest_ : regions_[gone.newer].older) = gone.older;
}

void RegionTable::give_up(uint32_t region) {
  MutexLock lock(mutex_);
  regions_[region].state = State::kLeaving;
}

void RegionTable::let_go(uint32_t region) {
  const uint64_t before = regions_[region].held.fetch_sub(1, std::memory_order_acq_rel);
  if (holders(before) == 1) free_now(region);
}

void RegionTable::remove(uint32_t region, uint32_t grains) {
  Region& from = regions_[region];
  const uint64_t before = from.held.fetch_sub(one_block(grains), std::memory_order_acq_rel);
  if (holders(before) == 1) {
    free_now(region);
  } else if (holders(before) == 2 && from.state == State::kSealed) {
    some_are_dead_ = true;
  }
}

void RegionTable::free_now(uint32_t region) {
  MutexLock lock(mutex_);
  if (!discards_ || region >= limit()) return push_free(region);
  regions_[region].held.store(0, std::memory_order_relaxed);
  regions_[region].older = first_left_;
  first_left_ = region;
}

std::optional<uint32_t> RegionTable::take_to_discard() {
  MutexLock lock(mutex_);
  while (first_left_ != kNone) {
    const uint32_t region = first_left_;
    first_left_ = regions_[region].older;
    if (region < limit()) return region;
    push_free(region);
  }
  return std::nullopt;
}

void RegionTable::discarded(uint32_t region) {
  MutexLock lock(mutex_);
  push_free(region);
}

void RegionTable::push_free(uint32_t region) {
  regions_[region].held.store(0, std::memory_order_relaxed);
  if (region >= limit()) {
    regions_[region].state = State::kUnused;
    return;
  }
  regions_[region].state = State::kFree;
  regions_[region].older = first_free_;
  first_free_ = region;
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

void RegionTable::set_limit(uint32_t regions) {
  MutexLock lock(mutex_);
  const uint32_t before = limit_.exchange(regions);
  for (uint32_t region = before; region < regions; ++region) {
    if (regions_[region].state == State::kUnused) push_free(region);
  }
  if (regions >= before) return;
  const uint32_t first = first_free_;
  first_free_ = kNone;
  free_count_ = 0;
  for (uint32_t region = first; region != kNone;) {
    const uint32_t next = regions_[region].older;
    push_free(region);
    region = next;
  }
}

uint32_t RegionTable::taken_end() const {
  uint32_t end = static_cast<uint32_t>(regions_.size());
  while (end > 0 && holders(regions_[end - 1].held.load()) == 0) --end;
  return end;
}

uint64_t RegionTable::used_grains() const {
  uint64_t grains = 0;
  for (const Region& region : regions_) grains += region.held.load() >> 32;
  return grains;
}

uint64_t RegionTable::metadata_bytes() const { return limit() * sizeof(Region); }

}  // namespace nvcache
