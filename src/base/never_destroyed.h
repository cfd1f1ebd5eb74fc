// An object that lives in static storage and is never destroyed: threads that outlive
// main() may use it, and a library that is unloaded leaks nothing from the heap.
#pragma once

#include <cstddef>
#include <new>

namespace nvcache {

// Use as a function's static variable.
template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() { new (storage_) T(); }
  T& operator*() { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace nvcache
