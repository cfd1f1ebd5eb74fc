#include "block_cache/block_reader.h"

#include <cstring>
#include <memory>
#include <utility>

namespace nvcache {

BlockReader::BlockReader(Medium& medium, MediumHealth& health, Counters& counters)
    : medium_(medium),
      health_(health),
      counters_(counters),
      direct_(medium.direct()),
      can_peek_(in_place() && !medium.traits().charges_direct_reads),
      unit_bytes_(medium.traits().io_granularity_bytes) {}

ByteView BlockReader::view_through_medium(Extent extent, SharedBuffer* copy) {
  if (in_place()) return may_read_in_place(extent) ? peek(extent) : ByteView();
  const uint32_t padded_bytes = padded(extent.size_bytes);
  auto buffer = std::make_shared<AlignedBuffer>(padded_bytes);
  if (!read_padded(extent.offset, {buffer->data(), padded_bytes})) return {};
  const ByteView bytes(buffer->data(), extent.size_bytes);
  *copy = std::move(buffer);
  return bytes;
}

bool BlockReader::read_through_medium(Extent extent, MutableBytes into) {
  if (in_place()) {
    if (!may_read_in_place(extent)) return false;
    std::memcpy(into.data(), peek(extent).data(), into.size());
    return true;
  }
  const bool fits_device =
      into.size() % unit_bytes_ == 0 &&
      (unit_bytes_ == 1 ||
       reinterpret_cast<uintptr_t>(into.data()) % AlignedBuffer::kAlignmentBytes == 0);
  if (fits_device) return read_padded(extent.offset, into);
  SharedBuffer copy;
  const ByteView bytes = view_through_medium(extent, &copy);
  if (bytes.empty()) return false;
  std::memcpy(into.data(), bytes.data(), into.size());
  return true;
}

bool BlockReader::may_read_in_place(Extent extent) {
  const absl::Status status = medium_.on_direct_read(extent);
  health_.note(status);
  return status.ok();
}

bool BlockReader::read_padded(uint64_t offset, MutableBytes into) {
  const absl::Status status = medium_.read(offset, into);
  health_.note(status);
  if (status.ok()) counters_.add(Count::kMediumReadBytes, into.size());
  return status.ok();
}

}  // namespace nvcache
