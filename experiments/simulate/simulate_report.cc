#include "experiments/simulate/simulate_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "experiments/simulate/tables.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace nvcache::simulate {
namespace {

using nlohmann::json;

json options_json(const Options& options) {
  return {{"engine", options.engine},
          {"workload", options.workload},
          {"configuration", options.configuration},
          {"storage", options.storage},
          {"medium", options.medium},
          {"dram_bytes", options.dram_bytes},
          {"nvram_bytes", options.nvram_bytes},
          {"dataset_bytes", options.dataset_bytes},
          {"page_cache_bytes", options.page_cache_bytes},
          {"tier_bytes", options.tier_bytes},
          {"clients", options.clients},
          {"cores", options.cores},
          {"minutes", options.minutes},
          {"seed", options.seed},
          {"scale", options.scale}};
}

json latency_json(const Latency& latency) {
  return {{"mean_ns", latency.mean_ns},
          {"p50_ns", latency.p50_ns},
          {"p95_ns", latency.p95_ns},
          {"p99_ns", latency.p99_ns}};
}

json result_json(const Result& result) {
  return {{"seconds", result.seconds},
          {"operations", result.operations},
          {"ops_per_second", result.ops_per_second},
          {"reads", result.reads},
          {"updates", result.updates},
          {"inserts", result.inserts},
          {"scans", result.scans},
          {"latency", latency_json(result.latency)},
          {"read_latency", latency_json(result.read_latency)},
          {"update_latency", latency_json(result.update_latency)},
          {"warm_ops_per_second", result.warm_ops_per_second},
          {"warm_tier_hit_ratio", result.warm_tier_hit_ratio},
          {"interval_ops_per_second", result.interval_ops_per_second},
          {"interval_variation", result.interval_variation},
          {"page_lookups", result.page_lookups},
          {"page_hits", result.page_hits},
          {"os_lookups", result.os_lookups},
          {"os_hits", result.os_hits},
          {"tier_lookups", result.tier_lookups},
          {"tier_hits", result.tier_hits},
          {"tier_hit_ratio", result.tier_hit_ratio},
          {"tier_inserts", result.tier_inserts},
          {"tier_removals", result.tier_removals},
          {"tier_used_share", result.tier_used_share},
          {"line_lookups", result.line_lookups},
          {"line_hits", result.line_hits},
          {"nvram_read_bytes", result.nvram_read_bytes},
          {"nvram_written_bytes", result.nvram_written_bytes},
          {"storage_read_bytes", result.storage_read_bytes},
          {"storage_written_bytes", result.storage_written_bytes},
          {"blocks_written", result.blocks_written},
          {"checkpoints", result.checkpoints},
          {"table_scans", result.table_scans}};
}

// The runs of one row: of one workload, configuration and NVRAM, by seed.
using Seeds = std::vector<const Run*>;

Seeds seeds_of(const std::vector<Run>& runs, const Run& like) {
  Seeds seeds;
  for (const Run& run : runs) {
    if (run.configuration == like.configuration && run.options.workload == like.options.workload &&
        run.options.nvram_bytes == like.options.nvram_bytes) {
      seeds.push_back(&run);
    }
  }
  return seeds;
}

template <typename Value>
double median(const Seeds& seeds, Value value) {
  std::vector<double> values;
  for (const Run* run : seeds) values.push_back(value(run->result));
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Standard deviation of the seeds' throughput over its mean; 0 for one seed.
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

std::string microseconds(double ns) { return fmt::format("{:.0f}", ns * 1e-3); }

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string gb_s(double bytes, double seconds) {
  return fmt::format("{:.3f}", bytes * 1e-9 / seconds);
}

// Whether an earlier run is of the same row.
bool is_another_seed(const std::vector<Run>& runs, const Run& run) {
  return seeds_of(runs, run).front() != &run;
}

// What a row shows, in the order of kColumns.
std::vector<std::string> cells_of(const Run& run, const Seeds& seeds, double base) {
  const auto middle = [&seeds](auto value) { return median(seeds, value); };
  const auto rate = [&](auto bytes) { return gb_s(middle(bytes), run.result.seconds); };
  const double ops = middle([](const Result& r) { return r.ops_per_second; });
  const bool has_lines = run.result.line_lookups > 0;
  const double second = has_lines ? middle([](const Result& r) { return r.line_hit_ratio(); })
                                  : middle([](const Result& r) { return r.tier_hit_ratio; });
  const bool has_second = has_lines || run.result.tier_lookups > 0;
  return {
      std::to_string(run.options.nvram_bytes >> 30),
      run.configuration,
      fmt::format("{:.0f}", ops),
      base > 0 ? fmt::format("{:.2f}", ops / base) : "",
      percent(middle([](const Result& r) { return r.page_hit_ratio(); })),
      percent(middle([](const Result& r) { return r.os_hit_ratio(); })),
      has_second ? percent(second) : "",
      rate([](const Result& r) { return static_cast<double>(r.nvram_read_bytes); }),
      rate([](const Result& r) { return static_cast<double>(r.nvram_written_bytes); }),
      rate([](const Result& r) { return static_cast<double>(r.storage_read_bytes); }),
      rate([](const Result& r) { return static_cast<double>(r.storage_written_bytes); }),
      microseconds(middle([](const Result& r) { return static_cast<double>(r.latency.p50_ns); })),
      microseconds(middle([](const Result& r) { return static_cast<double>(r.latency.p99_ns); })),
      percent(middle([](const Result& r) { return r.interval_variation; })),
      seeds.size() < 2 ? "" : percent(deviation_by_seed(seeds)),
  };
}

struct Column {
  std::string_view title;      // in a page
  std::string_view short_one;  // in a terminal, where there are 100 columns
  int width;
};

constexpr auto kColumns = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5},
    {"configuration", "configuration", 18},
    {"ops/s", "ops/s", 8},
    {"none = 1", "x none", 6},
    {"page cache hits, %", "page%", 5},
    {"OS page cache hits, %", "OS%", 5},
    {"tier or line hits, %", "tier%", 5},
    {"NVRAM read, GB/s", "nv.rd", 6},
    {"NVRAM written, GB/s", "nv.wr", 6},
    {"disk read, GB/s", "dsk.rd", 6},
    {"disk written, GB/s", "dsk.wr", 6},
    {"p50, us", "p50us", 5},
    {"p99, us", "p99us", 5},
    {"deviation over time, %", "", 0},
    {"deviation by seed, %", "", 0},
});

std::string heading(const Options& options) {
  return fmt::format("{}: {} GiB, {} clients, {} cores, {} GiB of DRAM, {}, {:g} minutes",
                     find_row(kWorkloads, options.workload)->help, options.dataset_bytes >> 30,
                     options.clients, options.cores, options.dram_bytes >> 30, options.storage,
                     options.minutes);
}

struct Table {
  const Options* options = nullptr;  // of its first row
  std::vector<std::vector<std::string>> rows;
};

// One a workload.
std::vector<Table> tables_of(const std::vector<Run>& runs) {
  std::vector<Table> tables;
  double base = 0;  // of `none`; 0: it was not simulated
  for (const Run& run : runs) {
    if (tables.empty() || tables.back().options->workload != run.options.workload) {
      tables.push_back({.options = &run.options, .rows = {}});
      base = 0;
    }
    if (is_another_seed(runs, run)) continue;
    const Seeds seeds = seeds_of(runs, run);
    if (run.configuration == "none") {
      base = median(seeds, [](const Result& r) { return r.ops_per_second; });
    }
    tables.back().rows.push_back(cells_of(run, seeds, base));
  }
  return tables;
}

}  // namespace

json document(const std::vector<Run>& runs, const std::string& command) {
  json list = json::array();
  for (const Run& run : runs) {
    list.push_back({{"configuration", run.configuration},
                    {"options", options_json(run.options)},
                    {"result", result_json(run.result)}});
  }
  return {{"kind", "simulation"},       {"schema", 1},        {"simulated", true},
          {"version", NVCACHE_VERSION}, {"command", command}, {"runs", std::move(list)}};
}

std::string text_tables(const std::vector<Run>& runs) {
  std::string text;
  for (const Table& table : tables_of(runs)) {
    text += fmt::format("{}\nSIMULATED at 1/{} of the sizes; NVRAM: {}, modelled\n",
                        heading(*table.options), table.options->scale, table.options->medium);
    std::string line;
    for (const Column& column : kColumns) {
      if (column.width > 0) line += fmt::format("{:>{}} ", column.short_one, column.width);
    }
    text += line + "\n";
    for (const std::vector<std::string>& row : table.rows) {
      line.clear();
      for (size_t i = 0; i < row.size(); ++i) {
        if (kColumns[i].width > 0) line += fmt::format("{:>{}} ", row[i], kColumns[i].width);
      }
      text += line + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string markdown_tables(const std::vector<Run>& runs) {
  std::string text;
  for (const Table& table : tables_of(runs)) {
    text += fmt::format("### {}\n\n|", heading(*table.options));
    for (const Column& column : kColumns) text += fmt::format(" {} |", column.title);
    text += "\n|";
    for (size_t i = 0; i < kColumns.size(); ++i) text += "---|";
    for (const std::vector<std::string>& row : table.rows) {
      text += fmt::format("\n| {} |", fmt::join(row, " | "));
    }
    text += "\n\n";
  }
  return text;
}

std::string spread_table(const std::vector<Run>& runs) {
  struct Spread {
    double by_seed = 0;
    double over_time = 0;
  };
  std::map<std::pair<uint64_t, std::string>, Spread> spreads;
  for (const Run& run : runs) {
    const Seeds seeds = seeds_of(runs, run);
    if (seeds.size() < 2) continue;
    Spread& spread = spreads[{run.options.nvram_bytes, run.configuration}];
    spread.by_seed = std::max(spread.by_seed, deviation_by_seed(seeds));
    spread.over_time = std::max(spread.over_time, run.result.interval_variation);
  }
  if (spreads.empty()) return "";
  std::string text =
      "| NVRAM, GiB | configuration | by seed, % | over time, % |\n|---|---|---|---|\n";
  for (const auto& [row, spread] : spreads) {
    text += fmt::format("| {} | {} | {} | {} |\n", row.first >> 30, row.second,
                        percent(spread.by_seed), percent(spread.over_time));
  }
  return text;
}

}  // namespace nvcache::simulate
