// One buffer for each thread, as large as the thread ever asked for. It saves an allocation
// per block where bytes only pass through.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "nvcache/bytes.h"

namespace nvcache {

// Empty if there is no memory. Valid until the thread's next call.
inline MutableBytes thread_scratch(size_t size_bytes) {
  thread_local std::unique_ptr<std::byte[]> buffer;
  thread_local size_t capacity_bytes = 0;
  if (size_bytes > capacity_bytes) {
    buffer.reset(new (std::nothrow) std::byte[size_bytes]);
    capacity_bytes = buffer == nullptr ? 0 : size_bytes;
  }
  return buffer == nullptr ? MutableBytes() : MutableBytes(buffer.get(), size_bytes);
}

}  // namespace nvcache
