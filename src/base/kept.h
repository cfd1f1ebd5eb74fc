// Objects that are costly to make, kept for the next user when the last one is done with them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace nvcache {

// Thread-safe, without locks. Keeps at most `most`; others are destroyed.
template <typename T, size_t most = 16>
class Kept {
 public:
  Kept() = default;
  ~Kept() {
    for (auto& place : kept_) delete place.load();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // Null if there is none.
  std::unique_ptr<T> take() noexcept {
    for (auto& place : kept_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      T* const taken = place.exchange(nullptr, std::memory_order_acquire);
      if (taken != nullptr) return std::unique_ptr<T>(taken);
    }
    return nullptr;
  }

  void give(std::unique_ptr<T> object) noexcept {
    for (auto& place : kept_) {
      T* expected = nullptr;
      if (place.compare_exchange_strong(expected, object.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        (void)object.release();
        return;
      }
    }
  }

 private:
  std::array<std::atomic<T*>, most> kept_{};
};

}  // namespace nvcache
