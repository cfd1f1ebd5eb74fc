// Regions that are set aside because a write of theirs failed.
#include "base/test_hooks.h"
#include "block_cache/region/region_table.h"

namespace nvcache {

SetAsidePlace* RegionTable::set_aside(uint32_t region, Extent failed, uint64_t now_ns) {
  if (test_hooks.reuse_failed_places) return nullptr;
  const uint64_t count = aside_.places().size() + 1;
  if (4 * count > 3 * uint64_t{limit()}) return nullptr;
  SetAsidePlace* const place = aside_.add(region, 1, failed, now_ns);
  regions_[region].set_aside = place != nullptr;
  return place;
}

// Readers may still pin a block of a region that was lost.
std::optional<SetAsidePlace> RegionTable::take_to_try(uint64_t now_ns) {
  MutexLock lock(mutex_);
  return aside_.take(now_ns, [this](const SetAsidePlace& place) {
    return regions_[place.first].state == State::kAside;
  });
}

std::optional<SetAsidePlace> RegionTable::take_to_probe(
    PlacesToTry::Which which, FunctionRef<Extent(uint32_t region)> probe_of) {
  const bool any = which == PlacesToTry::Which::kAny;
  {
    MutexLock lock(mutex_);
    if (any) turn_free_list();
    if (const uint32_t region = pop_free(); region != kNone) {
      if (SetAsidePlace* const place = aside_.add(region, 1, probe_of(region), 0)) {
        place->bad = 0;
        regions_[region].set_aside = true;
        regions_[region].state = State::kAside;
        return aside_.take(*place);
      }
      push_free(region);
    }
  }
  return any ? take_to_try(SetAside::kNever - 1) : std::nullopt;
}

// By the golden section: those that come next may lie beside the one that failed, and so may those
// that follow a probe nearby.
void RegionTable::turn_free_list() {
  for (uint64_t turns = uint64_t{free_regions()} * 618 / 1000; turns > 0; --turns) {
    push_free(pop_free());
  }
}

// The bytes of the region are not touched: its footer may be there still, or be zeros.
void RegionTable::tried(const SetAsidePlace& place, bool well, uint64_t now_ns) {
  MutexLock lock(mutex_);
  SetAsidePlace* const listed = aside_.find(place.id);
  if (listed == nullptr) return;
  const auto region = static_cast<uint32_t>(place.first);
  const bool too_many = 4 * aside_.places().size() > 3 * uint64_t{limit()};
  if (!well) listed->bad = listed->count;
  if (!well && !too_many && region < limit()) return aside_.put_back(*listed, now_ns);
  use_again(*listed);
}

// A region where nothing ever failed is the next one: what a probe has shown to be good. Others
// wait until all that are free were used.
void RegionTable::use_again(SetAsidePlace place) {
  const auto region = static_cast<uint32_t>(place.first);
  aside_.drop_if([&](const SetAsidePlace& each) { return each.id == place.id; });
  regions_[region].set_aside = false;
  push_free(region, place.bad == 0 ? Turn::kNext : Turn::kLast);
}

void RegionTable::try_all() {
  MutexLock lock(mutex_);
  aside_.make_all_due();
}

uint32_t RegionTable::set_aside_regions() const {
  MutexLock lock(mutex_);
  return static_cast<uint32_t>(aside_.places().size());
}

// One that is being tried is looked at again by tried().
void RegionTable::forget_aside_beyond(uint32_t limit) {
  aside_.drop_if([&](const SetAsidePlace& place) {
    Region& region = regions_[place.first];
    const bool idle = region.state == State::kAside || region.state == State::kUnused;
    if (place.first < limit || !idle || SetAside::is_being_tried(place)) return false;
    region.state = State::kUnused;
    region.set_aside = false;
    return true;
  });
}

}  // namespace nvcache
