#include "block_cache/io/aligned_buffer.h"

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
    for (auto& place : part.kept) delete place.load();
  }
}

// None for those that are too large to keep.
std::span<std::atomic<AlignedBuffer*>> BufferPool::places_for(size_t capacity_bytes) noexcept {
  const std::span all(parts_[thread_stripe() % kParts].kept);
  if (capacity_bytes <= kSmallBytes) return all.first(kSmall);
  return capacity_bytes <= kLargeBytes ? all.last(kLarge) : all.first(0);
}

MutableBuffer BufferPool::take(size_t size_bytes, size_t unit_bytes) noexcept {
  const size_t alignment_bytes = AlignedBuffer::alignment_bytes(unit_bytes);
  const size_t capacity_bytes =
      (size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  for (auto& place : places_for(capacity_bytes)) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    AlignedBuffer* const found = place.exchange(nullptr, std::memory_order_acquire);
    if (found == nullptr) continue;
    if (found->capacity_bytes_ >= capacity_bytes && found->capacity_bytes_ <= 2 * capacity_bytes &&
        found->alignment_bytes_ >= alignment_bytes) {
      found->references_.store(1, std::memory_order_relaxed);
      return MutableBuffer(found);
    }
    AlignedBuffer* empty = nullptr;
    if (!place.compare_exchange_strong(empty, found, std::memory_order_release)) delete found;
  }
  void* const data =
      ::operator new(capacity_bytes, std::align_val_t{alignment_bytes}, std::nothrow);
  if (data == nullptr) return nullptr;
  auto* const made = new (std::nothrow)
      AlignedBuffer(*this, capacity_bytes, alignment_bytes, static_cast<std::byte*>(data));
  if (made == nullptr) ::operator delete(data, std::align_val_t{alignment_bytes});
  return MutableBuffer(made);
}

// The first place that is empty; if none is, that of one that goes: blocks of another size may be
// read now.
void BufferPool::give(AlignedBuffer* buffer) noexcept {
  const auto places = places_for(buffer->capacity_bytes_);
  for (auto& place : places) {
    AlignedBuffer* empty = place.load(std::memory_order_relaxed);
    if (empty == nullptr &&
        place.compare_exchange_strong(empty, buffer, std::memory_order_release)) {
      return;
    }
  }
  if (!places.empty()) buffer = places.back().exchange(buffer, std::memory_order_acq_rel);
  delete buffer;
}

size_t BufferPool::kept_bytes() const {
  size_t bytes = 0;
  for (const Part& part : parts_) {
    for (const auto& place : part.kept) {
      const AlignedBuffer* const kept = place.load();
      if (kept != nullptr) bytes += kept->capacity_bytes_;
    }
  }
  return bytes;
}

Pin pin_buffer(SharedBuffer buffer, ByteView bytes) noexcept {
  static BufferOwner owner;
  return Pin(&owner, reinterpret_cast<uint64_t>(buffer.detach()), bytes);
}

}  // namespace nvcache
