// Memory for the bytes of one block, as direct I/O wants it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nvcache/pin.h"

namespace nvcache {

// Aligned for direct I/O, rounded up to whole units of it. Caller-locked.
class AlignedBuffer {
 public:
  // At least a page of 4 KiB; more where a device has larger sectors. Units are powers of two.
  static constexpr size_t kLeastAlignmentBytes = 4096;
  static constexpr size_t alignment_bytes(size_t unit_bytes) {
    return std::max(kLeastAlignmentBytes, unit_bytes);
  }

  // Null if there is no memory.
  static std::shared_ptr<AlignedBuffer> make(size_t size_bytes, size_t unit_bytes = 1) noexcept;

  // Throws std::bad_alloc.
  explicit AlignedBuffer(size_t size_bytes, size_t unit_bytes = 1);
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  const size_t alignment_bytes_;
  std::byte* data_;
};

using MutableBuffer = std::shared_ptr<AlignedBuffer>;
using SharedBuffer = std::shared_ptr<const AlignedBuffer>;

// Pins bytes of a buffer: the pin keeps the buffer alive. Costs an allocation. Empty if there is no
// memory.
Pin pin_buffer(SharedBuffer buffer, ByteView bytes) noexcept;

}  // namespace nvcache
