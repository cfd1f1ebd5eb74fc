// Zeroed memory that a device can read into and write from.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "nvcache/bytes.h"

namespace nvcache {

// Caller-locked.
class AlignedBytes {
 public:
  // Throws std::bad_alloc. `alignment_bytes` is a power of two.
  AlignedBytes(size_t size_bytes, size_t alignment_bytes)
      : alignment_{alignment_bytes},
        size_bytes_(size_bytes),
        data_(static_cast<std::byte*>(::operator new(size_bytes, alignment_))) {
    std::memset(data_, 0, size_bytes);
  }
  ~AlignedBytes() { ::operator delete(data_, alignment_); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  MutableBytes span() { return {data_, size_bytes_}; }

 private:
  const std::align_val_t alignment_;
  const size_t size_bytes_;
  std::byte* const data_;
};

}  // namespace nvcache
