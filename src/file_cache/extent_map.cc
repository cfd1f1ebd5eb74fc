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
  const uint64_t first = first_unit << kSizeBits;
  std::optional<uint64_t> at = words_.last_before(first);
  if (!at.has_value() || !unpack(*at).overlaps(range)) at = words_.at_or_after(first);
  const auto overlaps = [&] { return at.has_value() && unpack(*at).overlaps(range); };
  for (size_t taken = 0; overlaps() && taken < most; ++taken) {
    removed->push_back(unpack(*at));
    words_.erase(*at);
    at = words_.at_or_after(*at);
  }
  return overlaps();
}

std::optional<FileRange> ExtentMap::next(uint64_t* position) const {
  // No extent is the largest word: kMaxOffsetUnits is no offset.
  std::optional<uint64_t> at = words_.at_or_after(*position + 1);
  if (!at.has_value()) at = words_.at_or_after(0);
  if (!at.has_value()) return std::nullopt;
  *position = *at;
  return unpack(*at);
}

}  // namespace nvcache
