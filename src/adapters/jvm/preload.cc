// libnvcache_jvm.so: gives RocksDB inside Java programs a TieredCache as its block cache.
//
//   LD_PRELOAD=libnvcache_jvm.so NVCACHE_TIERED='tiered://?tier=(...)' java ...
//
// RocksDB's library for Java makes its caches by functions that it calls through the dynamic
// linker, and a preloaded definition comes before its own. Which copy of RocksDB called, of which
// version and ABI, tells the return address. Where that is unknown, where the specification is
// wrong or missing, and for caches that hold no blocks, RocksDB's own function makes the cache.
#include <stdlib.h>

#include "adapters/jvm/library.h"

namespace nvcache::jvm {

// A std::shared_ptr<rocksdb::Cache> in the hands of those who neither copy nor destroy one. It is
// returned as one: through memory, because it has a destructor.
struct SharedCache {
  SharedCache() : cache(nullptr), owner(nullptr) {}
  SharedCache(const SharedCache& from) : cache(from.cache), owner(from.owner) {}
  SharedCache& operator=(const SharedCache&) = delete;
  ~SharedCache() {}
  void* cache;
  void* owner;
};

namespace {

const char* specification() {
  const char* const value = getenv("NVCACHE_TIERED");
  return value == nullptr || *value == '\0' ? nullptr : value;
}

SharedCache make(Asked asked, const void* options, const char* name, const void* caller) {
  const char* const spec = specification();
  Library* const library = library_at(caller, spec != nullptr);
  SharedCache made;
  if (spec != nullptr && library != nullptr) {
    if (library->make != nullptr && library->make(asked, options, spec, &made)) return made;
    tell_problem(library);
  }
  using Function = SharedCache (*)(const void*);
  return reinterpret_cast<Function>(original(library, name))(options);
}

}  // namespace

#define NVCACHE_EXPORTED __attribute__((visibility("default"), noinline))

// LRUCacheOptions::MakeSharedCache() const
#define NVCACHE_LRU "_ZNK7rocksdb15LRUCacheOptions15MakeSharedCacheEv"
NVCACHE_EXPORTED SharedCache make_lru_cache(const void* options) asm(NVCACHE_LRU);
SharedCache make_lru_cache(const void* options) {
  return make(Asked::kLruCache, options, NVCACHE_LRU, __builtin_return_address(0));
}

// HyperClockCacheOptions::MakeSharedCache() const
#define NVCACHE_HYPER_CLOCK "_ZNK7rocksdb22HyperClockCacheOptions15MakeSharedCacheEv"
NVCACHE_EXPORTED SharedCache make_hyper_clock_cache(const void* options) asm(NVCACHE_HYPER_CLOCK);
SharedCache make_hyper_clock_cache(const void* options) {
  return make(Asked::kHyperClockCache, options, NVCACHE_HYPER_CLOCK, __builtin_return_address(0));
}

// NewLRUCache(const LRUCacheOptions&), a function up to 8.9. No such version is supported: the call
// makes a line on stderr say so.
#define NVCACHE_OLD_LRU "_ZN7rocksdb11NewLRUCacheERKNS_15LRUCacheOptionsE"
NVCACHE_EXPORTED SharedCache new_lru_cache(const void* options) asm(NVCACHE_OLD_LRU);
SharedCache new_lru_cache(const void* options) {
  return make(Asked::kLruCache, options, NVCACHE_OLD_LRU, __builtin_return_address(0));
}

}  // namespace nvcache::jvm
