#include "file_cache/extent_map.h"

#include <algorithm>

#include "base/assert.h"

namespace nvcache {

bool ExtentMap::take_overlapped(const FileRange& range, size_t most,
                                std::vector<FileRange>* removed) {
  NVCACHE_ASSERT_SLOW(most > 0);  // else the caller would ask for ever
  if (range.size == 0) return false;
  // The first extent that starts at or after the range; the one before may reach into it.
  const uint64_t first_unit = std::min(range.offset / kUnitBytes, kMaxOffsetUnits - 1);
  auto at = words_.lower_bound(first_unit << kSizeBits);
  if (at != words_.begin()) {
    const auto before = std::prev(at);
    if (unpack(*before).overlaps(range)) at = before;
  }
  const auto first = at;
  bool more = at != words_.end() && unpack(*at).overlaps(range);
  for (size_t taken = 0; more && taken < most; ++taken) {
    removed->push_back(unpack(*at++));
    more = at != words_.end() && unpack(*at).overlaps(range);
  }
  words_.erase(first, at);
  return more;
}

std::optional<FileRange> ExtentMap::next(uint64_t* position) const {
  auto at = words_.upper_bound(*position);
  if (at == words_.end()) at = words_.begin();
  if (at == words_.end()) return std::nullopt;
  *position = *at;
  return unpack(*at);
}

}  // namespace nvcache
