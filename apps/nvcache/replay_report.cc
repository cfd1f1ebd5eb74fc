#include "apps/nvcache/replay_report.h"

#include <algorithm>

#include "base/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr size_t kLeastNameColumns = 24;
constexpr size_t kCellColumns = 19;

struct Figures {
  double hit_ratio = 0;
  double inserts_per_lookup = 0;
  uint64_t written_bytes = 0;
};

// The policies' names alone, where a row names just them.
std::string short_name(std::string spec) {
  for (const std::string_view word : {"nvcache://?", "admission=", "eviction="}) {
    if (const size_t at = spec.find(word); at != std::string::npos) spec.erase(at, word.size());
  }
  std::ranges::replace(spec, '&', '+');
  return spec;
}

std::string ratio_text(double ratio, int places) {
  std::string text = fmt::format("{:.{}f}", ratio, places);
  return text.starts_with("0.") ? text.substr(1) : text;
}

size_t name_columns(const ReplayPlan& plan) {
  size_t columns = kLeastNameColumns;
  for (const std::string& spec : plan.specs) {
    columns = std::max(columns, short_name(spec).size() + 1);
  }
  return columns;
}

std::string heading(const std::string& title, const ReplayPlan& plan) {
  std::string text = fmt::format("{}\n{:<{}}", title, "tier", name_columns(plan));
  for (const ReplaySize& size : plan.tiers) text += fmt::format("{:>{}}", size.text, kCellColumns);
  return text + "\n";
}

std::string row_text(const std::string& spec, const ReplayPlan& plan,
                     const std::vector<Figures>& cells) {
  std::string text = fmt::format("{:<{}}", short_name(spec), name_columns(plan));
  for (const Figures& cell : cells) {
    text += fmt::format(
        "{:>{}}",
        fmt::format("{} /{} {}", ratio_text(cell.hit_ratio, 3),
                    ratio_text(cell.inserts_per_lookup, 2), format_bytes(cell.written_bytes)),
        kCellColumns);
  }
  return text + "\n";
}

Figures figures_of(const ReplayResult& result) {
  return {.hit_ratio = result.hit_ratio(),
          .inserts_per_lookup = result.inserts_per_lookup(),
          .written_bytes = result.written_bytes};
}

std::vector<Figures> means_of(const std::vector<ReplayTable>& tables, size_t row, size_t columns) {
  std::vector<Figures> cells(columns);
  const auto count = static_cast<double>(tables.size());
  for (const ReplayTable& table : tables) {
    for (size_t column = 0; column < columns; ++column) {
      const ReplayResult& result = table.rows[row][column];
      cells[column].hit_ratio += result.hit_ratio() / count;
      cells[column].inserts_per_lookup += result.inserts_per_lookup() / count;
      cells[column].written_bytes += result.written_bytes;
    }
  }
  return cells;
}

nlohmann::json json_of(const Figures& figures) {
  return {{"hit_ratio", figures.hit_ratio},
          {"inserts_per_lookup", figures.inserts_per_lookup},
          {"written_bytes", figures.written_bytes}};
}

std::string blocks_text(const ReplayTable& table) {
  return table.distinct == 0 ? "" : fmt::format(", {} blocks", table.distinct);
}

}  // namespace

std::string replay_text(const ReplayTable& table, const ReplayPlan& plan) {
  std::string text = heading(fmt::format("{}: {} accesses{}, {} lookups in the tier", table.trace,
                                         table.accesses, blocks_text(table), table.lookups),
                             plan);
  for (size_t row = 0; row < plan.specs.size(); ++row) {
    std::vector<Figures> cells;
    for (const ReplayResult& result : table.rows[row]) cells.push_back(figures_of(result));
    text += row_text(plan.specs[row], plan, cells);
  }
  return text;
}

std::string replay_means_text(const std::vector<ReplayTable>& tables, const ReplayPlan& plan) {
  std::string text =
      heading(fmt::format("mean of {} traces, sum of their bytes", tables.size()), plan);
  for (size_t row = 0; row < plan.specs.size(); ++row) {
    text += row_text(plan.specs[row], plan, means_of(tables, row, plan.tiers.size()));
  }
  return text;
}

nlohmann::json replay_json(const std::vector<ReplayTable>& tables, const ReplayPlan& plan) {
  using nlohmann::json;
  json document = {{"kind", "replay"},       {"schema", 1},         {"dram", plan.dram.text},
                   {"tiers", json::array()}, {"specs", plan.specs}, {"traces", json::array()},
                   {"means", json::array()}};
  for (const ReplaySize& size : plan.tiers) document["tiers"].push_back(size.text);
  for (const ReplayTable& table : tables) {
    json trace = {{"trace", table.trace},         {"format", table.format},
                  {"accesses", table.accesses},   {"distinct_blocks", table.distinct},
                  {"lookups", table.lookups},     {"dram_blocks", table.dram_blocks},
                  {"cut_short", table.cut_short}, {"skipped_lines", table.skipped_lines},
                  {"seconds", table.seconds},     {"cpu_seconds", table.cpu_seconds},
                  {"results", json::array()}};
    for (size_t row = 0; row < plan.specs.size(); ++row) {
      for (size_t column = 0; column < plan.tiers.size(); ++column) {
        const ReplayResult& result = table.rows[row][column];
        json cell = json_of(figures_of(result));
        cell.update({{"spec", plan.specs[row]},
                     {"tier", plan.tiers[column].text},
                     {"tier_blocks", table.tier_blocks[column]},
                     {"hits", result.hits},
                     {"inserts", result.inserts}});
        trace["results"].push_back(std::move(cell));
      }
    }
    document["traces"].push_back(std::move(trace));
  }
  for (size_t row = 0; row < plan.specs.size(); ++row) {
    const std::vector<Figures> cells = means_of(tables, row, plan.tiers.size());
    for (size_t column = 0; column < cells.size(); ++column) {
      json cell = json_of(cells[column]);
      cell.update({{"spec", plan.specs[row]}, {"tier", plan.tiers[column].text}});
      document["means"].push_back(std::move(cell));
    }
  }
  return document;
}

}  // namespace nvcache
