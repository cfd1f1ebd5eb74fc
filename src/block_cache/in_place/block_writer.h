// Writes blocks in place, for a put or for the write queue, and sees to what fails: the health of
// the medium, and the place that did not take its write.
#pragma once

#include "base/clock.h"
#include "block_cache/in_place/slab_space.h"
#include "block_cache/io/medium_health.h"
#include "block_cache/io/medium_probe.h"
#include "medium/medium.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"

namespace nvcache {

// Thread-safe on disjoint extents. REQUIRES: the arguments outlive it.
class BlockWriter {
 public:
  struct Parts {
    Medium& medium;
    Clock& clock;
    MediumHealth& health;
    MediumProbe& probe;
    SlabSpace& space;
  };
  static constexpr StatusCode kNotAsked = StatusCode::kCancelled;

  explicit BlockWriter(const Parts& parts) : parts_(parts) {}

  // kNotAsked: the medium is switched off, or the extent is set aside. A failure of the medium sets
  // the extent aside: the caller releases it afterwards, not before, or another put could be given
  // it in between. `probe`: of a medium that is switched off. An exception of the medium is a
  // failure: the block's slot must not stay filling.
  [[nodiscard]] Status write(Extent extent, ByteView bytes, bool probe) noexcept;
  // Likewise, where the caller asks whether it may.
  [[nodiscard]] Status write_now(Extent extent, ByteView bytes) noexcept;

 private:
  Status write_medium(uint64_t offset, ByteView bytes) noexcept;

  const Parts parts_;
};

}  // namespace nvcache
