// Memory for the bytes of one block, as direct I/O wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nvcache/pin.h"

namespace nvcache {

// Aligned for direct I/O, rounded up to whole 4 KiB. Caller-locked.
class AlignedBuffer {
 public:
  static constexpr size_t kAlignmentBytes = 4096;

  explicit AlignedBuffer(size_t size_bytes);
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

using SharedBuffer = std::shared_ptr<const AlignedBuffer>;

// Pins the first bytes of a buffer: the pin keeps the buffer alive. Costs an allocation.
Pin pin_buffer(SharedBuffer buffer, uint32_t size_bytes);

}  // namespace nvcache
