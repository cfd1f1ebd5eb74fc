// How a cache reaches the bytes of its blocks: in place where the medium is byte-addressable, else
// by a copy. Bytes that are not on the medium yet are copied from where they wait. Nothing above
// this needs to know which.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "block_cache/api/counters.h"
#include "block_cache/io/aligned_buffer.h"
#include "block_cache/io/medium_health.h"
#include "medium/medium.h"
#include "medium/read_queue.h"
#include "nvcache/bytes.h"

namespace nvcache {

// The outcome of a read. kOff: the medium is switched off for reads, and was not asked.
enum class Fetch : uint8_t { kOk, kMediumFailed, kNoMemory, kOff };

// Thread-safe, and throws nothing. Extents lie within the medium, and their owner keeps them from
// being reused. Each access of the medium asks the MediumHealth that was given, and reports to it:
// where a probe is due, it is the probe. Must be outlived by it and the medium.
class BlockReader {
 public:
  // `reads`: as the medium's traits have it, or by a copy all the same; kInPlace and
  // kInPlaceChecked stand for each other, as the caller checks what it reads or not.
  BlockReader(Medium& medium, MediumHealth& health, Counters& counters, Reads reads);

  // Copies bytes that are not on the medium yet, and says whether it did; asked before each read
  // that is not in place. Give it before the first read.
  using Pending = std::function<bool(uint64_t offset, MutableBytes into)>;
  void set_pending(Pending pending) { pending_ = std::move(pending); }

  // kByCopy: view() gives a copy; else the medium's own bytes. Below kInPlaceAsked peek() may stand
  // for view(), and with kInPlace there is nothing to check, too.
  Reads reads() const { return reads_; }
  ByteView peek(Extent extent) const { return {direct_.data() + extent.offset, extent.size_bytes}; }

  // *bytes: the bytes in place, or a copy that `*copy` keeps.
  [[nodiscard]] Fetch view(Extent extent, SharedBuffer* copy, ByteView* bytes) {
    if (reads_ >= Reads::kInPlaceAsked) return view_through_medium(extent, copy, bytes);
    *bytes = peek(extent);
    return Fetch::kOk;
  }
  // Copies the extent into `into`, which has its size. A device is read in whole units, those that
  // cover the extent; the bytes take no detour if extent and `into` are aligned and whole units.
  [[nodiscard]] Fetch read(Extent extent, MutableBytes into) {
    if (reads_ >= Reads::kInPlaceAsked) return read_through_medium(extent, into);
    std::memcpy(into.data(), direct_.data() + extent.offset, into.size());
    return Fetch::kOk;
  }

  // read() or view() in two halves, for blocks that are read side by side; only with kByCopy.
  struct Copy {
    MutableBuffer buffer;  // null if the block goes straight into the caller's memory
    MutableBytes block;    // its bytes, there or in the buffer
  };
  // kOk: `*read` is to be done, or, with `*done`, the bytes were not on the medium yet and are
  // there. `into` has the extent's size.
  [[nodiscard]] Fetch begin(Extent extent, std::optional<MutableBytes> into, Copy* copy,
                            QueuedRead* read, bool* done);
  // Takes the result of the read.
  [[nodiscard]] Fetch end(const QueuedRead& read);

  // Reads a unit at that place, or asks whether it could be read: a probe that was claimed.
  void probe(uint64_t offset);

  // The bytes that the medium reads or writes for a block of this size.
  uint32_t padded(uint64_t size_bytes) const {
    return static_cast<uint32_t>((size_bytes + unit_bytes_ - 1) / unit_bytes_ * unit_bytes_);
  }
  // A buffer for that many bytes, padded, that the medium can read into and write from; null if
  // there is no memory. The reader must outlive it.
  MutableBuffer make_buffer(uint64_t size_bytes) const {
    return buffers_.take(padded(size_bytes), unit_bytes_);
  }

 private:
  Fetch view_through_medium(Extent extent, SharedBuffer* copy, ByteView* bytes);
  Fetch read_through_medium(Extent extent, MutableBytes into);
  Fetch ask_to_read_in_place(Extent extent);
  Fetch read_units(uint64_t offset, MutableBytes into);
  Fetch ask_medium(Extent extent);
  Fetch read_medium(uint64_t offset, MutableBytes into);
  bool fits_device(Extent extent, MutableBytes into) const;
  bool copy_pending(uint64_t offset, MutableBytes into) const {
    return pending_ != nullptr && pending_(offset, into);
  }

  Medium& medium_;
  MediumHealth& health_;
  Counters& counters_;
  const ByteView direct_;
  const Reads reads_;
  const uint64_t unit_bytes_;  // of I/O
  Pending pending_;
  mutable BufferPool buffers_;
};

}  // namespace nvcache
