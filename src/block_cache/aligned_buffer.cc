#include "block_cache/aligned_buffer.h"

#include <new>
#include <utility>

namespace nvcache {
namespace {

// A pin's handle is a SharedBuffer on the heap. Stateless.
class BufferOwner final : public Pin::Owner {
 public:
  void release(uint64_t handle) override { delete reinterpret_cast<SharedBuffer*>(handle); }
};

}  // namespace

MutableBuffer AlignedBuffer::make(size_t size_bytes, size_t unit_bytes) noexcept {
  try {
    return std::make_shared<AlignedBuffer>(size_bytes, unit_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

AlignedBuffer::AlignedBuffer(size_t size_bytes, size_t unit_bytes)
    : alignment_bytes_(alignment_bytes(unit_bytes)),
      data_(static_cast<std::byte*>(
          ::operator new((size_bytes + alignment_bytes_ - 1) / alignment_bytes_ * alignment_bytes_,
                         std::align_val_t{alignment_bytes_}))) {}

AlignedBuffer::~AlignedBuffer() { ::operator delete(data_, std::align_val_t{alignment_bytes_}); }

Pin pin_buffer(SharedBuffer buffer, ByteView bytes) noexcept {
  static BufferOwner owner;
  auto* const held = new (std::nothrow) SharedBuffer(std::move(buffer));
  if (held == nullptr) return {};
  return Pin(&owner, reinterpret_cast<uint64_t>(held), bytes);
  // (The analyzer loses sight of buffers that pins own by handle.)
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace nvcache
