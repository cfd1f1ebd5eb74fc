// The statistics of a key-value store as JSON and as Prometheus text.
#include "base/metrics.h"
#include "fmt/format.h"
#include "kv_store/api/counters.h"
#include "nvcache/kv_store.h"

namespace nvcache {
namespace {

using enum MetricKind;

// All but the names and notes; nvcache/kv_store.h documents them.
constexpr Metric<KvStats, KvCounter> kStoreMetrics[] = {
    {"gets", "Gets", kCounter, &KvStats::gets, KvCounter::kGets},
    {"hits", "Gets that found the item", kCounter, &KvStats::hits, KvCounter::kHits},
    {"expired", "Gets of items past their time", kCounter, &KvStats::expired, KvCounter::kExpired},
    {"outdated", "Gets of items of before a long absence", kCounter, &KvStats::outdated,
     KvCounter::kOutdated},
    {"puts", "Puts", kCounter, &KvStats::puts, KvCounter::kPuts},
    {"inserts", "Puts of new keys", kCounter, &KvStats::inserts, KvCounter::kInserts},
    {"updates", "Puts in place of an older value", kCounter, &KvStats::updates,
     KvCounter::kUpdates},
    {"erases", "Erases", kCounter, &KvStats::erases, KvCounter::kErases},
    {"refused", "Puts refused: item too large, or no space", kCounter, &KvStats::refused,
     KvCounter::kRefused},
    {"evicted", "Items evicted to make room", kCounter, &KvStats::evicted, KvCounter::kEvicted},
    {"table_evicted", "Items evicted because the table of items was full", kCounter,
     &KvStats::table_evicted, KvCounter::kTableEvicted},
    {"relocated", "Items moved by cleaning", kCounter, &KvStats::relocated, KvCounter::kRelocated},
    {"relocated_bytes", "Bytes moved by cleaning", kCounter, &KvStats::relocated_bytes,
     KvCounter::kRelocatedBytes},
    {"zones_cleaned", "Zones cleaned", kCounter, &KvStats::zones_cleaned, KvCounter::kZonesCleaned},
    {"hot_sets_kept", "Cleanings that left the last hot set in place", kCounter,
     &KvStats::hot_sets_kept, KvCounter::kHotSetsKept},
    {"write_cache_hits", "Gets and puts served by the DRAM write cache", kCounter,
     &KvStats::write_cache_hits, KvCounter::kWriteCacheHits},
    {"flushes", "Flushes of the medium", kCounter, &KvStats::flushes, KvCounter::kFlushes},
    {"flushed_bytes", "Bytes flushed", kCounter, &KvStats::flushed_bytes, KvCounter::kFlushedBytes},
    {"flushed_lines", "Lines of 64 bytes flushed", kCounter, &KvStats::flushed_lines,
     KvCounter::kFlushedLines},
    {"drains", "Fences, or flushes of the device", kCounter, &KvStats::drains, KvCounter::kDrains},
    {"medium_written_bytes", "Bytes written to the medium", kCounter,
     &KvStats::medium_written_bytes, KvCounter::kWrittenBytes},
    {"damaged", "Items whose checksum failed", kCounter, &KvStats::damaged, KvCounter::kDamaged},
    {"syncs", "Background syncs of the file", kCounter, &KvStats::syncs, KvCounter::kSyncs},
    {"finished_cleanings", "Cleanings that a kill had cut short, finished at the opening", kCounter,
     &KvStats::finished_cleanings, KvCounter::kFinishedCleanings},
    {"items", "Items in the store", kGauge, &KvStats::items},
    {"data_bytes", "Bytes of keys and values", kGauge, &KvStats::data_bytes},
    {"size_bytes", "Bytes of the medium", kGauge, &KvStats::size_bytes},
    {"metadata_bytes", "Bytes of DRAM for metadata", kGauge, &KvStats::metadata_bytes},
    {"max_item_bytes", "Bytes of the largest key and value that fit", kGauge,
     &KvStats::max_item_bytes},
    {"table_places", "Places for items in the table of items", kGauge, &KvStats::table_places},
    {"fitting_item_bytes", "The item= that fits what is stored; 0 while the table is large enough",
     kGauge, &KvStats::fitting_item_bytes},
    {"recovered_items", "Descriptors found at the opening", kGauge, &KvStats::recovered_items},
    {"away_seconds", "Time that the store was closed before the opening", kGauge,
     &KvStats::away_seconds},
    {"recovery_seconds", "Time that recovery took", kGauge, &KvStats::recovery_seconds},
    {"failed", "1 once the medium failed: changes are refused", kGauge, &KvStats::failed},
    {"file_lost", "1 while the file of the store is not at its path", kGauge, &KvStats::file_lost},
    {"recovered", "1 when the medium held a store at the opening", kGauge, &KvStats::recovered},
};
static_assert(each_has_a_row<KvCounter>({}, kStoreMetrics));

}  // namespace

void read_counters(const KvCounters& counters, KvStats* stats) {
  read_counters(kStoreMetrics, counters, stats);
}

std::string KvStats::to_json() const {
  JsonText json(-1);
  json.begin_object();
  append_json(kStoreMetrics, *this, &json);
  json.member("medium", medium);
  json.member("durability", durability);
  json.end_object();
  return json.take();
}

std::string KvStats::to_prometheus() const {
  PrometheusText text("nvcache_kv_");
  const Labeled<KvStats> all[] = {{.labels = "", .stats = this}};
  text.append<KvStats>(kStoreMetrics, all);
  text.family("info", "What the store lies on, and what its items survive", kGauge);
  text.sample(fmt::format("medium=\"{}\",durability=\"{}\"", escape_label(medium),
                          escape_label(durability)),
              1);
  return text.take();
}

}  // namespace nvcache
