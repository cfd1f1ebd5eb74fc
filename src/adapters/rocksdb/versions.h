// The versions of RocksDB that the adapters are written for: 7.8, and 8.10 up to 11.x. Only this
// file compares version numbers; others ask its macros. Things that are alike in all versions
// are in no macro; differences are in the file that the row names, and in tests in cache_calls.h
// and open_db.h of tests/adapters/rocksdb.
//
// what, and in which file        | 7.8                      | 8.10 and up
// -------------------------------|--------------------------|---------------------------------
// where Cache is declared: here  | rocksdb/cache.h          | rocksdb/advanced_cache.h
// how a value is destroyed:      | a DeleterFn, alone or in | del_cb of a helper, with the
//   tiered_codec                 | a helper, with the key   | memory allocator
// how bytes become a value:      | a callback of Lookup     | create_cb of the helper
//   tiered_cache_7, _8           |                          |
// block_cache_compressed:        | its saved blocks lack    | does not exist
//   tiered_codec                 | the compression type:    |
//                                | never demoted            |
// what kind of block a value is: | unknown                  | role of the helper: index and
//   tiered_cache_8               |                          | filter blocks stay in DRAM
// values outside the cache:      | none                     | CreateStandalone
//   tiered_cache_8               |                          |
// who asks about a handle:       | GetDeleter               | GetCacheItemHelper; from 9.7 on
//   tiered_cache_7, _8           |                          | ApplyToHandle, too
// NewLRUCache: tiered_preload    | a function               | inline, calls MakeSharedCache
// SecondaryCache:                | Insert                   | Insert with force_insert, and
//   secondary_cache              |                          | InsertSaved of compressed blocks
// a Cache by a string: registrar | no                       | from 9.7 on: Cache is Customizable
// PersistentCache                | the same in all of them
// DB::Open: tests                | a DB**                   | 10.x also, 11.x only a unique_ptr
//
// Which releases began it, by their headers: Customizable and ApplyToHandle are in 9.7.2, not in
// 9.6.1. SecondaryCache changes with every release from 7.9 to 8.10, and Cache up to 8.9: those
// are refused.
#pragma once

#include "rocksdb/version.h"

#if (ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR > 8) || (ROCKSDB_MAJOR == 8 && ROCKSDB_MINOR < 10)
#error "RocksDB 7.9 to 8.9 change Cache from release to release: use 7.8, or 8.10 and up"
#endif

#if ROCKSDB_MAJOR < 8
#define NVCACHE_ROCKSDB_7 1
#include "rocksdb/cache.h"
#else
#define NVCACHE_ROCKSDB_7 0
#include "rocksdb/advanced_cache.h"
#endif

#if ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR > 6)
#define NVCACHE_ROCKSDB_APPLY_TO_HANDLE 1
#define NVCACHE_ROCKSDB_CACHE_BY_STRING 1
#else
#define NVCACHE_ROCKSDB_APPLY_TO_HANDLE 0
#define NVCACHE_ROCKSDB_CACHE_BY_STRING 0
#endif
