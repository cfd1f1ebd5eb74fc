// What lies between libnvcache and the code for one version of RocksDB: a table of C functions.
//
// RocksDB inside a Java program may be compiled for the old ABI of libstdc++, in which a
// std::string has another layout. So no string and no container crosses here, and nothing that is
// made of them: views, plain structs and function pointers alone. Both sides are installed
// together; `version` finds a mistake in that.
//
// Two libraries include this header and call each other through it:
//   libnvcache_jvm_core.so       nvcache itself: fills the table (core.cc)
//   libnvcache_jvm_<stage>.so    TieredBlockCache for one version and ABI of RocksDB (stage.cc)
//
// All functions are thread-safe and throw nothing. The cache calls a Codec with no lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "adapters/jvm/problem.h"
#include "adapters/rocksdb/program_cache.h"
#include "nvcache/bytes.h"
#include "nvcache/tiered_cache.h"

namespace nvcache::jvm {

inline constexpr uint32_t kBoundaryVersion = 3;

// An engine's ObjectCodec.
struct Codec {
  void* engine = nullptr;
  size_t (*saved_bytes)(void* engine, const Object& object) = nullptr;
  bool (*save)(void* engine, const Object& object, MutableBytes into) = nullptr;
  void (*destroy)(void* engine, std::string_view key, const Object& object) = nullptr;
  void (*end)(void* engine) = nullptr;  // of the codec itself, once, by the cache
  uint64_t form = 0;
};

// A MakeObject.
struct Maker {
  const void* maker = nullptr;
  bool (*make)(const void* maker, ByteView saved, Object* made) = nullptr;
};

struct Visitor {
  void* visitor = nullptr;
  void (*visit)(void* visitor, std::string_view key, const Object& object) = nullptr;
};

// What the cache prints of itself. The texts live as long as the cache.
struct Description {
  std::string_view policy;
  size_t lower_tiers = 0;
  struct Tier {
    std::string_view medium;
    uint64_t size_bytes = 0;
  } first, all_lower;  // all lower tiers together: the medium is that of the highest
};

struct Cache;  // opaque

struct Boundary {
  uint32_t version;
  // Null if the specification is wrong, which a line on stderr says once, and for options that
  // RocksDB refuses itself. Ends the codec then.
  Cache* (*open)(std::string_view spec, const rocksdb::ProgramCache& program, const Codec& codec);
  // For those who ask for the cache themselves: the specification is all there is. Null if it is
  // wrong, and `problem` is told why. Ends the codec then.
  Cache* (*open_by_spec)(std::string_view spec, const Codec& codec, const Problem& problem);
  void (*close)(Cache*);
  // The code of TieredCache::insert(), as a number.
  int (*insert)(Cache*, std::string_view key, const Object&, Priority, TieredCache::Handle**,
                bool* replaced, MissToken);
  MissToken (*token)(Cache*, std::string_view key);
  TieredCache::Handle* (*standalone)(Cache*, std::string_view key, const Object&,
                                     bool beyond_limit);
  TieredCache::Handle* (*lookup)(Cache*, std::string_view key, const Maker* make, Caller);
  const Object* (*object)(Cache*, const TieredCache::Handle*);
  TieredCacheControl::Held (*held)(Cache*, const TieredCache::Handle*);
  void (*ref)(Cache*, TieredCache::Handle*);
  bool (*release)(Cache*, TieredCache::Handle*, bool erase_if_last);
  void (*erase)(Cache*, std::string_view key);
  void (*erase_dead_files)(Cache*, std::span<const uint64_t> files);
  void (*erase_unreferenced)(Cache*);
  void (*for_each)(Cache*, const Visitor&);
  TieredCacheControl::Limits (*limits)(Cache*);
  void (*set_capacity)(Cache*, size_t bytes);
  void (*set_strict)(Cache*, bool strict);
  FirstTierUse (*use)(Cache*);
  void (*drain)(Cache*);
  Description (*describe)(Cache*);
};

}  // namespace nvcache::jvm
