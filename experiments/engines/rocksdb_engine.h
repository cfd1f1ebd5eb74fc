// Stock RocksDB as a benchmark engine: no compression, bloom filters, the log on but not synced.
// Its block cache is an LRUCache with nvcache as its SecondaryCache if a second tier is asked for,
// or a tiered cache.
#pragma once

#include <memory>

#include "experiments/engines/engine.h"

namespace nvcache {

// How databases are built.
struct RocksdbShape {
  size_t block_bytes = 4096;
  uint64_t file_bytes = 64ull << 20;          // RocksDB's default target_file_size_base
  uint64_t write_buffer_bytes = 64ull << 20;  // likewise
  bool direct = true;  // reads, flushes and compaction; else reads of storage "disk" alone
};

// As *Hybrid Cache* has it (section 4.1.1), scaled: some flushes in a short run.
inline RocksdbShape small_rocksdb() { return {16 << 10, 16ull << 20, 4ull << 20, false}; }

std::unique_ptr<EngineKind> make_rocksdb_kind(const RocksdbShape& shape);

}  // namespace nvcache
