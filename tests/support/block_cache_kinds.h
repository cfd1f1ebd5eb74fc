// What contract tests of a block cache run on: its media and eviction policies.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "support/block_cache_fixture.h"
#include "support/temp_dir.h"

namespace nvcache::test {

struct CacheKind {
  const char* name;
  const char* medium;  // FILE stands for a path in the test's folder
  const char* eviction;
};

inline void PrintTo(const CacheKind& kind, std::ostream* out) {
  *out << kind.medium << ' ' << kind.eviction;
}

class BlockCacheOfKind : public testing::TestWithParam<CacheKind> {
 protected:
  std::unique_ptr<BlockCache> open_cache(const std::string& size, const std::string& more = "") {
    std::string medium = GetParam().medium;
    if (const size_t at = medium.find("FILE"); at != std::string::npos) {
      medium.replace(at, 4, folder_.file("blocks"));
    }
    return test::open(
        "nvcache://?size=" + size + "&medium=" + medium +
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
    CacheKind{"EmulatedOptane", "emulated:optane", "s3fifo"},
    CacheKind{"EmulatedOnFile", "emulated:cxl,on=file:FILE", "clock"});

inline std::string name_of(const testing::TestParamInfo<CacheKind>& kind) {
  return kind.param.name;
}

}  // namespace nvcache::test
