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

AlignedBuffer::AlignedBuffer(size_t size_bytes)
    : data_(static_cast<std::byte*>(
          ::operator new((size_bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes,
                         std::align_val_t{kAlignmentBytes}))) {}

AlignedBuffer::~AlignedBuffer() { ::operator delete(data_, std::align_val_t{kAlignmentBytes}); }

Pin pin_buffer(SharedBuffer buffer, uint32_t size_bytes) {
  static BufferOwner owner;
  const ByteView bytes(buffer->data(), size_bytes);
  auto* const held = new SharedBuffer(std::move(buffer));
  return Pin(&owner, reinterpret_cast<uint64_t>(held), bytes);
  // (The analyzer loses sight of buffers that pins own by handle.)
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace nvcache
