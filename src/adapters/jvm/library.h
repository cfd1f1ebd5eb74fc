// A copy of RocksDB in this process, and the code that puts nvcache under it.
//
// Part of libnvcache_jvm.so, which is loaded into every process that inherits LD_PRELOAD: it uses
// libc alone, and does nothing before RocksDB asks for a cache.
#pragma once

#include "adapters/jvm/stage.h"

namespace nvcache::jvm {

struct Library {
  const void* base = nullptr;  // where it lies, which tells it from others
  // The handle of dlopen(); keeps it loaded, for its caches may outlive the class loader that
  // brought it.
  void* handle = nullptr;
  // The functions of its stage. Null, all three, where no stage is wanted, or `problem` says why
  // there is none.
  Make make = nullptr;
  OpenBySpec open_by_spec = nullptr;
  Close close = nullptr;
  const char* problem = nullptr;
  bool tried = false;  // to load a stage
  bool told = false;   // the problem
  Library* next = nullptr;
};

// The library that the code or data at `address` belongs to; null if there is none. If `wanted`,
// its stage is loaded and bound, once. Thread-safe: a lock, and the first time what dlopen() takes.
Library* library_at(const void* address, bool wanted);

// Says on stderr, once, why a library has no stage, if a stage was wanted.
void tell_problem(Library* library);

// The library's own function of a mangled name, which this library defines as well. Ends the
// process with a message if there is none: nothing could give the caller a cache.
void* original(const Library* library, const char* name);

}  // namespace nvcache::jvm
