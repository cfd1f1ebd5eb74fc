// The texts of all statistics, byte for byte: dashboards and scripts read them by name.
// (tidy: longer because the expected texts stand in it whole)
#include <cstddef>
#include <set>
#include <sstream>
#include <string>

#include "file_cache/file_block_cache.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nvcache/kv_store.h"
#include "nvcache/stats.h"
#include "nvcache/tiered_cache.h"

namespace nvcache {
namespace {

template <typename S, typename... Fields>
void number_from(uint64_t first, S* stats, Fields... fields) {
  ((stats->*fields = first++), ...);
}

Stats sample_stats() {
  Stats stats;
  number_from(101, &stats, &Stats::hits, &Stats::misses, &Stats::background_hits,
              &Stats::background_misses, &Stats::inserts, &Stats::removals, &Stats::evictions,
              &Stats::erases, &Stats::damaged_blocks, &Stats::medium_errors,
              &Stats::medium_read_bytes, &Stats::medium_written_bytes, &Stats::blocks,
              &Stats::data_bytes, &Stats::used_bytes, &Stats::size_bytes, &Stats::metadata_bytes,
              &Stats::dataset_size_bytes, &Stats::pending_bytes, &Stats::failed);
  stats.background_hits = 1;
  stats.background_misses = 2;
  stats.overhead_ratio = 0.3;
  stats.refused[1] = 7;
  stats.medium = "file:\"a\\b\"\n";
  stats.admission = "always";
  stats.eviction = "lru";
  return stats;
}

// Those of sample_stats(), whose names tests/policy/policy_table_test.cc holds.
std::string refusals_json(size_t indent) {
  std::string text;
  for (size_t i = 1; i < kReasonCount; ++i) {
    text += fmt::format("{}{}\"{}\": {}", i > 1 ? ",\n" : "", std::string(indent, ' '),
                        reason_name(static_cast<Reason>(i)), i == 1 ? 7 : 0);
  }
  return text;
}

std::string refusals_prometheus() {
  std::string text;
  for (size_t i = 1; i < kReasonCount; ++i) {
    text += fmt::format("nvcache_refused_total{{reason=\"{}\"}} {}\n",
                        reason_name(static_cast<Reason>(i)), i == 1 ? 7 : 0);
  }
  return text;
}

FileStats sample_file_stats() {
  FileStats stats;
  for (size_t i = 0; i < stats.counts.size(); ++i) stats.counts[i] = 201 + i;
  number_from(301, &stats, &FileStats::files, &FileStats::dataset_bytes, &FileStats::extents,
              &FileStats::metadata_bytes);
  return stats;
}

KvStats sample_kv_stats() {
  KvStats stats;
  number_from(401, &stats, &KvStats::gets, &KvStats::hits, &KvStats::expired, &KvStats::puts,
              &KvStats::inserts, &KvStats::updates, &KvStats::erases, &KvStats::refused,
              &KvStats::evicted, &KvStats::relocated, &KvStats::relocated_bytes,
              &KvStats::zones_cleaned, &KvStats::hot_sets_kept, &KvStats::write_cache_hits,
              &KvStats::flushes, &KvStats::flushed_bytes, &KvStats::flushed_lines, &KvStats::drains,
              &KvStats::medium_written_bytes, &KvStats::damaged, &KvStats::items,
              &KvStats::data_bytes, &KvStats::size_bytes, &KvStats::metadata_bytes,
              &KvStats::recovered_items);
  stats.syncs = 430;
  stats.finished_cleanings = 432;
  stats.max_item_bytes = 431;
  stats.outdated = 433;
  stats.away_seconds = 434;
  stats.table_evicted = 435;
  stats.table_places = 436;
  stats.fitting_item_bytes = 437;
  stats.recovery_seconds = 0.25;
  stats.recovered = true;
  stats.medium = "dram";
  stats.durability = "process";
  return stats;
}

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
    tier.medium = i == 0 ? "dram (objects)" : "file:/x";
    stats.tiers.push_back(tier);
  }
  stats.tiers[1].problem = "no such file";
  stats.tiers[1].block_cache = sample_stats();
  return stats;
}

TEST(MetricsText, OfABlockCacheIsAsItAlwaysWas) {
  EXPECT_EQ(sample_stats().to_json(), R"~({
  "hits": 101,
  "misses": 102,
  "background_hits": 1,
  "background_misses": 2,
  "inserts": 105,
  "removals": 106,
  "evictions": 107,
  "erases": 108,
  "recovered_blocks": 0,
  "damaged_regions": 0,
  "rewritten_blocks": 0,
  "damaged_blocks": 109,
  "medium_errors": 110,
  "medium_read_bytes": 111,
  "medium_written_bytes": 112,
  "medium_writes": 0,
  "rewritten_bytes": 0,
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
  "recovering": 0,
  "failed": 120,
  "overhead_ratio": 0.3,
  "hit_ratio": 0.5,
  "refused": {
)~" + refusals_json(4) +
                                      R"~(
  },
  "medium": "file:\"a\\b\"\n",
  "admission": "always",
  "eviction": "lru"
})~");
  EXPECT_EQ(sample_stats().to_prometheus(),
            R"~(# HELP nvcache_hits_total Lookups that served a block
# TYPE nvcache_hits_total counter
nvcache_hits_total 101
# HELP nvcache_misses_total Lookups that served none
# TYPE nvcache_misses_total counter
nvcache_misses_total 102
# HELP nvcache_background_hits_total Hits of background work
# TYPE nvcache_background_hits_total counter
nvcache_background_hits_total 1
# HELP nvcache_background_misses_total Misses of background work
# TYPE nvcache_background_misses_total counter
nvcache_background_misses_total 2
# HELP nvcache_inserts_total Blocks inserted
# TYPE nvcache_inserts_total counter
nvcache_inserts_total 105
# HELP nvcache_removals_total Blocks removed, for any cause
# TYPE nvcache_removals_total counter
nvcache_removals_total 106
# HELP nvcache_evictions_total Blocks evicted
# TYPE nvcache_evictions_total counter
nvcache_evictions_total 107
# HELP nvcache_erases_total Blocks erased by key or file
# TYPE nvcache_erases_total counter
nvcache_erases_total 108
# HELP nvcache_recovered_blocks_total Blocks that came back after a restart
# TYPE nvcache_recovered_blocks_total counter
nvcache_recovered_blocks_total 0
# HELP nvcache_damaged_regions_total Regions whose index could not be read
# TYPE nvcache_damaged_regions_total counter
nvcache_damaged_regions_total 0
# HELP nvcache_rewritten_blocks_total Blocks moved to another region
# TYPE nvcache_rewritten_blocks_total counter
nvcache_rewritten_blocks_total 0
# HELP nvcache_damaged_blocks_total Blocks whose checksum failed
# TYPE nvcache_damaged_blocks_total counter
nvcache_damaged_blocks_total 109
# HELP nvcache_medium_errors_total Reads and writes the medium failed
# TYPE nvcache_medium_errors_total counter
nvcache_medium_errors_total 110
# HELP nvcache_medium_read_bytes_total Bytes read from the medium
# TYPE nvcache_medium_read_bytes_total counter
nvcache_medium_read_bytes_total 111
# HELP nvcache_medium_written_bytes_total Bytes written to the medium
# TYPE nvcache_medium_written_bytes_total counter
nvcache_medium_written_bytes_total 112
# HELP nvcache_medium_writes_total Writes to the medium
# TYPE nvcache_medium_writes_total counter
nvcache_medium_writes_total 0
# HELP nvcache_rewritten_bytes_total Bytes of rewritten blocks
# TYPE nvcache_rewritten_bytes_total counter
nvcache_rewritten_bytes_total 0
# HELP nvcache_discarded_bytes_total Bytes of emptied regions given back to the medium
# TYPE nvcache_discarded_bytes_total counter
nvcache_discarded_bytes_total 0
# HELP nvcache_discard_errors_total Discards that failed: the first turns discard off
# TYPE nvcache_discard_errors_total counter
nvcache_discard_errors_total 0
# HELP nvcache_blocks Blocks in the cache
# TYPE nvcache_blocks gauge
nvcache_blocks 113
# HELP nvcache_data_bytes Bytes of data in the cache
# TYPE nvcache_data_bytes gauge
nvcache_data_bytes 114
# HELP nvcache_used_bytes Bytes of the medium taken
# TYPE nvcache_used_bytes gauge
nvcache_used_bytes 115
# HELP nvcache_size_bytes Bytes of the medium
# TYPE nvcache_size_bytes gauge
nvcache_size_bytes 116
# HELP nvcache_metadata_bytes Bytes of DRAM for metadata
# TYPE nvcache_metadata_bytes gauge
nvcache_metadata_bytes 117
# HELP nvcache_dataset_size_bytes Bytes of the engine's dataset
# TYPE nvcache_dataset_size_bytes gauge
nvcache_dataset_size_bytes 118
# HELP nvcache_pending_bytes Bytes in the write queue
# TYPE nvcache_pending_bytes gauge
nvcache_pending_bytes 119
# HELP nvcache_buffer_bytes Bytes of DRAM for open regions
# TYPE nvcache_buffer_bytes gauge
nvcache_buffer_bytes 0
# HELP nvcache_regions Regions of the medium
# TYPE nvcache_regions gauge
nvcache_regions 0
# HELP nvcache_free_regions Regions that are free
# TYPE nvcache_free_regions gauge
nvcache_free_regions 0
# HELP nvcache_recovering 1 while blocks come back after a restart
# TYPE nvcache_recovering gauge
nvcache_recovering 0
# HELP nvcache_failed 1 when the cache is off because its medium failed
# TYPE nvcache_failed gauge
nvcache_failed 120
# HELP nvcache_overhead_ratio Overhead ratio now
# TYPE nvcache_overhead_ratio gauge
nvcache_overhead_ratio 0.3
# HELP nvcache_refused_total Blocks refused, by reason
# TYPE nvcache_refused_total counter
)~" + refusals_prometheus() +
                R"~(# HELP nvcache_info What the cache lies on and by which policies
# TYPE nvcache_info gauge
nvcache_info{medium="file:\"a\\b\"\n",admission="always",eviction="lru"} 1
)~");
}

TEST(MetricsText, OfAFileCacheIsAsItAlwaysWas) {
  EXPECT_EQ(sample_file_stats().to_json(),
            R"({"reads":201,"served_reads":202,"served_bytes":203,"disk_reads":204)"
            R"(,"disk_read_bytes":205,"foreign_reads":206,"writes":207,"written_bytes":208)"
            R"(,"offers":209,"admitted_bytes":210,"stale_offers":211,"invalidated":212)"
            R"(,"files":301,"dataset_bytes":302,"extents":303,"metadata_bytes":304})");
  EXPECT_EQ(sample_file_stats().to_prometheus(),
            R"~(# HELP nvcache_file_reads_total Reads of cacheable files
# TYPE nvcache_file_reads_total counter
nvcache_file_reads_total 201
# HELP nvcache_file_served_reads_total Reads served by the cache
# TYPE nvcache_file_served_reads_total counter
nvcache_file_served_reads_total 202
# HELP nvcache_file_served_bytes_total Bytes served by the cache
# TYPE nvcache_file_served_bytes_total counter
nvcache_file_served_bytes_total 203
# HELP nvcache_file_disk_reads_total Reads that went to the file
# TYPE nvcache_file_disk_reads_total counter
nvcache_file_disk_reads_total 204
# HELP nvcache_file_disk_read_bytes_total Bytes read from the file
# TYPE nvcache_file_disk_read_bytes_total counter
nvcache_file_disk_read_bytes_total 205
# HELP nvcache_file_foreign_reads_total Reads of no whole block, never cached
# TYPE nvcache_file_foreign_reads_total counter
nvcache_file_foreign_reads_total 206
# HELP nvcache_file_writes_total Writes to cacheable files
# TYPE nvcache_file_writes_total counter
nvcache_file_writes_total 207
# HELP nvcache_file_written_bytes_total Bytes written to cacheable files
# TYPE nvcache_file_written_bytes_total counter
nvcache_file_written_bytes_total 208
# HELP nvcache_file_offers_total Blocks offered to the cache
# TYPE nvcache_file_offers_total counter
nvcache_file_offers_total 209
# HELP nvcache_file_admitted_bytes_total Bytes of blocks admitted
# TYPE nvcache_file_admitted_bytes_total counter
nvcache_file_admitted_bytes_total 210
# HELP nvcache_file_stale_offers_total Offers overtaken by a write
# TYPE nvcache_file_stale_offers_total counter
nvcache_file_stale_offers_total 211
# HELP nvcache_file_invalidated_total Cached blocks outdated by writes and removals
# TYPE nvcache_file_invalidated_total counter
nvcache_file_invalidated_total 212
# HELP nvcache_file_files Cacheable files open
# TYPE nvcache_file_files gauge
nvcache_file_files 301
# HELP nvcache_file_dataset_bytes Bytes of cacheable files open
# TYPE nvcache_file_dataset_bytes gauge
nvcache_file_dataset_bytes 302
# HELP nvcache_file_extents Entries of the extent maps
# TYPE nvcache_file_extents gauge
nvcache_file_extents 303
# HELP nvcache_file_metadata_bytes Bytes of DRAM for the extent maps
# TYPE nvcache_file_metadata_bytes gauge
nvcache_file_metadata_bytes 304
)~");
}

TEST(MetricsText, OfAKeyValueStoreIsAsItAlwaysWas) {
  EXPECT_EQ(
      sample_kv_stats().to_json(),
      R"({"gets":401,"hits":402,"expired":403,"outdated":433,"puts":404)"
      R"(,"inserts":405,"updates":406)"
      R"(,"erases":407,"refused":408,"evicted":409,"table_evicted":435,"relocated":410)"
      R"(,"relocated_bytes":411,"zones_cleaned":412,"hot_sets_kept":413)"
      R"(,"write_cache_hits":414,"flushes":415,"flushed_bytes":416)"
      R"(,"flushed_lines":417,"drains":418,"medium_written_bytes":419,"damaged":420,"syncs":430)"
      R"(,"finished_cleanings":432,"items":421)"
      R"(,"data_bytes":422,"size_bytes":423,"metadata_bytes":424,"max_item_bytes":431)"
      R"(,"table_places":436,"fitting_item_bytes":437)"
      R"(,"recovered_items":425,"away_seconds":434,"recovery_seconds":0.25)"
      R"(,"failed":false,"recovered":true)"
      R"(,"medium":"dram","durability":"process"})");
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
      "threshold": 0
    },
    {
      "medium": "file:/x",
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
      "problem": "no such file",
      "block_cache": {
        "hits": 101,
        "misses": 102,
        "background_hits": 1,
        "background_misses": 2,
        "inserts": 105,
        "removals": 106,
        "evictions": 107,
        "erases": 108,
        "recovered_blocks": 0,
        "damaged_regions": 0,
        "rewritten_blocks": 0,
        "damaged_blocks": 109,
        "medium_errors": 110,
        "medium_read_bytes": 111,
        "medium_written_bytes": 112,
        "medium_writes": 0,
        "rewritten_bytes": 0,
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
  constexpr size_t kFlags = 2;
  EXPECT_EQ(families_of(KvStats().to_prometheus()), kv + kFlags + kInfo);
  const size_t tiered = offsetof(TieredStats, policy) / kNumber;
  constexpr size_t kHitRatio = 1;
  const size_t tier = offsetof(TierStats, medium) / kNumber;  // `threshold` takes 8, too
  EXPECT_EQ(families_of(TieredStats().to_prometheus()), tiered + kHitRatio + tier + 2 * kInfo);
}

// Each family has one HELP and one TYPE line, directly before its samples.
void expect_well_formed(const std::string& text) {
  std::set<std::string> families;
  std::istringstream lines(text);
  std::string line;
  std::string family;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << family << " comes twice";
      ASSERT_TRUE(std::getline(lines, line));
      const bool counter = family.ends_with("_total");
      EXPECT_EQ(line, "# TYPE " + family + (counter ? " counter" : " gauge"));
      continue;
    }
    EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family) << line;
    EXPECT_NE(line.find(' '), std::string::npos) << line;
  }
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
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
           "nvcache_tier_info{tier=\"1\",medium=\"file:/x\",problem=\"no such file\"} 1",
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

TEST(MetricsText, KeyValuePrometheusHasAllMetrics) {
  const std::string text = sample_kv_stats().to_prometheus();
  expect_well_formed(text);
  EXPECT_TRUE(has_line(text, "nvcache_kv_gets_total 401")) << text;
  EXPECT_TRUE(has_line(text, "nvcache_kv_recovery_seconds 0.25")) << text;
  EXPECT_TRUE(has_line(text, "nvcache_kv_recovered 1")) << text;
}

}  // namespace
}  // namespace nvcache
