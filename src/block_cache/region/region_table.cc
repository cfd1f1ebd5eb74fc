#include "block_cache/region/region_table.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {

RegionTable::RegionTable(const Options& options)
    : list_removals_(options.list_removals),
      discards_(options.discards),
      to_recover_(options.recovers ? options.limit : 0),
      regions_(options.regions),
      limit_(options.limit),
      sequence_(options.first_sequence),
      knows_sequences_(!options.recovers) {
  MutexLock lock(mutex_);
  for (uint32_t region = options.limit; region < options.regions; ++region) {
    regions_[region].state = State::kUnused;
  }
  if (options.recovers) {
    const uint32_t believed = std::min(options.believed, options.limit);
    for (uint32_t region = 0; region < options.regions; ++region) {
      regions_[region].on = region < believed ? On::kBlocks : On::kOutdated;
    }
    return;
  }
  for (uint32_t region = 0; region < options.limit; ++region) push_free(region);
}

std::optional<uint32_t> RegionTable::take_free() {
  MutexLock lock(mutex_);
  const uint32_t region = pop_free();
  if (region == kNone) return std::nullopt;
  regions_[region].held.store(1, std::memory_order_relaxed);
  regions_[region].state = State::kOpen;
  regions_[region].on = On::kOutdated;  // until its own footer is there
  return region;
}

void RegionTable::seal(uint32_t region) {
  MutexLock lock(mutex_);
  Region& sealed = regions_[region];
  NVCACHE_ASSERT(sealed.state == State::kOpen && holders(sealed.held.load()) > 0);
  sealed.state = State::kSealed;
  On outdated = On::kOutdated;
  sealed.on.compare_exchange_strong(outdated, On::kBlocks);
  sealed.newer = kNone;
  sealed.older = newest_;
  (newest_ == kNone ? oldest_ : regions_[newest_].newer) = region;
  newest_ = region;
  if (holders(sealed.held.load()) == 1) list_dead(region);
}

void RegionTable::recover_sealed(uint32_t region) {
  MutexLock lock(mutex_);
  Region& sealed = regions_[region];
  NVCACHE_ASSERT(sealed.state == State::kUnknown && holders(sealed.held.load()) > 0);
  sealed.state = State::kSealed;
  sealed.older = kNone;
  sealed.newer = oldest_;
  (oldest_ == kNone ? newest_ : regions_[oldest_].older) = region;
  oldest_ = region;
  if (holders(sealed.held.load()) == 1) list_dead(region);
}

void RegionTable::recover_begin(uint32_t region) {
  NVCACHE_ASSERT(regions_[region].state == State::kUnknown && regions_[region].held.load() == 0);
  regions_[region].held.store(1);
}

void RegionTable::recover_free(uint32_t region) {
  regions_[region].on = On::kNothing;
  MutexLock lock(mutex_);
  if (regions_[region].state == State::kUnknown) push_free(region);
}

void RegionTable::recover_outdated(uint32_t region) {
  regions_[region].on = test_hooks.forget_filtered ? On::kNothing : On::kOutdated;
  MutexLock lock(mutex_);
  if (regions_[region].state == State::kUnknown) push_free(region);
}

std::optional<uint32_t> RegionTable::take_to_empty(bool only_without_blocks) {
  MutexLock lock(mutex_);
  if (oldest_ == kNone) return std::nullopt;
  uint32_t chosen = only_without_blocks ? kNone : oldest_;
  if (const uint32_t dead = take_dead(); dead != kNone) chosen = dead;
  if (chosen == kNone) return std::nullopt;
  unlink(chosen);
  return chosen;
}

// Each region once: the list is taken apart before it comes round.
void RegionTable::list_dead(uint32_t region) {
  Region& dead = regions_[region];
  if (std::exchange(dead.listed_dead, true)) return;
  dead.next_dead = first_dead_;
  first_dead_ = region;
}

uint32_t RegionTable::take_dead() {
  while (first_dead_ != kNone) {
    const uint32_t region = first_dead_;
    Region& dead = regions_[region];
    dead.listed_dead = false;
    first_dead_ = dead.next_dead;
    if (dead.state == State::kSealed && holders(dead.held.load()) == 1) return region;
  }
  return kNone;
}

bool RegionTable::take_sealed(uint32_t region) {
  MutexLock lock(mutex_);
  if (regions_[region].state != State::kSealed) return false;
  unlink(region);
  return true;
}

// From the sealed ones. It is leaving from here on.
void RegionTable::unlink(uint32_t region) {
  Region& gone = regions_[region];
  NVCACHE_ASSERT(gone.state == State::kSealed);
  NVCACHE_ASSERT((gone.older == kNone ? oldest_ : regions_[gone.older].newer) == region);
  NVCACHE_ASSERT((gone.newer == kNone ? newest_ : regions_[gone.newer].older) == region);
  (gone.older == kNone ? oldest_ : regions_[gone.older].newer) = gone.newer;
  (gone.newer == kNone ? newest_ : regions_[gone.newer].older) = gone.older;
  gone.state = State::kLeaving;
  gone.on = On::kOutdated;
}

void RegionTable::give_up(uint32_t region, Extent failed, uint64_t now_ns) {
  MutexLock lock(mutex_);
  NVCACHE_ASSERT(regions_[region].state == State::kOpen);
  regions_[region].state = State::kLeaving;  // it is outdated since it was opened
  (void)set_aside(region, failed, now_ns);
}

void RegionTable::let_go(uint32_t region) {
  NVCACHE_ASSERT(regions_[region].state == State::kLeaving);
  const uint64_t before = regions_[region].held.fetch_sub(1, std::memory_order_acq_rel);
  NVCACHE_ASSERT(holders(before) > 0);
  if (holders(before) == 1) free_now(region);
}

void RegionTable::remove(uint32_t region, uint32_t offset_grains, uint32_t grains) {
  Region& from = regions_[region];
  if (from.state != State::kLeaving) note_removed(region, offset_grains);
  // Sequentially consistent, as are the reads of `held` and `state`, and seal(): of the last block
  // to go and the seal one sees the other, and lists the region as dead.
  const uint64_t before = from.held.fetch_sub(one_block(grains), std::memory_order_seq_cst);
  NVCACHE_ASSERT_SLOW(holders(before) > 0 && before >> 32 >= grains);
  used_.add(Used::kGrains, uint64_t{0} - grains);
  if (holders(before) == 1) {
    free_now(region);
  } else if (holders(before) == 2 && from.state == State::kSealed) {
    MutexLock lock(mutex_);
    list_dead(region);
  }
}

void RegionTable::note_removed(uint32_t region, uint32_t offset_grains) noexcept {
  if (!list_removals_) return;
  MutexLock lock(stripe(region));
  try {
    regions_[region].removed.push_back(offset_grains);
    listed_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    regions_[region].on = On::kUnlisted;
  }
}

void RegionTable::note_removals(const RemovalList& list) noexcept {
  const uint32_t known = limit();
  for (const RemovalList::Run& run : list.outdated()) {
    const uint64_t end = std::min<uint64_t>(known, uint64_t{run.first} + run.count);
    for (uint32_t region = run.first; region < end; ++region) regions_[region].on = On::kOutdated;
  }
  for (const RemovalList::Place& each : list.places()) {
    if (each.region < known) note_removed(each.region, each.offset_grains);
  }
}

std::vector<uint32_t> RegionTable::removed_from(uint32_t region) const {
  MutexLock lock(stripe(region));
  std::vector<uint32_t> offsets = regions_[region].removed;
  std::ranges::sort(offsets);
  return offsets;
}

void RegionTable::list_removals(Unknown unknown, RemovalList* list) const {
  std::vector<RemovalList::Place> places;
  std::vector<RemovalList::Run> outdated;
  for (uint32_t region = 0; region < regions_.size(); ++region) {
    MutexLock lock(stripe(region));
    const Region& from = regions_[region];
    const On on = from.on;
    if (on == On::kNothing) continue;
    const bool given_up = unknown == Unknown::kGivenUp && from.state == State::kUnknown;
    if (on != On::kBlocks || given_up) {
      const bool follows =
          !outdated.empty() && outdated.back().first + outdated.back().count == region;
      if (!follows) outdated.push_back({region, 0});
      ++outdated.back().count;
      continue;
    }
    for (const uint32_t offset_grains : from.removed) places.push_back({region, offset_grains});
  }
  std::ranges::sort(places);
  list->set_places(end_of_sequences(), std::move(places), std::move(outdated));
}

void RegionTable::free_now(uint32_t region) {
  // Its blocks gave back as many grains as they took.
  NVCACHE_ASSERT(regions_[region].state == State::kLeaving && regions_[region].held.load() == 0);
  {
    MutexLock lock(stripe(region));
    listed_.fetch_sub(regions_[region].removed.size(), std::memory_order_relaxed);
    regions_[region].removed = {};
  }
  MutexLock lock(mutex_);
  // A discard of a bad place could fail, and end the discarding.
  if (!discards_ || region >= limit() || regions_[region].set_aside) return push_free(region);
  regions_[region].held.store(0, std::memory_order_relaxed);
  regions_[region].older = first_left_;
  first_left_ = region;
}

// Leaving still, so that it is listed as emptied: its footer may lie there, discarded or not.
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
  NVCACHE_ASSERT(regions_[region].state == State::kLeaving);
  if (test_hooks.believe_discards) regions_[region].on = On::kNothing;
  push_free(region);
}

void RegionTable::push_free(uint32_t region, Turn turn) {
  regions_[region].held.store(0, std::memory_order_relaxed);
  if (region >= limit()) {
    regions_[region].state = State::kUnused;
    forget_aside_beyond(limit());
    return;
  }
  if (regions_[region].set_aside) {
    regions_[region].state = State::kAside;
    return;
  }
  regions_[region].state = State::kFree;
  if (turn == Turn::kNext || test_hooks.reuse_failed_places) {
    regions_[region].older = first_free_;
    first_free_ = region;
    if (last_free_ == kNone) last_free_ = region;
  } else {
    regions_[region].older = kNone;
    (last_free_ == kNone ? first_free_ : regions_[last_free_].older) = region;
    last_free_ = region;
  }
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

uint32_t RegionTable::pop_free() {
  const uint32_t region = first_free_;
  if (region == kNone) return kNone;
  NVCACHE_ASSERT(regions_[region].state == State::kFree);
  first_free_ = regions_[region].older;
  if (first_free_ == kNone) last_free_ = kNone;
  free_count_.fetch_sub(1, std::memory_order_relaxed);
  return region;
}

void RegionTable::set_limit(uint32_t regions) {
  MutexLock lock(mutex_);
  const uint32_t before = limit_.exchange(regions);
  for (uint32_t region = before; region < regions; ++region) {
    if (regions_[region].state == State::kUnused) push_free(region);
  }
  if (regions >= before) return;
  forget_aside_beyond(regions);
  const uint32_t first = first_free_;
  first_free_ = kNone;
  last_free_ = kNone;
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
  // Threads count a moment after they add or remove a block.
  return static_cast<uint64_t>(
      std::max<int64_t>(0, static_cast<int64_t>(used_.sum(Used::kGrains))));
}

uint64_t RegionTable::metadata_bytes() const {
  return limit() * sizeof(Region) + listed_.load(std::memory_order_relaxed) * sizeof(uint32_t) +
         set_aside_regions() * sizeof(SetAsidePlace);
}

}  // namespace nvcache
