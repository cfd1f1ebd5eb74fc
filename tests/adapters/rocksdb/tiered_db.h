// Databases whose whole block cache is a TieredCache.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "nvcache/rocksdb.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {

// A cache as RocksDB sees it, and what is behind it.
struct Tiered {
  std::shared_ptr<::rocksdb::Cache> cache;
  std::shared_ptr<TieredCache> opened;

  explicit Tiered(const std::string& spec) {
    EXPECT_ROCKS_OK(NewTieredCache({.spec = spec}, &cache, &opened));
  }

  uint64_t lower_hits() const {
    const TieredStats stats = opened->stats();
    uint64_t hits = 0;
    for (size_t tier = 1; tier < stats.tiers.size(); ++tier) hits += stats.tiers[tier].hits;
    return hits;
  }

  // After its databases are closed: no handle was lost, and nothing is counted twice.
  void expect_drained() const {
    EXPECT_EQ(cache->GetPinnedUsage(), 0u);
    cache->EraseUnRefEntries();
    EXPECT_EQ(cache->GetUsage(), 0u);
    EXPECT_EQ(cache->GetOccupancyCount(), 0u);
  }
};

// Index and filter blocks are in the cache too.
inline ::rocksdb::Options tiered_options(const std::shared_ptr<::rocksdb::Cache>& cache) {
  ::rocksdb::Options options = db_options({});
  auto table = *options.table_factory->GetOptions<::rocksdb::BlockBasedTableOptions>();
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

struct TieredCase {
  const char* name;
  const char* spec;  // FILE stands for a path in the test's folder
};

inline void PrintTo(const TieredCase& one, std::ostream* out) { *out << one.spec; }

inline std::string name_of(const ::testing::TestParamInfo<TieredCase>& one) {
  return one.param.name;
}

inline std::string spec_of(const TieredCase& one, const std::string& file) {
  std::string spec = std::string("tiered://?") + one.spec;
  if (const size_t at = spec.find("FILE"); at != std::string::npos) spec.replace(at, 4, file);
  return spec;
}

// All hold less than a test's database.
inline constexpr TieredCase kTieredCases[] = {
    {"DramOnly", "dram=512KiB"},
    {"DramFirst", "dram=256KiB&tier=(size=2MiB)"},
    {"ScmFirst", "policy=scm_first(2)&dram=256KiB&tier=(size=2MiB)"},
    {"Bidirectional", "policy=bidirectional(2)&dram=256KiB&tier=(size=2MiB)"},
    {"ScmOnly", "dram=0&tier=(size=2MiB)"},
    {"ThreeLowerTiers",
     "policy=bidirectional(1)&dram=256KiB&tier=(size=512KiB)&tier=(size=1MiB,medium=emulated:cxl)"
     "&tier=(size=4MiB,medium=file:FILE)"},
    {"OnDevice", "policy=bidirectional(2)&dram=256KiB&tier=(size=4MiB,medium=file:FILE,io=direct)"},
    {"Guarded",
     "policy=bidirectional(2)&dram=256KiB&tier=(size=2MiB,admission=second_touch,eviction=clock)"},
    {"NoPriorities", "dram=256KiB&high_priority=0&demote_high=on&tier=(size=2MiB)"},
};

}  // namespace nvcache::rocksdb::testing
