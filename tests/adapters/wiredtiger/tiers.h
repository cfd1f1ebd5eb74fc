// Second tiers for the tests: each small enough that it must evict, and large enough
// to serve much of what WiredTiger's own cache does not hold.
#pragma once

#include <string>
#include <vector>

#include "support/wiredtiger_fixture.h"

namespace nvcache::wt_test {

struct NamedTier {
  const char* name;
  const char* spec;  // {} stands for a folder of the test's own
  const char* writes = "offer";
  bool evicts = true;  // in these tests, surely
};

inline std::ostream& operator<<(std::ostream& out, const NamedTier& tier) {
  return out << tier.name;
}

inline const std::vector<NamedTier>& all_tiers() {
  static const std::vector<NamedTier> tiers = {
      {"DramClock", "nvcache://?size=6MiB&admission=always&eviction=clock"},
      {"DramLruUpdate", "nvcache://?size=6MiB&admission=always&eviction=lru", "update"},
      {"DramS3FifoSkip", "nvcache://?size=6MiB&admission=always&eviction=s3fifo", "skip"},
      {"EmulatedOptaneObp",
       "nvcache://?size=8MiB&medium=emulated:optane&admission=obp(0.3,window)&eviction=clock",
       "offer", false},
      {"FileMapped", "nvcache://?size=6MiB&medium=file:{}/medium&admission=always&eviction=clock"},
      {"FileDirect",
       "nvcache://?size=6MiB&medium=file:{}/medium,io=direct&write_queue=2MiB&"
       "admission=always&eviction=clock"},
      {"FileRegions",
       "nvcache://?size=6MiB&medium=file:{}/medium,io=direct&region=128KiB&"
       "admission=always&eviction=clock"},
  };
  return tiers;
}
inline const NamedTier& dram_clock() { return all_tiers().front(); }

inline Tier tier_in(const NamedTier& tier, const std::string& folder) {
  std::string spec = tier.spec;
  if (const size_t at = spec.find("{}"); at != std::string::npos) spec.replace(at, 2, folder);
  return {.spec = spec, .writes = tier.writes};
}

// Checks that the tier served and invalidated blocks. A test could otherwise pass without it.
inline void expect_served(const Database& db, bool evictions = true) {
  if (!has_extension()) return;
  const TierStats stats = db.stats();
  ASSERT_TRUE(stats.complete()) << db.stats_path() << ": " << stats.text();
  EXPECT_GT(stats.of_files("served_reads"), 100u) << stats.text();
  EXPECT_GT(stats.of_files("invalidated"), 10u) << stats.text();
  EXPECT_GE(stats.of_cache("hits"), stats.of_files("served_reads")) << stats.text();
  EXPECT_EQ(stats.of_files("reads"), stats.of_files("served_reads") + stats.of_files("disk_reads"));
  EXPECT_EQ(stats.of_cache("damaged_blocks"), 0u) << stats.text();
  if (evictions) {
    EXPECT_GT(stats.of_cache("evictions"), 0u) << stats.text();
  }
}

}  // namespace nvcache::wt_test
