// Files on a DAX file system, which has no page cache: which they are, and a mapping of one for
// stores, by libpmem2. Stores go to persistent memory; they are durable once their cache lines are
// written back.
//
// libpmem2 maps with MAP_SYNC and chooses the instruction: CLWB, CLFLUSHOPT or CLFLUSH, or
// none if the processor flushes its caches on power failure (eADR). The environment
// variable PMEM2_FORCE_GRANULARITY=CACHE_LINE lets tests use any file as if it were on DAX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nvcache/status_or.h"

namespace nvcache {

// Whether an open file lies on a DAX file system, as the kernel says: enough for one that only
// reads in place. DaxMap::map() asks libpmem2, which must also know how to write lines back, and
// which tests can force.
bool is_on_dax(int fd);

// Thread-safe on disjoint extents.
class DaxMap {
 public:
  // Maps a whole open file for loads and stores. Null if it is not on a DAX file system.
  // FAILED_PRECONDITION if it is, and libpmem2 is not there (medium/pmem2.h).
  [[nodiscard]] static StatusOr<std::unique_ptr<DaxMap>> map(int fd);
  ~DaxMap();
  DaxMap(const DaxMap&) = delete;
  DaxMap& operator=(const DaxMap&) = delete;

  std::byte* base() const;
  // Starts writing the lines of a range back; after drain() they are durable.
  void flush(uint64_t offset, uint64_t size_bytes);
  void drain();

 private:
  struct Mapping;
  explicit DaxMap(std::unique_ptr<Mapping> mapping);

  const std::unique_ptr<Mapping> mapping_;
};

}  // namespace nvcache
