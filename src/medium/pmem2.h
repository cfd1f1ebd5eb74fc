// libpmem2, as far as a DAX file needs it. It is loaded when the first such file is opened, and not
// before: by it a program gets libcrypto, libudev and six more libraries that only those need who
// have persistent memory.
//
// The functions are those of its C interface, version 1 (libpmem2.so.1); see libpmem2(7).
// Thread-safe.
#pragma once

#include <cstddef>

#include "nvcache/status_or.h"

struct pmem2_config;
struct pmem2_source;
struct pmem2_map;

namespace nvcache {

struct Pmem2 {
  static constexpr int kCacheLine = 1;  // PMEM2_GRANULARITY_CACHE_LINE

  using Flush = void (*)(const void* at, size_t bytes);
  using Drain = void (*)();

  // Loads the library, once, for as long as the process runs. FAILED_PRECONDITION, with what to
  // install, if there is none.
  [[nodiscard]] static StatusOr<const Pmem2*> get();
  // From a file of another name. For tests.
  [[nodiscard]] static StatusOr<Pmem2> load(const char* file);

  int (*config_new)(pmem2_config** config) = nullptr;
  int (*config_delete)(pmem2_config** config) = nullptr;
  int (*config_set_required_store_granularity)(pmem2_config* config, int granularity) = nullptr;
  int (*source_from_fd)(pmem2_source** source, int fd) = nullptr;
  int (*source_delete)(pmem2_source** source) = nullptr;
  int (*map_new)(pmem2_map** map, const pmem2_config* config, const pmem2_source* source) = nullptr;
  int (*map_delete)(pmem2_map** map) = nullptr;
  void* (*map_get_address)(pmem2_map* map) = nullptr;
  Flush (*get_flush_fn)(pmem2_map* map) = nullptr;
  Drain (*get_drain_fn)(pmem2_map* map) = nullptr;
};

}  // namespace nvcache
