#include "experiments/simulate/report_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fmt/format.h"

namespace nvcache::simulate {
namespace {

template <typename Value>
double median(const Seeds& seeds, Value value) {
  std::vector<double> values;
  for (const Run* run : seeds) values.push_back(static_cast<double>(value(run->result)));
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// ---- What all engines show ----

std::string nvram(const TableRow& row) {
  return std::to_string(row.run->options.nvram_bytes >> 30);
}
std::string configuration(const TableRow& row) { return row.run->configuration; }
std::string ops(const TableRow& row) { return fmt::format("{:.0f}", median_ops(row.seeds)); }
std::string over_base(const TableRow& row) {
  return row.base > 0 ? fmt::format("{:.2f}", median_ops(row.seeds) / row.base) : "";
}

template <auto kBytes>
std::string gb_s(const TableRow& row) {
  const double bytes = median(row.seeds, [](const Result& r) { return r.*kBytes; });
  return fmt::format("{:.3f}", bytes * 1e-9 / row.run->result.seconds);
}

template <auto kQuantile>
double latency_ns(const TableRow& row) {
  return median(row.seeds, [](const Result& r) { return r.latency.*kQuantile; });
}
template <auto kQuantile>
std::string microseconds(const TableRow& row) {
  return fmt::format("{:.0f}", latency_ns<kQuantile>(row) * 1e-3);
}
template <auto kQuantile>
std::string nanoseconds(const TableRow& row) {
  return fmt::format("{:.0f}", latency_ns<kQuantile>(row));
}

// Of a read of the disk, in the second half.
template <auto kQuantile>
std::string warm_disk_microseconds(const TableRow& row) {
  const double ns =
      median(row.seeds, [](const Result& r) { return r.warm_storage_latency.*kQuantile; });
  return fmt::format("{:.0f}", ns * 1e-3);
}

std::string over_time(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.interval_variation; }));
}
std::string by_seed(const TableRow& row) {
  return row.seeds.size() < 2 ? "" : percent(deviation_by_seed(row.seeds));
}

// ---- WiredTiger ----

std::string page_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.page_hit_ratio(); }));
}
std::string os_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.os_hit_ratio(); }));
}
std::string tier_hits(const TableRow& row) {
  if (row.run->result.line_lookups > 0) {
    return percent(median(row.seeds, [](const Result& r) { return r.line_hit_ratio(); }));
  }
  if (row.run->result.tier_lookups == 0) return "";
  return percent(median(row.seeds, [](const Result& r) { return r.tier_hit_ratio; }));
}

constexpr auto kWiredTiger = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, nvram},
    {"configuration", "configuration", 18, configuration},
    {"ops/s", "ops/s", 8, ops},
    {"none = 1", "x none", 6, over_base},
    {"page cache hits, %", "page%", 5, page_hits},
    {"OS page cache hits, %", "OS%", 5, os_hits},
    {"tier or line hits, %", "tier%", 5, tier_hits},
    {"NVRAM read, GB/s", "nv.rd", 6, gb_s<&Result::nvram_read_bytes>},
    {"NVRAM written, GB/s", "nv.wr", 6, gb_s<&Result::nvram_written_bytes>},
    {"disk read, GB/s", "dsk.rd", 6, gb_s<&Result::storage_read_bytes>},
    {"disk written, GB/s", "dsk.wr", 6, gb_s<&Result::storage_written_bytes>},
    {"p50, us", "p50us", 5, microseconds<&Latency::p50_ns>},
    {"p99, us", "p99us", 5, microseconds<&Latency::p99_ns>},
    {"deviation over time, %", "", 0, over_time},
    {"deviation by seed, %", "", 0, by_seed},
});

// ---- memcached ----

template <auto kCount>
std::string per_operation(const TableRow& row) {
  return fmt::format("{:.2f}", median(row.seeds, [](const Result& r) {
                       return static_cast<double>(r.store.*kCount) /
                              static_cast<double>(std::max<uint64_t>(1, r.operations));
                     }));
}

constexpr auto kMemcached = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, nvram},
    {"configuration", "configuration", 13, configuration},
    {"ops/s", "ops/s", 8, ops},
    {"mc-nvm = 1", "x nvm", 6, over_base},
    {"GET hits, %", "hit%", 5, tier_hits},
    {"lines flushed an operation", "lines", 6, per_operation<&StoreCounts::flushed_lines>},
    {"drains an operation", "drains", 6, per_operation<&StoreCounts::drains>},
    {"write cache hits an operation", "w.cache", 7, per_operation<&StoreCounts::write_cache_hits>},
    {"memory read, GB/s", "nv.rd", 6, gb_s<&Result::nvram_read_bytes>},
    {"memory written, GB/s", "nv.wr", 6, gb_s<&Result::nvram_written_bytes>},
    {"p50, ns", "p50ns", 6, nanoseconds<&Latency::p50_ns>},
    {"p99, ns", "p99ns", 6, nanoseconds<&Latency::p99_ns>},
    {"deviation over time, %", "", 0, over_time},
    {"deviation by seed, %", "", 0, by_seed},
});

// ---- RocksDB ----

std::string warm_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.warm_hit_ratio; }));
}

constexpr auto kRocksdb = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, nvram},
    {"configuration", "configuration", 18, configuration},
    {"ops/s", "ops/s", 8, ops},
    {"64-0 = 1", "x 64-0", 6, over_base},
    {"first tier hits, %", "1st%", 5, page_hits},
    {"tier or line hits, %", "tier%", 5, tier_hits},
    {"warm hits, %", "warm%", 5, warm_hits},
    {"NVRAM read, GB/s", "nv.rd", 6, gb_s<&Result::nvram_read_bytes>},
    {"NVRAM written, GB/s", "nv.wr", 6, gb_s<&Result::nvram_written_bytes>},
    {"disk read, GB/s", "dsk.rd", 6, gb_s<&Result::storage_read_bytes>},
    {"disk written, GB/s", "dsk.wr", 6, gb_s<&Result::storage_written_bytes>},
    {"p50, us", "p50us", 5, microseconds<&Latency::p50_ns>},
    {"p99, us", "p99us", 5, microseconds<&Latency::p99_ns>},
    {"warm disk read p50, us", "", 0, warm_disk_microseconds<&Latency::p50_ns>},
    {"warm disk read p95, us", "", 0, warm_disk_microseconds<&Latency::p95_ns>},
    {"deviation over time, %", "", 0, over_time},
    {"deviation by seed, %", "", 0, by_seed},
});

}  // namespace

std::span<const Column> columns_of(std::string_view engine) {
  if (engine == "memcached") return kMemcached;
  if (engine == "rocksdb") return kRocksdb;
  return kWiredTiger;
}

double median_ops(const Seeds& seeds) {
  return median(seeds, [](const Result& r) { return r.ops_per_second; });
}

double deviation_by_seed(const Seeds& seeds) {
  if (seeds.size() < 2) return 0;
  double sum = 0;
  double squares = 0;
  const auto count = static_cast<double>(seeds.size());
  for (const Run* run : seeds) sum += run->result.ops_per_second;
  for (const Run* run : seeds) {
    const double off = run->result.ops_per_second - sum / count;
    squares += off * off;
  }
  return std::sqrt(squares / (count - 1)) / (sum / count);
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace nvcache::simulate
