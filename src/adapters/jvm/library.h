// A copy of RocksDB in this process, and the code that puts nvcache under it.
//
// Part of libnvcache_jvm.so, which is loaded into every process that inherits LD_PRELOAD: it uses
// libc alone, and does nothing before RocksDB asks for a cache.
#pragma once

#include "adapters/jvm/stage.h"

namespace nvcache::jvm {

struct Library {
  const void* base = nullptr;  // where it lies, which tells it from others
  // Of dlopen(); keeps it loaded, for its caches may outlive the class loader that brought it.
  void* handle = nullptr;
  Make make = nullptr;  // null: not wanted, or a line on stderr said why
  Library* next = nullptr;
};

// The library that the code at `address` belongs to; null if there is none. If it is new and
// `wanted`, its stage is loaded and bound. Thread-safe: a lock, and for a new library what dlopen()
// takes.
const Library* library_at(const void* address, bool wanted);

// The library's own function of a mangled name, which this library defines as well. Ends the
// process with a message if there is none: nobody could give the caller a cache.
void* original(const Library* library, const char* name);

}  // namespace nvcache::jvm
