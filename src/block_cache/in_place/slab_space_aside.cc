// Areas of the space that are set aside because writes there failed.
#include <algorithm>

#include "base/test_hooks.h"
#include "block_cache/in_place/slab_space.h"

namespace nvcache {
namespace {
constexpr size_t kMostAreas = 256;
constexpr uint64_t kGrowth = 16;
}  // namespace

void SlabSpace::set_aside(Extent failed, uint64_t now_ns) {
  if (test_hooks.reuse_failed_places) return;
  const uint64_t first = failed.offset / grain_bytes();
  const uint64_t grains = to_grains(static_cast<uint32_t>(failed.size_bytes));
  MutexLock lock(mutex_);
  const uint64_t used_up = aside_grains();
  const uint64_t most = limit() - limit() / 8;
  if (used_up + grains > most) return;
  SetAsidePlace* area = grow_area(first, grains, most - used_up);
  if (area == nullptr) area = aside_.add(first, grains, failed, now_ns);
  if (area != nullptr) refresh_area(*area);
}

// The area that the failed extent lies right behind, grown to hold it; or null. Only a failure that
// is next to another one says that more may be bad: elsewhere writes have succeeded in between.
SetAsidePlace* SlabSpace::grow_area(uint64_t first, uint64_t grains, uint64_t most_grains) {
  for (SetAsidePlace& area : aside_.places()) {
    const uint64_t end = area.first + area.count;
    if (first < area.first || first > end) continue;
    area.bad = std::max(area.bad, first + grains - area.first);
    if (first + grains <= end) return &area;  // was written before that was set aside
    area.growth = kGrowth * std::max(area.growth, grains);
    const uint64_t grown =
        std::min({area.bad + area.growth, area.count + most_grains, limit() - area.first});
    area.count = std::max(area.count, grown);
    return &area;
  }
  // Bad extents all over: the area that comes before is made to reach this one.
  if (aside_.places().size() < kMostAreas) return nullptr;
  SetAsidePlace* before = nullptr;
  for (SetAsidePlace& area : aside_.places()) {
    if (area.first < first && (before == nullptr || area.first > before->first)) before = &area;
  }
  if (before == nullptr) return &aside_.places().front();
  const uint64_t wanted = first + grains - before->first;
  if (wanted <= before->count + most_grains) {
    before->bad = std::max(before->bad, wanted);
    before->count = std::max(before->count, wanted);
  }
  return before;
}

bool SlabSpace::is_set_aside(Extent extent) const {
  if (!aside_.any()) [[likely]]
    return false;
  const uint64_t first = extent.offset / grain_bytes();
  const uint64_t end = first + to_grains(static_cast<uint32_t>(extent.size_bytes));
  MutexLock lock(mutex_);
  return std::ranges::any_of(aside_.places(), [&](const SetAsidePlace& area) {
    return first < area.first + area.count && area.first < end;
  });
}

std::optional<SetAsidePlace> SlabSpace::take_to_try(uint64_t now_ns) {
  MutexLock lock(mutex_);
  return aside_.take(now_ns, [](const SetAsidePlace&) { return true; });
}

// One that lies beyond a limit that was set since is not needed.
void SlabSpace::tried(const SetAsidePlace& place, bool well, uint64_t now_ns) {
  MutexLock lock(mutex_);
  SetAsidePlace* const listed = aside_.find(place.id);
  if (listed == nullptr) return;
  const SetAsidePlace area = *listed;
  if (!well && listed->first < limit()) {
    listed->count = std::min(area.bad, area.count);
    listed->growth = 0;
    aside_.put_back(*listed, now_ns);
  } else {
    aside_.drop_if([&](const SetAsidePlace& each) { return each.id == area.id; });
  }
  refresh_area(area);
}

void SlabSpace::try_all() {
  MutexLock lock(mutex_);
  aside_.make_all_due();
}

uint64_t SlabSpace::set_aside_bytes() const {
  MutexLock lock(mutex_);
  return aside_grains() * grain_bytes();
}

// Areas may overlap by what one grew over another.
uint64_t SlabSpace::aside_grains() const {
  uint64_t grains = 0;
  for (const SetAsidePlace& area : aside_.places()) grains += area.count;
  return std::min(grains, limit());
}

uint64_t SlabSpace::aside_word(uint64_t word) const {
  uint64_t bits = 0;
  const uint64_t begin = word * 64;
  for (const SetAsidePlace& area : aside_.places()) {
    const uint64_t first = std::max(area.first, begin);
    const uint64_t end = std::min(area.first + area.count, begin + 64);
    if (first >= end) continue;
    const uint64_t run = end - first;
    bits |= (run == 64 ? ~uint64_t{0} : (uint64_t{1} << run) - 1) << (first - begin);
  }
  return bits;
}

void SlabSpace::refresh_area(const SetAsidePlace& area) {
  const uint64_t last = std::min(area.first + area.count, slabs_ * kSlabGrains) - 1;
  refresh_slabs(area.first / kSlabGrains, last / kSlabGrains);
}

}  // namespace nvcache
