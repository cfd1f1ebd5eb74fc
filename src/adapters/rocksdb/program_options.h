// RocksDB's options of a block cache as a ProgramCache. Stateless.
#pragma once

#include "adapters/rocksdb/program_cache.h"
#include "rocksdb/cache.h"

namespace nvcache::rocksdb {

// The options of a HyperClockCache, which has no pools.
inline ProgramCache program_of(const ::rocksdb::ShardedCacheOptions& options) {
  return {.capacity_bytes = options.capacity,
          .shard_bits = options.num_shard_bits,
          .strict = options.strict_capacity_limit,
          .charge_metadata = options.metadata_charge_policy == ::rocksdb::kFullChargeCacheMetadata};
}

inline ProgramCache program_of(const ::rocksdb::LRUCacheOptions& options) {
  const ::rocksdb::ShardedCacheOptions& common = options;
  ProgramCache program = program_of(common);
  program.high_ratio = options.high_pri_pool_ratio;
  program.low_ratio = options.low_pri_pool_ratio;
  return program;
}

}  // namespace nvcache::rocksdb
