// The boundary between libnvcache and the code for one version of RocksDB: a table of C functions.
//
// RocksDB inside a Java program may be compiled for the old ABI of libstdc++, in which a
// std::string has another layout, and nvcache for another C++ library. So no type of a standard
// library crosses here, and nothing that is made of one: plain structs and function pointers alone.
// Both sides are installed together; `version` finds a mistake in that.
//
// Two libraries include this header and call each other through it:
//   libnvcache_jvm_core.so       nvcache itself: fills the table (core.cc)
//   libnvcache_jvm_<stage>.so    TieredBlockCache for one version and ABI of RocksDB (stage.cc)
//
// All functions are thread-safe and throw nothing. The cache calls a Codec with no lock held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "adapters/jvm/plain_span.h"
#include "adapters/jvm/problem.h"
#include "adapters/rocksdb/program_cache.h"
#include "nvcache/bytes.h"
#include "nvcache/tiered_cache.h"

namespace nvcache::jvm {

inline constexpr uint32_t kBoundaryVersion = 4;

// An engine's ObjectCodec.
struct Codec {
  void* engine = nullptr;
  size_t (*saved_bytes)(void* engine, const Object& object) = nullptr;
  bool (*save)(void* engine, const Object& object, PlainSpan<std::byte> into) = nullptr;
  void (*destroy)(void* engine, PlainText key, const Object& object) = nullptr;
  void (*end)(void* engine) = nullptr;  // of the codec itself, once, by the cache
  uint64_t form = 0;
};

// A MakeObject.
struct Maker {
  const void* maker = nullptr;
  bool (*make)(const void* maker, PlainSpan<const std::byte> saved, Object* made) = nullptr;
};

struct Visitor {
  void* visitor = nullptr;
  void (*visit)(void* visitor, PlainText key, const Object& object) = nullptr;
};

// The texts in which the cache describes itself. The texts live as long as the cache.
struct Description {
  PlainText policy;
  size_t lower_tiers = 0;
  struct Tier {
    PlainText medium;
    uint64_t size_bytes = 0;
  } first, all_lower;  // all lower tiers together: the medium is that of the highest
};

// A TieredCacheControl::Held.
struct Held {
  PlainText key;
  size_t used_bytes = 0;
};

struct Cache;  // opaque

struct Boundary {
  uint32_t version;
  // Null if the specification is wrong, which a line on stderr says once, and for options that
  // RocksDB refuses itself. Ends the codec then.
  Cache* (*open)(PlainText spec, const rocksdb::ProgramCache& program, const Codec& codec);
  // For those who ask for the cache themselves: the specification is all there is. Null if it is
  // wrong, and `problem` is told why. Ends the codec then.
  Cache* (*open_by_spec)(PlainText spec, const Codec& codec, const Problem& problem);
  void (*close)(Cache*);
  // The code of TieredCache::insert(), as a number.
  int (*insert)(Cache*, PlainText key, const Object&, Priority, TieredCache::Handle**,
                bool* replaced, MissToken);
  MissToken (*token)(Cache*, PlainText key);
  TieredCache::Handle* (*standalone)(Cache*, PlainText key, const Object&, bool beyond_limit);
  TieredCache::Handle* (*lookup)(Cache*, PlainText key, const Maker* make, Caller);
  const Object* (*object)(Cache*, const TieredCache::Handle*);
  Held (*held)(Cache*, const TieredCache::Handle*);
  void (*ref)(Cache*, TieredCache::Handle*);
  bool (*release)(Cache*, TieredCache::Handle*, bool erase_if_last);
  void (*erase)(Cache*, PlainText key);
  void (*erase_gone_files)(Cache*, PlainSpan<const uint64_t> files);
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
