#include "block_cache/block_reader.h"

#include <cstring>
#include <new>
#include <utility>

namespace nvcache {

BlockReader::BlockReader(Medium& medium, MediumHealth& health, Counters& counters)
    : medium_(medium),
      health_(health),
      counters_(counters),
      direct_(medium.direct()),
      can_peek_(in_place() && !medium.traits().charges_direct_reads),
      unit_bytes_(medium.traits().io_granularity_bytes) {}

Fetch BlockReader::view_through_medium(Extent extent, SharedBuffer* copy, ByteView* bytes) {
  if (in_place()) {
    *bytes = peek(extent);
    return ask_to_read_in_place(extent);
  }
  MutableBuffer buffer = make_buffer(extent.size_bytes);
  if (buffer == nullptr) return Fetch::kNoMemory;
  const Fetch fetched = read_padded(extent.offset, {buffer->data(), padded(extent.size_bytes)});
  *bytes = {buffer->data(), extent.size_bytes};
  *copy = std::move(buffer);
  return fetched;
}

Fetch BlockReader::read_through_medium(Extent extent, MutableBytes into) {
  if (in_place()) {
    if (const Fetch asked = ask_to_read_in_place(extent); asked != Fetch::kOk) return asked;
    std::memcpy(into.data(), peek(extent).data(), into.size());
    return Fetch::kOk;
  }
  const bool fits_device =
      into.size() % unit_bytes_ == 0 &&
      (unit_bytes_ == 1 ||
       reinterpret_cast<uintptr_t>(into.data()) % AlignedBuffer::alignment_bytes(unit_bytes_) == 0);
  if (fits_device) return read_padded(extent.offset, into);
  SharedBuffer copy;
  ByteView bytes;
  if (const Fetch viewed = view_through_medium(extent, &copy, &bytes); viewed != Fetch::kOk) {
    return viewed;
  }
  std::memcpy(into.data(), bytes.data(), into.size());
  return Fetch::kOk;
}

Fetch BlockReader::ask_to_read_in_place(Extent extent) {
  absl::Status status(absl::StatusCode::kInternal, "");
  try {
    status = medium_.on_direct_read(extent);
  } catch (const std::bad_alloc&) {
    return Fetch::kNoMemory;
  }
  health_.note(status);
  return status.ok() ? Fetch::kOk : Fetch::kMediumFailed;
}

Fetch BlockReader::read_padded(uint64_t offset, MutableBytes into) {
  absl::Status status(absl::StatusCode::kInternal, "");
  try {
    status = medium_.read(offset, into);
  } catch (const std::bad_alloc&) {
    return Fetch::kNoMemory;
  }
  health_.note(status);
  if (!status.ok()) return Fetch::kMediumFailed;
  counters_.add(Count::kMediumReadBytes, into.size());
  return Fetch::kOk;
}

}  // namespace nvcache
