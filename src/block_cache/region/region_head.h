// The head of a medium in regions: two copies of the superblock, and the list of removals. Each is
// written to the copy, or the half, that is older, so one of them is always whole.
//
// A copy that cannot be read or written does not matter while the other one is whole. But a copy
// that can be read and not overwritten would be believed some day: it fails the opening.
#pragma once

#include <cstdint>
#include <optional>

#include "block_cache/region/aligned_io.h"
#include "block_cache/region/format.h"
#include "block_cache/region/geometry.h"
#include "block_cache/region/removal_list.h"
#include "medium/medium.h"
#include "nvcache/bytes.h"
#include "nvcache/status.h"

namespace nvcache {

// The list of what was removed before, as far as it counts: that of mutable keys means something
// after a closing only. One that is damaged covers all below `until`. May throw std::bad_alloc.
RemovalList read_removals(const Superblock& superblock, uint64_t until,
                          const RemovalList::Read& read);

// Caller-locked. Functions may throw std::bad_alloc.
class RegionHead {
 public:
  struct Found {
    std::optional<Superblock> superblock;  // the newer copy that is whole
    Status problem;                        // of a copy that is there and cannot be used
  };
  static Found find(Medium& medium, uint32_t unit_bytes);

  // `medium` must outlive it.
  RegionHead(Medium& medium, const Superblock& superblock)
      : medium_(medium),
        superblock_(superblock),
        unit_(superblock.geometry.unit_bytes, superblock.geometry.unit_bytes) {}

  const Superblock& superblock() const { return superblock_; }
  const RemovalList& list() const { return list_; }

  // Reads the list of the opening before.
  void load_list(uint64_t until);
  // Makes this the list, durably. With kAny also in the other half, if its own fails: at a closing
  // no other list counts.
  enum class Half : uint8_t { kOlder, kAny };
  [[nodiscard]] Status store_list(RemovalList list, Half half);

  // Whether a superblock must be durable before anything else happens.
  enum class Sync : uint8_t { kYes, kNo };
  // Writes both copies, one after the other: none is left that calls the medium closed. Without a
  // sync the one from before stays: a loss of power may tear what was written since.
  [[nodiscard]] Status begin(bool immutable_keys, uint32_t regions, Sync sync);
  // Says that all is in order, and the list complete.
  [[nodiscard]] Status close(uint32_t regions);

 private:
  [[nodiscard]] Status store_superblock(Sync sync);
  [[nodiscard]] Status write(uint64_t offset, MutableBytes bytes);
  [[nodiscard]] Status write_list(const RemovalList& list);
  bool is_out_of_the_way(uint64_t copy);
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into);

  Medium& medium_;
  Superblock superblock_;
  AlignedBytes unit_;  // so that no copy is written without memory for the other
  RemovalList list_;
};

}  // namespace nvcache
