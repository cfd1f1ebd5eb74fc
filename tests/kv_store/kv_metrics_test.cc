// The texts of a key-value store's statistics, byte for byte: dashboards and scripts read them by
// name.
#include "nvcache/kv_store.h"
#include "support/metrics_samples.h"

namespace nvcache {
namespace {

using test::expect_well_formed;
using test::has_line;
using test::number_from;

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
  stats.file = "/data";
  stats.medium = "dram";
  stats.durability = "process";
  return stats;
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
      R"(,"failed":false,"file_lost":false,"recovered":true)"
      R"(,"medium":"dram","durability":"process"})");
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
