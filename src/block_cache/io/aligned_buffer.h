// Memory for the bytes of one block, as direct I/O wants it, and a pool of it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "nvcache/pin.h"

namespace nvcache {

class BufferPool;

// Aligned for direct I/O, rounded up to whole units of it. BufferRefs share it; the last one gives
// it back to its pool. The bytes are caller-locked.
class AlignedBuffer {
 public:
  // At least a page of 4 KiB; more where a device has larger sectors. Units are powers of two.
  static constexpr size_t kLeastAlignmentBytes = 4096;
  static constexpr size_t alignment_bytes(size_t unit_bytes) {
    return std::max(kLeastAlignmentBytes, unit_bytes);
  }

  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  template <typename Buffer>
  friend class BufferRef;
  friend class BufferPool;

  AlignedBuffer(BufferPool& pool, size_t capacity_bytes, size_t alignment_bytes, std::byte* data)
      : pool_(pool),
        capacity_bytes_(capacity_bytes),
        alignment_bytes_(alignment_bytes),
        data_(data) {}
  ~AlignedBuffer();
  void drop() const;

  BufferPool& pool_;
  const size_t capacity_bytes_;
  const size_t alignment_bytes_;
  std::byte* const data_;
  mutable std::atomic<uint32_t> references_{1};
};

// A reference to a buffer, or null. Threads may share a buffer, but not a reference.
template <typename Buffer>
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(std::nullptr_t) {}
  // Takes a reference over.
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {}
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(other.detach()) {}
  template <typename Other>
  BufferRef(BufferRef<Other>&& other) noexcept : buffer_(other.detach()) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->drop();
  }

  Buffer* operator->() const { return buffer_; }
  bool operator==(std::nullptr_t) const { return buffer_ == nullptr; }
  // Hands the reference to the caller.
  Buffer* detach() { return std::exchange(buffer_, nullptr); }

 private:
  Buffer* buffer_ = nullptr;
};

using MutableBuffer = BufferRef<AlignedBuffer>;
using SharedBuffer = BufferRef<const AlignedBuffer>;

// Buffers, kept for the next ones when they are released: a block that is read from a device costs
// no allocation.
//
// Thread-safe without locks, and throws nothing. Must outlive its buffers. Keeps for each of kParts
// groups of threads kSmall buffers of at most kSmallBytes and kLarge of at most kLargeBytes, in all
// 19 MiB, and no more than threads had at a time. A buffer is at most twice as large as what it was
// taken for.
class BufferPool {
 public:
  static constexpr size_t kParts = 8;
  static constexpr size_t kSmall = 6;
  static constexpr size_t kSmallBytes = size_t{64} << 10;
  static constexpr size_t kLarge = 2;
  static constexpr size_t kLargeBytes = size_t{1} << 20;

  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Null if there is no memory.
  MutableBuffer take(size_t size_bytes, size_t unit_bytes = 1) noexcept;
  // While no other thread uses it. For tests.
  size_t kept_bytes() const;

 private:
  friend class AlignedBuffer;

  // A thread that exchanges a buffer for null has it to itself. The small ones are first.
  struct alignas(64) Part {
    std::array<std::atomic<AlignedBuffer*>, kSmall + kLarge> kept{};
  };

  std::span<std::atomic<AlignedBuffer*>> places_for(size_t capacity_bytes) noexcept;
  void give(AlignedBuffer* buffer) noexcept;

  std::array<Part, kParts> parts_;
};

// Pins bytes of a buffer: the pin keeps the buffer.
Pin pin_buffer(SharedBuffer buffer, ByteView bytes) noexcept;

}  // namespace nvcache
