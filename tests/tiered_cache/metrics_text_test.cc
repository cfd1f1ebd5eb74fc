// The texts of a tiered cache's statistics, byte for byte: dashboards and scripts read them by
// name. And of all statistics: no number is forgotten.
#include <cstddef>
#include <string>

#include "gtest/gtest.h"
#include "nvcache/kv_store.h"
#include "nvcache/stats.h"
#include "nvcache/tiered_cache.h"
#include "support/metrics_samples.h"

namespace nvcache {
namespace {

using test::expect_well_formed;
using test::has_line;
using test::number_from;
using test::refusals_json;
using test::sample_stats;

TieredStats sample_tiered_stats() {
  TieredStats stats;
  number_from(501, &stats, &TieredStats::lookups, &TieredStats::misses, &TieredStats::pinned_bytes,
              &TieredStats::queued, &TieredStats::queued_bytes, &TieredStats::taken_back,
              &TieredStats::queue_full);
  stats.misses = 100;
  stats.policy = "dram_first";
  for (uint64_t i = 0; i < 2; ++i) {
    TierStats tier;
    number_from(601 + 100 * i, &tier, &TierStats::hits, &TierStats::inserts, &TierStats::demoted_in,
                &TierStats::promoted_in, &TierStats::refused, &TierStats::dropped,
                &TierStats::blocks, &TierStats::used_bytes, &TierStats::size_bytes);
    tier.threshold = static_cast<uint32_t>(4 * i);
    tier.users = 3 * i;
    tier.medium = i == 0 ? "dram (objects)" : "file:/x";
    stats.tiers.push_back(tier);
  }
  stats.tiers[1].name = "shared";
  stats.tiers[1].problem = "no such file";
  stats.tiers[1].block_cache = sample_stats();
  return stats;
}

TEST(MetricsText, OfATieredCacheIsAsItAlwaysWas) {
  EXPECT_EQ(sample_tiered_stats().to_json(), R"~({
  "policy": "dram_first",
  "lookups": 501,
  "misses": 100,
  "hit_ratio": 0.8003992015968064,
  "pinned_bytes": 503,
  "queued": 504,
  "queued_bytes": 505,
  "taken_back": 506,
  "queue_full": 507,
  "tiers": [
    {
      "medium": "dram (objects)",
      "hits": 601,
      "inserts": 602,
      "demoted_in": 603,
      "promoted_in": 604,
      "refused": 605,
      "dropped": 606,
      "blocks": 607,
      "used_bytes": 608,
      "size_bytes": 609,
      "threshold": 0,
      "users": 0
    },
    {
      "medium": "file:/x",
      "name": "shared",
      "hits": 701,
      "inserts": 702,
      "demoted_in": 703,
      "promoted_in": 704,
      "refused": 705,
      "dropped": 706,
      "blocks": 707,
      "used_bytes": 708,
      "size_bytes": 709,
      "threshold": 4,
      "users": 3,
      "problem": "no such file",
      "block_cache": {
        "hits": 101,
        "misses": 102,
        "background_hits": 1,
        "background_misses": 2,
        "inserts": 105,
        "compressed_blocks": 0,
        "removals": 106,
        "evictions": 107,
        "erases": 108,
        "recovered_blocks": 0,
        "damaged_regions": 0,
        "rewritten_blocks": 0,
        "damaged_blocks": 109,
        "failed_blocks": 0,
        "medium_errors": 110,
        "medium_read_bytes": 111,
        "medium_written_bytes": 112,
        "medium_writes": 0,
        "rewritten_bytes": 0,
        "compressed_bytes": 0,
        "discarded_bytes": 0,
        "discard_errors": 0,
        "blocks": 113,
        "data_bytes": 114,
        "used_bytes": 115,
        "size_bytes": 116,
        "metadata_bytes": 117,
        "dataset_size_bytes": 118,
        "pending_bytes": 119,
        "buffer_bytes": 0,
        "regions": 0,
        "free_regions": 0,
        "set_aside_bytes": 0,
        "recovering": 0,
        "failed": 120,
        "overhead_ratio": 0.3,
        "hit_ratio": 0.5,
        "refused": {
)~" + refusals_json(10) +
                                                 R"~(
        },
        "medium": "file:\"a\\b\"\n",
        "admission": "always",
        "eviction": "lru"
      }
    }
  ]
})~");
}

size_t families_of(const std::string& text) {
  size_t families = 0;
  for (size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; ++at) ++families;
  return families;
}

// Numbers of 8 bytes stand first in each struct, or behind what has a row or a label apart.
TEST(MetricsText, EachNumberOfAStructHasARow) {
  constexpr size_t kInfo = 1;  // the family of the names
  constexpr size_t kNumber = sizeof(uint64_t);
  const size_t stats = offsetof(Stats, medium) / kNumber - kReasonCount;
  constexpr size_t kRefused = 1;
  EXPECT_EQ(families_of(Stats().to_prometheus()), stats + kRefused + kInfo);
  const size_t kv = offsetof(KvStats, recovered) / kNumber;
  constexpr size_t kFlags = 3;
  EXPECT_EQ(families_of(KvStats().to_prometheus()), kv + kFlags + kInfo);
  const size_t tiered = offsetof(TieredStats, policy) / kNumber;
  constexpr size_t kHitRatio = 1;
  const size_t tier = offsetof(TierStats, medium) / kNumber;  // `threshold` takes 8, too
  EXPECT_EQ(families_of(TieredStats().to_prometheus()), tiered + kHitRatio + tier + 2 * kInfo);
}

TEST(MetricsText, TieredPrometheusTellsTiersApart) {
  const std::string text = sample_tiered_stats().to_prometheus();
  expect_well_formed(text);
  for (const char* line : {
           "nvcache_tiered_lookups_total 501",
           "nvcache_tiered_misses_total 100",
           "nvcache_tiered_queued_bytes 505",
           "nvcache_tiered_info{policy=\"dram_first\"} 1",
           "nvcache_tier_hits_total{tier=\"0\"} 601",
           "nvcache_tier_hits_total{tier=\"1\"} 701",
           "nvcache_tier_threshold{tier=\"1\"} 4",
           "nvcache_tier_users{tier=\"1\"} 3",
           "nvcache_tier_info{tier=\"1\",medium=\"file:/x\",problem=\"no such file\","
           "name=\"shared\"} 1",
           "nvcache_hits_total{tier=\"1\"} 101",
           "nvcache_overhead_ratio{tier=\"1\"} 0.3",
           "nvcache_refused_total{tier=\"1\",reason=\"small_dataset\"} 7",
       }) {
    EXPECT_TRUE(has_line(text, line)) << line << " is not in\n" << text;
  }
  EXPECT_EQ(text.find("nvcache_hits_total{tier=\"0\"}"), std::string::npos);
}

TEST(MetricsText, WithoutLowerTiersThereAreNoBlockCaches) {
  TieredStats stats = sample_tiered_stats();
  stats.tiers.resize(1);
  expect_well_formed(stats.to_prometheus());
  EXPECT_EQ(stats.to_prometheus().find("nvcache_hits_total"), std::string::npos);
}

}  // namespace
}  // namespace nvcache
