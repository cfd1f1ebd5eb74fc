// Preloaded for RocksDB's blob_source_test: with glibc the
// malloc_usable_size() of equal requests differs by 16 bytes now and then, with the state of the
// heap. RocksDB charges its caches that size. The test expects equal blobs to have equal
// charges, as with jemalloc's size classes. A blob's object takes a chunk of 48 bytes, or 64:
// small classes are 32 bytes apart with both in one, those of large blocks 1 KiB.
#include <dlfcn.h>

#include <cstddef>

extern "C" std::size_t malloc_usable_size(void* block) noexcept {
  using Usable = std::size_t (*)(void*);
  static const auto usable = reinterpret_cast<Usable>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  constexpr std::size_t kHeaderBytes = 8;  // glibc's, before each block
  const std::size_t taken_bytes = usable(block) + kHeaderBytes;
  if (taken_bytes < 16384) return (taken_bytes - 16) / 32 * 32 + 16 - kHeaderBytes;
  return taken_bytes / 1024 * 1024 - kHeaderBytes;
}
