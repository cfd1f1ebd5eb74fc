// The code for one version of RocksDB, as the preloaded library sees it: C functions, found by
// name. Both sides are installed together.
#pragma once

#include <cstdint>

#include "adapters/jvm/plain_span.h"
#include "adapters/jvm/problem.h"

namespace nvcache::jvm {

struct Boundary;  // boundary.h, which the preloaded library need not know
// The one symbol of libnvcache_jvm_core.so: `const Boundary* nvcache_jvm_boundary()`.
inline constexpr const char* kBoundarySymbol = "nvcache_jvm_boundary";

// The function that a program called to get a block cache.
enum class Asked { kLruCache, kHyperClockCache };

// Binds what the code needs of RocksDB to the library `handle` (of dlopen), which is of that
// version. Null if all is there, else the name of what is missing, or what else is wrong. Call it
// once, before the other.
using Bind = const char* (*)(void* handle, const Boundary* boundary, uint32_t major,
                             uint32_t minor);
inline constexpr const char* kBindSymbol = "nvcache_jvm_bind";

// `options`: the LRUCacheOptions or HyperClockCacheOptions. `cache`: an empty
// std::shared_ptr<rocksdb::Cache>. False: RocksDB's own cache goes on. Thread-safe.
using Make = bool (*)(Asked asked, const void* options, const char* spec, void* cache);
inline constexpr const char* kMakeSymbol = "nvcache_jvm_make";

// For those who ask for the cache themselves. `cache`: an empty std::shared_ptr<rocksdb::Cache>.
// False: `problem` was told why. Thread-safe.
using OpenBySpec = bool (*)(PlainText spec, const Problem& problem, void* cache);
inline constexpr const char* kOpenBySpecSymbol = "nvcache_jvm_open_by_spec";

// Ends a std::shared_ptr<rocksdb::Cache>; its memory stays the caller's. Thread-safe.
using Close = void (*)(void* cache);
inline constexpr const char* kCloseSymbol = "nvcache_jvm_close";

}  // namespace nvcache::jvm
