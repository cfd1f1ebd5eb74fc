#include "block_cache/io/block_reader.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/assert.h"

namespace nvcache {

BlockReader::BlockReader(Medium& medium, MediumHealth& health, Counters& counters, Reads reads)
    : medium_(medium),
      health_(health),
      counters_(counters),
      direct_(reads == Reads::kByCopy ? ByteView{} : medium.direct()),
      reads_(reads),
      unit_bytes_(medium.traits().io_granularity_bytes) {}

Fetch BlockReader::view_through_medium(Extent extent, SharedBuffer* copy, ByteView* bytes) {
  if (reads_ != Reads::kByCopy) {
    *bytes = peek(extent);
    return ask_to_read_in_place(extent);
  }
  const uint64_t lead_bytes = extent.offset % unit_bytes_;
  const uint32_t covered_bytes = padded(lead_bytes + extent.size_bytes);
  MutableBuffer buffer = make_buffer(covered_bytes);
  if (buffer == nullptr) return Fetch::kNoMemory;
  const MutableBytes units(buffer->data(), covered_bytes);
  const MutableBytes block = units.subspan(lead_bytes, extent.size_bytes);
  *bytes = block;
  *copy = std::move(buffer);
  if (copy_pending(extent.offset, block)) return Fetch::kOk;
  return read_units(extent.offset - lead_bytes, units);
}

Fetch BlockReader::read_through_medium(Extent extent, MutableBytes into) {
  if (reads_ != Reads::kByCopy) {
    if (const Fetch asked = ask_to_read_in_place(extent); asked != Fetch::kOk) return asked;
    std::memcpy(into.data(), peek(extent).data(), into.size());
    return Fetch::kOk;
  }
  if (copy_pending(extent.offset, into)) return Fetch::kOk;
  if (fits_device(extent, into)) return read_units(extent.offset, into);
  SharedBuffer copy;
  ByteView bytes;
  if (const Fetch viewed = view_through_medium(extent, &copy, &bytes); viewed != Fetch::kOk) {
    return viewed;
  }
  std::memcpy(into.data(), bytes.data(), into.size());
  return Fetch::kOk;
}

bool BlockReader::fits_device(Extent extent, MutableBytes into) const {
  return extent.offset % unit_bytes_ == 0 && into.size() % unit_bytes_ == 0 &&
         (unit_bytes_ == 1 ||
          reinterpret_cast<uintptr_t>(into.data()) % AlignedBuffer::alignment_bytes(unit_bytes_) ==
              0);
}

Fetch BlockReader::begin(Extent extent, std::optional<MutableBytes> into, Copy* copy,
                         QueuedRead* read, bool* done) {
  NVCACHE_ASSERT(reads_ == Reads::kByCopy);
  *done = false;
  if (into && fits_device(extent, *into)) {
    copy->block = *into;
    read->offset = extent.offset;
    read->into = *into;
  } else {
    const uint64_t lead_bytes = extent.offset % unit_bytes_;
    const uint32_t covered_bytes = padded(lead_bytes + extent.size_bytes);
    copy->buffer = make_buffer(covered_bytes);
    if (copy->buffer == nullptr) return Fetch::kNoMemory;
    read->offset = extent.offset - lead_bytes;
    read->into = {copy->buffer->data(), covered_bytes};
    copy->block = read->into.subspan(lead_bytes, extent.size_bytes);
  }
  *done = copy_pending(extent.offset, copy->block);
  return *done || health_.may(MediumHealth::Kind::kRead) ? Fetch::kOk : Fetch::kOff;
}

Fetch BlockReader::end(const QueuedRead& read) {
  health_.note(MediumHealth::Kind::kRead, read.status);
  if (!read.status.ok()) return Fetch::kMediumFailed;
  counters_.add(Count::kMediumReadBytes, read.into.size());
  return Fetch::kOk;
}

void BlockReader::probe(uint64_t offset) {
  const uint64_t at = offset / unit_bytes_ * unit_bytes_;
  if (reads_ != Reads::kByCopy) {
    (void)ask_medium({at, unit_bytes_});
  } else if (const MutableBuffer unit = make_buffer(unit_bytes_); unit != nullptr) {
    (void)read_medium(at, {unit->data(), unit_bytes_});
  }
}

Fetch BlockReader::ask_to_read_in_place(Extent extent) {
  return health_.may(MediumHealth::Kind::kRead) ? ask_medium(extent) : Fetch::kOff;
}

Fetch BlockReader::ask_medium(Extent extent) {
  Status status(StatusCode::kInternal, "");
  try {
    status = medium_.on_direct_read(extent);
  } catch (const std::bad_alloc&) {
    return Fetch::kNoMemory;
  }
  health_.note(MediumHealth::Kind::kRead, status);
  return status.ok() ? Fetch::kOk : Fetch::kMediumFailed;
}

Fetch BlockReader::read_units(uint64_t offset, MutableBytes into) {
  return health_.may(MediumHealth::Kind::kRead) ? read_medium(offset, into) : Fetch::kOff;
}

Fetch BlockReader::read_medium(uint64_t offset, MutableBytes into) {
  Status status(StatusCode::kInternal, "");
  try {
    status = medium_.read(offset, into);
  } catch (const std::bad_alloc&) {
    return Fetch::kNoMemory;
  }
  health_.note(MediumHealth::Kind::kRead, status);
  if (!status.ok()) return Fetch::kMediumFailed;
  counters_.add(Count::kMediumReadBytes, into.size());
  return Fetch::kOk;
}

}  // namespace nvcache
