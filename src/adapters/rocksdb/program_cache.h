// The block cache that a program asked RocksDB for, where a TieredCache takes its place. Free of
// RocksDB's types, which differ between versions. A plain struct.
#pragma once

#include <cstdint>

namespace nvcache::rocksdb {

struct ProgramCache {
  uint64_t capacity_bytes = 0;
  int shard_bits = -1;  // below 0: the cache chooses
  bool strict = false;
  double high_ratio = 0.5;  // of the capacity, for high priority
  double low_ratio = 0;
  bool charge_metadata = true;
};

}  // namespace nvcache::rocksdb
