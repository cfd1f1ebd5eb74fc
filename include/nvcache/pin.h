// Pin: keeps bytes of a cache valid and where they are, for as long as a reader needs them.
// BlockCache and KvStore hand them out.
#pragma once

#include <cstdint>
#include <utility>

#include "nvcache/bytes.h"

namespace nvcache {

// Movable. Release it soon: the cache cannot reuse the space before. Any thread may release it, but
// not two at once, and before the cache is destroyed. Costs one virtual call.
class Pin {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void release(uint64_t handle) = 0;
  };

  Pin() = default;
  Pin(Owner* owner, uint64_t handle, ByteView bytes)
      : owner_(owner), handle_(handle), bytes_(bytes) {}
  Pin(Pin&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)),
        handle_(other.handle_),
        bytes_(std::exchange(other.bytes_, {})) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(handle_, other.handle_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Pin() {
    if (owner_ != nullptr) owner_->release(handle_);
  }

  explicit operator bool() const { return owner_ != nullptr; }
  ByteView bytes() const { return bytes_; }

  // Hands the duty to call owner->release(handle) to the caller.
  std::pair<Owner*, uint64_t> detach() && { return {std::exchange(owner_, nullptr), handle_}; }

 private:
  Owner* owner_ = nullptr;
  uint64_t handle_ = 0;
  ByteView bytes_;
};

}  // namespace nvcache
