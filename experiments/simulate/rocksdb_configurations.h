// The block caches that a simulated RocksDB can have: the servers of *Hybrid Cache* (Table 4) by
// its policies (section 6.1) and what it compares them with (section 3.1). A constant table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/simulate.h"
#include "nvcache/status.h"

namespace nvcache::simulate {

enum class BlockCacheKind : uint8_t { kTiered, kCopied, kNaiveScm, kMemoryMode };

struct RocksdbConfiguration {
  std::string name;  // "32-256/dram-first"
  std::string help;
  // In GB; 0: none.
  uint64_t dram_gb = 0;
  uint64_t scm_gb = 0;
  uint64_t dram_cache_gb = 0;
  uint64_t scm_cache_gb = 0;
  BlockCacheKind kind = BlockCacheKind::kTiered;
  std::string_view policy = "dram_first";  // of placement, where there are tiers
};

const std::vector<RocksdbConfiguration>& rocksdb_rows();
const RocksdbConfiguration* find_rocksdb_configuration(std::string_view name);  // null: none

// For the row of the engine.
std::vector<Named> rocksdb_configurations();
std::vector<Named> rocksdb_workloads();
// Checks sizes, and fills in what is 0. The configuration sets the sizes of memories and
// caches.
[[nodiscard]] Status complete_rocksdb(Options* options);

}  // namespace nvcache::simulate
