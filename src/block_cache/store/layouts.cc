#include "block_cache/store/layouts.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "block_cache/in_place/in_place_volume.h"
#include "block_cache/region/region_volume.h"

namespace nvcache {
namespace {

constexpr std::array<Layout, 2> kLayouts = {{
    {SpaceKind::kInPlace, /*reads_copies=*/false, InPlaceVolume::open},
    {SpaceKind::kRegions, /*reads_copies=*/true, RegionVolume::open},
}};

}  // namespace

const Layout& layout_of(SpaceKind kind) {
  const auto row = std::ranges::find(kLayouts, kind, &Layout::kind);
  NVCACHE_ASSERT(row != kLayouts.end());
  return *row;
}

}  // namespace nvcache
