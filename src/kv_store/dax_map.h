// A mapping of a file on a DAX file system, by libpmem2: stores reach persistent memory
// itself, without the page cache, and are durable once their cache lines are written back.
//
// libpmem2 maps with MAP_SYNC and chooses the instruction: CLWB, CLFLUSHOPT or CLFLUSH, or
// none where the processor's caches are flushed on power failure (eADR). Its environment
// variable PMEM2_FORCE_GRANULARITY=CACHE_LINE makes any file pass for one on DAX: for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nvcache {

// Thread-safe on disjoint extents.
class DaxMap {
 public:
  // Maps the whole of an open file for loads and stores; null if it does not lie on a DAX
  // file system, or if libpmem2 was left out of the build (NVCACHE_PMEM2=OFF).
  static std::unique_ptr<DaxMap> map(int fd);
  ~DaxMap();
  DaxMap(const DaxMap&) = delete;
  DaxMap& operator=(const DaxMap&) = delete;

  std::byte* base() const;
  // Starts writing the lines of a range back; after drain() they are durable.
  void flush(uint64_t offset, uint64_t size_bytes);
  void drain();

 private:
  struct Library;
  explicit DaxMap(std::unique_ptr<Library> library);

  const std::unique_ptr<Library> library_;
};

}  // namespace nvcache
