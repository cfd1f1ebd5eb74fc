// Engines for tests of caches that share a tier: objects under the same keys, with a
// version of each cache's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/key_bytes.h"
#include "gmock/gmock.h"
#include "support/tiered_fixture.h"

namespace nvcache::test {

// A name whose totals begin at 0, however often a process repeats a test.
inline std::string new_tier_name() {
  static std::atomic<int> names{0};
  return "tier_" + std::to_string(++names);
}

// Four objects in the first tier, moved by the thread that pushes them out. `tier` has a name that
// no other test has: tests of one process share no tier.
inline std::string spec_sharing(const std::string& tier, const std::string& more = "") {
  return "tiered://?metadata=free&demote=foreground&shards=1&high_priority=0&dram=16KiB&tier=(" +
         tier + ")" + more;
}

// Ids first to last, of which the last four stay in the first tier.
inline void put_versions(Engine& engine, uint64_t first, uint64_t last, uint64_t version) {
  for (uint64_t id = first; id <= last; ++id) engine.put_held(id, version);
}

// How many of them are found; none with another version.
inline uint64_t count_version(Engine& engine, uint64_t first, uint64_t last, uint64_t version) {
  uint64_t found = 0;
  for (uint64_t id = first; id <= last; ++id) {
    const uint64_t got = engine.get(id);
    EXPECT_THAT(got, testing::AnyOf(0u, version)) << "key " << id << ": a block of another cache";
    found += got == version ? 1 : 0;
  }
  return found;
}

// The file that all keys of the tests name.
inline uint64_t file_of_keys() {
  BlockKey key;
  EXPECT_TRUE(parse_block_key(key_of(1), &key));
  return key.file;
}

inline TierStats shared_tier_of(const Engine& engine) { return engine.cache->stats().tiers[1]; }

inline Status refusal_of_tier(const std::string& spec) {
  const auto config = parse_tiered_config(spec);
  EXPECT_TRUE(config.ok()) << config.status();
  return TieredCacheImpl::make(*config, std::make_shared<TestCodec>()).status();
}

}  // namespace nvcache::test
