// An array whose address space is reserved at once and whose memory is taken
// page by page when it is first touched. Elements start as zero bytes and never
// move, so readers need no lock to index it while it fills up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace nvcache {

// Reserves address space without memory behind it (MAP_NORESERVE), zero filled.
// Throws std::bad_alloc if the system refuses the address space, as operator new does.
// Huge pages make random accesses to a large, densely used range faster, and take
// memory in steps of 2 MiB. A device takes a write of 1 MiB from them as one piece instead of 256.
enum class Pages { kUsual, kHuge, kHugeIfLarge };
constexpr size_t kHugePageBytes = size_t{2} << 20;
void* reserve_zeroed(size_t size_bytes, Pages pages);
void release_reserved(void* start, size_t size_bytes);
// Takes the memory behind a part now, in one call, and in huge pages where whole ones lie in it: a
// tenth of the time of the first touch of each page. It includes all of its first and last page.
// Takes nothing where the system cannot (Linux before 5.14) or has no memory.
void populate_reserved(void* start, size_t size_bytes);
// Gives the memory behind a part back. The part then reads as zeros, for concurrent
// readers too. It must start at a page (4 KiB), and includes all of its last page.
void discard_reserved(void* start, size_t size_bytes);

// Not copyable; moving leaves the source empty. As thread-safe as plain memory.
template <typename T>
class ReservedArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  ReservedArray() = default;
  explicit ReservedArray(size_t count, Pages pages = Pages::kUsual) : count_(count) {
    if (count > 0) data_ = static_cast<T*>(reserve_zeroed(count * sizeof(T), pages));
  }
  ReservedArray(ReservedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  ReservedArray& operator=(ReservedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~ReservedArray() {
    if (data_ != nullptr) release_reserved(data_, count_ * sizeof(T));
  }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace nvcache
