#include "nvcache/stats.h"

#include <string_view>
#include <utility>

#include "base/metrics.h"
#include "block_cache/api/counters.h"
#include "block_cache/api/stats_text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

using enum MetricKind;

// All but the refusals and the names; nvcache/stats.h documents them.
constexpr Metric<Stats, Count> kMetrics[] = {
    {"hits", "Lookups that served a block", kCounter, &Stats::hits, Count::kHits},
    {"misses", "Lookups that served none", kCounter, &Stats::misses, Count::kMisses},
    {"background_hits", "Hits of background work", kCounter, &Stats::background_hits,
     Count::kBackgroundHits},
    {"background_misses", "Misses of background work", kCounter, &Stats::background_misses,
     Count::kBackgroundMisses},
    {"inserts", "Blocks inserted", kCounter, &Stats::inserts, Count::kInserts},
    {"compressed_blocks", "Blocks inserted that the engine had compressed", kCounter,
     &Stats::compressed_blocks, Count::kCompressed},
    {"removals", "Blocks removed, for any cause", kCounter, &Stats::removals, Count::kRemovals},
    {"evictions", "Blocks evicted", kCounter, &Stats::evictions, Count::kEvictions},
    {"erases", "Blocks erased by key or file", kCounter, &Stats::erases, Count::kErases},
    {"recovered_blocks", "Blocks that came back after a restart", kCounter,
     &Stats::recovered_blocks, Count::kRecovered},
    {"damaged_regions", "Regions whose index could not be read", kCounter, &Stats::damaged_regions},
    {"rewritten_blocks", "Blocks moved to another region", kCounter, &Stats::rewritten_blocks,
     Count::kRewritten},
    {"damaged_blocks", "Blocks whose checksum failed", kCounter, &Stats::damaged_blocks,
     Count::kDamaged},
    {"failed_blocks", "Blocks lost by reads and writes the medium failed", kCounter,
     &Stats::failed_blocks, Count::kFailed},
    {"medium_errors", "Reads and writes the medium failed", kCounter, &Stats::medium_errors,
     Count::kMediumErrors},
    {"medium_read_bytes", "Bytes read from the medium", kCounter, &Stats::medium_read_bytes,
     Count::kMediumReadBytes},
    {"medium_written_bytes", "Bytes written to the medium", kCounter, &Stats::medium_written_bytes,
     Count::kMediumWrittenBytes},
    {"medium_writes", "Writes to the medium", kCounter, &Stats::medium_writes,
     Count::kMediumWrites},
    {"rewritten_bytes", "Bytes of rewritten blocks", kCounter, &Stats::rewritten_bytes,
     Count::kRewrittenBytes},
    {"compressed_bytes", "Bytes of blocks that the engine had compressed", kCounter,
     &Stats::compressed_bytes, Count::kCompressedBytes},
    {"discarded_bytes", "Bytes of emptied regions given back to the medium", kCounter,
     &Stats::discarded_bytes},
    {"discard_errors", "Discards that failed: the first turns discard off", kCounter,
     &Stats::discard_errors},
    {"blocks", "Blocks in the cache", kGauge, &Stats::blocks},
    {"data_bytes", "Bytes of data in the cache", kGauge, &Stats::data_bytes},
    {"used_bytes", "Bytes of the medium taken", kGauge, &Stats::used_bytes},
    {"size_bytes", "Bytes of the medium", kGauge, &Stats::size_bytes},
    {"metadata_bytes", "Bytes of DRAM for metadata", kGauge, &Stats::metadata_bytes},
    {"dataset_size_bytes", "Bytes of the engine's dataset", kGauge, &Stats::dataset_size_bytes},
    {"pending_bytes", "Bytes in the write queue", kGauge, &Stats::pending_bytes},
    {"buffer_bytes", "Bytes of DRAM for open regions", kGauge, &Stats::buffer_bytes},
    {"regions", "Regions of the medium", kGauge, &Stats::regions},
    {"free_regions", "Regions that are free", kGauge, &Stats::free_regions},
    {"set_aside_bytes", "Bytes of the medium not used since a write there failed", kGauge,
     &Stats::set_aside_bytes},
    {"recovering", "1 while blocks come back after a restart", kGauge, &Stats::recovering},
    {"failed", "1 when the medium is off for reads or writes", kGauge, &Stats::failed},
    {"overhead_ratio", "Overhead ratio now", kGauge, &Stats::overhead_ratio},
};
// The others are in no total, but in gauges.
static_assert(each_has_a_row({Count::kHitBytes, Count::kInsertedBytes, Count::kRemovedBytes,
                              Count::kRecoveredBytes},
                             kMetrics));

}  // namespace

void read_counters(const Counters& counters, Stats* stats) {
  read_counters(kMetrics, counters, stats);
  // Lookups of background work are counted apart, so that each adds to one counter.
  stats->hits += stats->background_hits;
  stats->misses += stats->background_misses;
}

double Stats::hit_ratio() const {
  const uint64_t foreground_hits = hits - background_hits;
  const uint64_t lookups = foreground_hits + misses - background_misses;
  return lookups == 0 ? 0 : static_cast<double>(foreground_hits) / static_cast<double>(lookups);
}

void visit_metrics(const Stats& stats,
                   FunctionRef<void(std::string_view name, double value)> visit) {
  for (const auto& metric : kMetrics) {
    visit_metric(metric, stats,
                 [&](auto value) { visit(metric.name, static_cast<double>(value)); });
  }
}

void add_stats(const Stats& from, bool gauges, Stats* sum) {
  add_metrics(kMetrics, from, gauges, sum);
  for (size_t i = 0; i < kReasonCount; ++i) sum->refused[i] += from.refused[i];
}

void write_json(const Stats& stats, JsonText* json) {
  json->begin_object();
  append_json(kMetrics, stats, json);
  json->member("hit_ratio", stats.hit_ratio());
  json->name("refused");
  json->begin_object();
  for (size_t i = 1; i < kReasonCount; ++i) {
    json->member(reason_name(static_cast<Reason>(i)), stats.refused[i]);
  }
  json->end_object();
  json->member("medium", stats.medium);
  json->member("admission", stats.admission);
  json->member("eviction", stats.eviction);
  json->end_object();
}

void append_stats(std::span<const Labeled<Stats>> all, PrometheusText* out) {
  out->append<Stats>(kMetrics, all);
  out->family("refused_total", "Blocks refused, by reason", kCounter);
  for (const auto& [labels, stats] : all) {
    for (size_t i = 1; i < kReasonCount; ++i) {
      const std::string reason = fmt::format("reason=\"{}\"", reason_name(static_cast<Reason>(i)));
      out->sample(join_labels(labels, reason), stats->refused[i]);
    }
  }
  out->family("info", "What the cache lies on and by which policies", kGauge);
  for (const auto& [labels, stats] : all) {
    const std::string names =
        fmt::format("medium=\"{}\",admission=\"{}\",eviction=\"{}\"", escape_label(stats->medium),
                    escape_label(stats->admission), escape_label(stats->eviction));
    out->sample(join_labels(labels, names), 1);
  }
}

std::string Stats::to_json() const {
  JsonText json(2);
  write_json(*this, &json);
  return json.take();
}

std::string Stats::to_prometheus() const {
  PrometheusText text("nvcache_");
  const Labeled<Stats> all[] = {{.labels = "", .stats = this}};
  append_stats(all, &text);
  return text.take();
}

}  // namespace nvcache
