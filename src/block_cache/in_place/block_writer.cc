#include "block_cache/in_place/block_writer.h"

namespace nvcache {

Status BlockWriter::write(Extent extent, ByteView bytes, bool probe) noexcept {
  // A waiting block is lost when the medium is switched off, or its place is set aside.
  const bool asks = probe || (!parts_.health.off(MediumHealth::Kind::kWrite) &&
                              !parts_.space.is_set_aside(extent));
  return asks ? write_now(extent, bytes) : Status(kNotAsked, "");
}

Status BlockWriter::write_now(Extent extent, ByteView bytes) noexcept {
  Status status = write_medium(extent.offset, bytes);
  parts_.probe.note_write(extent.size_bytes, status);
  if (!status.ok()) {
    parts_.space.set_aside(extent, parts_.clock.now_ns());
    parts_.probe.watch();
  }
  return status;
}

// Without a message: that would be an allocation.
Status BlockWriter::write_medium(uint64_t offset, ByteView bytes) noexcept {
  try {
    return parts_.medium.write(offset, bytes);
  } catch (...) {
    return Status(StatusCode::kInternal, "");
  }
}

}  // namespace nvcache
