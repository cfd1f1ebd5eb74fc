// Blocks that are large beside an even part of the space: they stay as long as they are used, and
// push out no more than one shard would.
#include <algorithm>
#include <string>

#include "base/prng.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

using test::put;

constexpr uint64_t kSmallIds =
    8000;  // 32 MiB of 4 KiB, of which the lower ones are read more often
constexpr uint64_t kLargeBytes = 4 << 20;  // together

class LargeBlocks : public testing::TestWithParam<const char*> {
 protected:
  struct Hits {
    int small = 0;
    int large = 0;
  };

  // In a cache that small blocks of slightly differing sizes have filled: no two free extents make
  // a run that is long enough without more evictions.
  static Hits read(const std::string& shards, uint32_t large_bytes) {
    const auto cache = test::open("nvcache://?size=16MiB&admission=always&shards=" + shards +
                                  "&eviction=" + GetParam());
    Prng prng(3);
    Hits hits;
    const auto read_small = [&] {
      const uint64_t id = std::min(prng.below(kSmallIds), prng.below(kSmallIds));
      if (cache->lookup({1, id}).hit()) {
        ++hits.small;
      } else {
        put(*cache, {1, id}, 4096 - id % 300);
      }
    };
    for (int i = 0; i < 20'000; ++i) read_small();
    for (int i = 0; i < 2 * kTurns; ++i) {
      if (i == kTurns) hits = {};
      for (int n = 0; n < 4; ++n) read_small();
      const uint64_t id = prng.below(kLargeBytes / large_bytes);
      if (cache->lookup({2, id}).hit()) {
        ++hits.large;
      } else {
        put(*cache, {2, id}, large_bytes);
      }
    }
    return hits;
  }

  static constexpr int kTurns = 4000;
};

INSTANTIATE_TEST_SUITE_P(Policies, LargeBlocks,
                         testing::Values("clock", "lru", "s3fifo", "tinylfu"));

TEST_P(LargeBlocks, AreHitInManyShardsAsInOne) {
  for (const uint32_t large_bytes : {64u << 10, 128u << 10, 512u << 10}) {
    const Hits one = read("1", large_bytes);
    for (const char* shards : {"16", "64"}) {
      SCOPED_TRACE(std::string(shards) + " shards, " + std::to_string(large_bytes) + " bytes");
      const Hits many = read(shards, large_bytes);
      EXPECT_GT(many.large, one.large * 95 / 100);
      EXPECT_GT(many.small, one.small * 90 / 100);
    }
  }
}

}  // namespace
}  // namespace nvcache
