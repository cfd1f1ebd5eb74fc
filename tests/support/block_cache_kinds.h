// The kinds of caches that contract tests of a block cache run on: its media and eviction policies.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "base/units.h"
#include "support/block_cache_fixture.h"
#include "support/temp_dir.h"

namespace nvcache::test {

struct CacheKind {
  const char* name;
  const char* medium;  // FILE stands for a path in the test's folder
  const char* eviction;
  uint64_t head_bytes = 0;  // of the size, that hold no blocks
  uint32_t largest_block_bytes = kMaxBlockBytes;
};

inline void PrintTo(const CacheKind& kind, std::ostream* out) {
  *out << kind.medium << ' ' << kind.eviction;
}

class BlockCacheOfKind : public testing::TestWithParam<CacheKind> {
 protected:
  // The size of a cache with so much room for blocks.
  static uint64_t size_for(uint64_t blocks_bytes) { return GetParam().head_bytes + blocks_bytes; }
  // `room`: for blocks.
  std::unique_ptr<BlockCache> open_cache(const std::string& room, const std::string& more = "") {
    const uint64_t size_bytes = size_for(parse_size_bytes(room).value());
    std::string medium = GetParam().medium;
    if (const size_t at = medium.find("FILE"); at != std::string::npos) {
      medium.replace(at, 4, folder_.file("blocks"));
    }
    return test::open(
        "nvcache://?size=" + std::to_string(size_bytes) + "&medium=" + medium +
        "&admission=always&verify=always&maintenance=0.01&eviction=" + GetParam().eviction + more);
  }
  TempDir folder_;
};

inline const auto kCacheKinds = testing::Values(
    CacheKind{"DramClock", "dram", "clock"}, CacheKind{"DramLru", "dram", "lru"},
    CacheKind{"DramLfru", "dram", "lfru"}, CacheKind{"DramS3Fifo", "dram", "s3fifo"},
    CacheKind{"DramTinyLfu", "dram", "tinylfu"}, CacheKind{"DramAuto", "dram", "auto"},
    CacheKind{"FileMapped", "file:FILE", "clock"},
    CacheKind{"FileDirect", "file:FILE,io=direct", "clock"},
    CacheKind{"FileDirectLfru", "file:FILE,io=direct", "lfru"},
    CacheKind{"RegionsOnFile", "file:FILE&space=regions&region=64KiB", "clock", 1 << 20, 32 << 10},
    CacheKind{"RegionsDirect", "file:FILE,io=direct&space=regions&region=64KiB", "tinylfu", 1 << 20,
              32 << 10},
    CacheKind{"RegionsLfru", "dram&space=regions&region=64KiB", "lfru", 1 << 20, 32 << 10},
    CacheKind{"EmulatedOptane", "emulated:optane", "s3fifo"},
    CacheKind{"EmulatedOnFile", "emulated:cxl,on=file:FILE", "clock"});

inline std::string name_of(const testing::TestParamInfo<CacheKind>& kind) {
  return kind.param.name;
}

}  // namespace nvcache::test
