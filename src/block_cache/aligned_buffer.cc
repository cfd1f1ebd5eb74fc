#include "block_cache/aligned_buffer.h"

#include <new>

#include "base/assert.h"
#include "base/striped_counters.h"

namespace nvcache {
namespace {

// A pin's handle is a buffer, of which it has a reference. Stateless.
class BufferOwner final : public Pin::Owner {
 public:
  void release(uint64_t handle) override {
    const SharedBuffer last(reinterpret_cast<const AlignedBuffer*>(handle));
  }
};

}  // namespace

AlignedBuffer::~AlignedBuffer() { ::operator delete(data_, std::align_val_t{alignment_bytes_}); }

void AlignedBuffer::drop() const {
  const uint32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
  NVCACHE_ASSERT(before > 0);
  if (before == 1) pool_.give(const_cast<AlignedBuffer*>(this));
}

BufferPool::~BufferPool() {
  for (Part& part : parts_) {
    const MutexLock lock(part.mutex);
    for (size_t i = 0; i < part.count; ++i) delete part.kept[i];
  }
}

// The one that was given back last, of those that fit: the processor's cache may have it still.
MutableBuffer BufferPool::take(size_t size_bytes, size_t unit_bytes) noexcept {
  const size_t alignment_bytes = AlignedBuffer::alignment_bytes(unit_bytes);
  const size_t capacity_bytes =
      (size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  {
    Part& part = parts_[thread_stripe() % kParts];
    const MutexLock lock(part.mutex);
    for (size_t i = part.count; i-- > 0;) {
      AlignedBuffer* const found = part.kept[i];
      if (found->capacity_bytes_ < capacity_bytes || found->capacity_bytes_ > 2 * capacity_bytes ||
          found->alignment_bytes_ < alignment_bytes) {
        continue;
      }
      std::move(&part.kept[i + 1], &part.kept[part.count], &part.kept[i]);
      --part.count;
      part.bytes -= found->capacity_bytes_;
      found->references_.store(1, std::memory_order_relaxed);
      return MutableBuffer(found);
    }
  }
  void* const data =
      ::operator new(capacity_bytes, std::align_val_t{alignment_bytes}, std::nothrow);
  if (data == nullptr) return nullptr;
  auto* const made = new (std::nothrow)
      AlignedBuffer(*this, capacity_bytes, alignment_bytes, static_cast<std::byte*>(data));
  if (made == nullptr) ::operator delete(data, std::align_val_t{alignment_bytes});
  return MutableBuffer(made);
}

// The oldest ones go where there is no room: blocks of another size are read now.
void BufferPool::give(AlignedBuffer* buffer) noexcept {
  std::array<AlignedBuffer*, kKept + 1> leave = {};
  size_t leaving = 0;
  {
    Part& part = parts_[thread_stripe() % kParts];
    const MutexLock lock(part.mutex);
    const size_t bytes = buffer->capacity_bytes_;
    const bool keeps = bytes <= kMostKeptBytes;
    while (keeps && (part.count == kKept || part.bytes + bytes > kMostKeptBytes)) {
      leave[leaving++] = part.kept[0];
      part.bytes -= part.kept[0]->capacity_bytes_;
      std::move(&part.kept[1], &part.kept[part.count], &part.kept[0]);
      --part.count;
    }
    if (keeps) {
      part.kept[part.count++] = buffer;
      part.bytes += bytes;
    } else {
      leave[leaving++] = buffer;
    }
  }
  for (size_t i = 0; i < leaving; ++i) delete leave[i];
}

size_t BufferPool::kept_bytes() const {
  size_t bytes = 0;
  for (const Part& part : parts_) {
    const MutexLock lock(part.mutex);
    bytes += part.bytes;
  }
  return bytes;
}

Pin pin_buffer(SharedBuffer buffer, ByteView bytes) noexcept {
  static BufferOwner owner;
  return Pin(&owner, reinterpret_cast<uint64_t>(buffer.detach()), bytes);
}

}  // namespace nvcache
