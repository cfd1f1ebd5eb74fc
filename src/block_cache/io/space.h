// Where blocks lie on the medium, as the shards of a cache see it: a block's place is a number of
// grains, counted from the first one. Each space hands places out in its own way.
#pragma once

#include <cstdint>

namespace nvcache {

// Thread-safe.
class Space {
 public:
  // `first_byte`: where the first grain lies on the medium.
  explicit Space(uint32_t grain_bytes, uint64_t first_byte = 0)
      : grain_bytes_(grain_bytes), first_byte_(first_byte) {}
  virtual ~Space() = default;
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  // Whether a block of that size could find room if all others left. Lock-free.
  virtual bool can_hold(uint32_t size_bytes) const = 0;

  // Whether a block of that size would find room at this moment, with no block evicted. Lock-free.
  virtual bool has_room(uint32_t size_bytes) const = 0;

  // Frees the place of a block.
  virtual void release(uint64_t offset_grains, uint32_t size_bytes) = 0;

  virtual uint64_t used_bytes() const = 0;      // by blocks, padding included
  virtual uint64_t limit_bytes() const = 0;     // usable
  virtual uint64_t metadata_bytes() const = 0;  // of DRAM

  uint32_t grain_bytes() const { return grain_bytes_; }
  uint64_t to_bytes(uint64_t offset_grains) const {
    return first_byte_ + offset_grains * grain_bytes_;
  }
  uint32_t to_grains(uint32_t size_bytes) const {
    return (size_bytes + grain_bytes_ - 1) / grain_bytes_;
  }

 private:
  const uint32_t grain_bytes_;
  const uint64_t first_byte_;
};

}  // namespace nvcache
