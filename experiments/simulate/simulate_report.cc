#include "experiments/simulate/simulate_report.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "experiments/simulate/engines.h"
#include "experiments/simulate/report_columns.h"
#include "fmt/format.h"
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
          {"warm_read_latency", latency_json(result.warm_read_latency)},
          {"warm_storage_read_bytes", result.warm_storage_read_bytes},
          {"warm_hit_ratio", result.warm_hit_ratio},
          {"warm_storage_latency", latency_json(result.warm_storage_latency)},
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
          {"table_scans", result.table_scans},
          {"flushed_lines", result.store.flushed_lines},
          {"drains", result.store.drains},
          {"write_cache_hits", result.store.write_cache_hits},
          {"relocated_bytes", result.store.relocated_bytes},
          {"refused", result.store.refused}};
}

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

// Whether an earlier run is of the same row.
bool is_another_seed(const std::vector<Run>& runs, const Run& run) {
  return seeds_of(runs, run).front() != &run;
}

std::string heading(const Options& options) {
  const Heading heading = find_engine(options.engine)->heading(options);
  return fmt::format("{}: {} GiB, {} client{}, {} cores{}, {:g} minutes", heading.workload,
                     options.dataset_bytes >> 30, options.clients, options.clients == 1 ? "" : "s",
                     options.cores, heading.machine, options.minutes);
}

struct Table {
  const Options* options = nullptr;  // of its first row
  std::vector<TableRow> rows;

  std::span<const Column> columns() const { return find_engine(options->engine)->columns; }
};

// One a workload.
std::vector<Table> tables_of(const std::vector<Run>& runs) {
  std::vector<Table> tables;
  double base = 0;
  for (const Run& run : runs) {
    if (tables.empty() || tables.back().options->workload != run.options.workload) {
      tables.push_back({.options = &run.options, .rows = {}});
      base = 0;
    }
    if (is_another_seed(runs, run)) continue;
    const Seeds seeds = seeds_of(runs, run);
    if (run.configuration == find_engine(run.options.engine)->base) base = median_ops(seeds);
    tables.back().rows.push_back({.run = &run, .seeds = seeds, .base = base});
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
    for (const Column& column : table.columns()) {
      if (column.width > 0) line += fmt::format("{:>{}} ", column.short_one, column.width);
    }
    text += line + "\n";
    for (const TableRow& row : table.rows) {
      line.clear();
      for (const Column& column : table.columns()) {
        if (column.width > 0) line += fmt::format("{:>{}} ", column.cell(row), column.width);
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
    for (const Column& column : table.columns()) text += fmt::format(" {} |", column.title);
    text += "\n|";
    for (size_t i = 0; i < table.columns().size(); ++i) text += "---|";
    for (const TableRow& row : table.rows) {
      text += "\n|";
      for (const Column& column : table.columns()) text += fmt::format(" {} |", column.cell(row));
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
