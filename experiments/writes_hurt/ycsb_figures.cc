#include "experiments/writes_hurt/ycsb_figures.h"

#include <cctype>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/workload/ycsb.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/workloads.h"

namespace nvcache::writes_hurt {
namespace {

using figures::add_row;
using figures::make_figure;
using figures::ratios_of;
using figures::spread_cell;
using figures::Value;
using figures::values_of;
using nlohmann::json;

std::string label_of(char letter) {
  return fmt::format("YCSB-{}", static_cast<char>(std::toupper(letter)));
}

std::vector<const json*> ycsb_runs_of(const json& document, int figure, char letter,
                                      const std::string& configuration, double dram_gb) {
  return figures::runs_of(document.at("runs"), std::string_view(&letter, 1),
                          fmt::format("{}-{:g}", figure == 7 ? "dram" : "split", dram_gb),
                          configuration);
}

Value metric(const char* name, double factor = 1) {
  return [name, factor](const json& run) -> std::optional<double> {
    const json& metrics = run.at("metrics");
    if (!metrics.contains(name)) return std::nullopt;
    return metrics[name].get<double>() * factor;
  };
}

std::string split_name(const CostRow& split) {
  return fmt::format("{:g}+{:g} GB", split.nvram_gb, split.dram_gb);
}

std::string choice_of(const CostRow& split) {
  return split.nvram_gb == 0 ? "none" : fmt::format("nvcache-{:.0f}", split.nvram_gb);
}

}  // namespace

json figure7(const json& document, const std::string& on) {
  json figure = make_figure("Figure 7", "YCSB throughput relative to no NVRAM" + on, "x", 2, true);
  figure["columns"] = {"open-cas-like", "nvcache", "hit % open-cas", "hit % nvcache",
                       "written: open-cas / nvcache"};
  for (const YcsbRow& row : table3()) {
    const auto none = ycsb_runs_of(document, 7, row.letter, "none", kLargeDramGb);
    for (const int nvram_gb : {64, 128, 252}) {
      const auto runs = [&](const char* name) {
        return ycsb_runs_of(document, 7, row.letter, fmt::format("{}-{}", name, nvram_gb),
                            kLargeDramGb);
      };
      const auto cas = runs("open-cas"), nvcache = runs("nvcache");
      if (none.empty() || (cas.empty() && nvcache.empty())) continue;
      const Value ops = metric("ops_per_second");
      const Value hits = metric("tier_hit_ratio", 100);
      add_row(figure, fmt::format("{} {} GB", label_of(row.letter), nvram_gb),
              {spread_cell(ratios_of(cas, none, ops), "1"),
               spread_cell(ratios_of(nvcache, none, ops), row.letter == 'a' ? "1" : ""),
               spread_cell(values_of(cas, hits)), spread_cell(values_of(nvcache, hits)),
               spread_cell(ratios_of(cas, nvcache, metric("tier_written_bytes")), "100")});
    }
  }
  figure["notes"] = {
      "32 GB DRAM and the NVRAM named, scaled; Memory Mode is not run (it needs the hardware): the "
      "simulator is for that",
      "open-cas-like in process: admits reads only, and drops blocks that are written instead of "
      "updating them",
      "*Writes Hurt* (4.1.2): no gain for OpenCAS, two orders of magnitude more writes; nvcache "
      "leaves YCSB-A as it is; its bars have no numbers"};
  return figure;
}

json figure8_gain(const json& document, const std::string& on) {
  json figure =
      make_figure("Figure 8a", "YCSB performance per dollar against 96 GB of DRAM alone" + on,
                  "% more", 1, true);
  json columns = json::array();
  for (const CostRow& split : table4()) {
    if (split.nvram_gb > 0) columns.push_back(split_name(split));
  }
  figure["columns"] = columns;
  for (const YcsbRow& row : table3()) {
    const auto base = ycsb_runs_of(document, 8, row.letter, "none", table4()[0].dram_gb);
    if (base.empty()) continue;
    json cells = json::array();
    for (const CostRow& split : table4()) {
      if (split.nvram_gb == 0) continue;
      auto gains = ratios_of(ycsb_runs_of(document, 8, row.letter, choice_of(split), split.dram_gb),
                             base, metric("ops_per_second"));
      for (double& gain : gains) {
        gain = 100 * (gain / relative_cost(split.nvram_gb, split.dram_gb) - 1);
      }
      const bool said = row.letter == 'c' && split.nvram_gb == 64;
      cells.push_back(spread_cell(std::move(gains), said ? "over 69" : ""));
    }
    add_row(figure, label_of(row.letter), std::move(cells));
  }
  figure["notes"] = {
      "NVRAM + DRAM of *Writes Hurt*; costs of Table 4",
      "*Writes Hurt* (4.2): YCSB-C with 64+32 GB is faster than with 96 GB of DRAM, for "
      "0.59 of the cost; YCSB-A loses"};
  return figure;
}

json figure8_hits(const json& document, const std::string& on) {
  json figure = make_figure("Figure 8b", "hit ratio of nvcache in those runs" + on, "%", 1, true);
  json columns = json::array();
  for (const CostRow& split : table4()) {
    if (split.nvram_gb > 0) columns.push_back(split_name(split));
  }
  figure["columns"] = columns;
  for (const YcsbRow& row : table3()) {
    json cells = json::array();
    bool any = false;
    for (const CostRow& split : table4()) {
      if (split.nvram_gb == 0) continue;
      const auto runs = ycsb_runs_of(document, 8, row.letter, choice_of(split), split.dram_gb);
      any = any || !runs.empty();
      cells.push_back(spread_cell(values_of(runs, metric("tier_hit_ratio", 100))));
    }
    if (any) add_row(figure, label_of(row.letter), std::move(cells));
  }
  return figure;
}

json figure_table3(const json& document) {
  json figure = make_figure("Table 3", "YCSB characteristics, published and ours", "", 0, false);
  figure["columns"] = {"mix", "threads", "records", "data MiB"};
  for (const YcsbRow& row : table3()) {
    const auto workload = ycsb_workload(std::string_view(&row.letter, 1));
    if (!workload.ok()) continue;
    json bytes = "not loaded";
    for (const json& database : document.at("databases")) {
      if (database.at("workload") != fmt::format("ycsb-{}", row.letter)) continue;
      bytes = fmt::format("{:.0f}", database.at("bytes").get<double>() / (1 << 20));
    }
    const auto pair = [](std::string ours, std::string paper) {
      return json{{"text", std::move(ours)}, {"paper", std::move(paper)}};
    };
    add_row(
        figure, label_of(row.letter),
        {pair(workload->describe_mix(), std::string(row.printed_mix)),
         pair(fmt::format("{}", scaled_threads(row.threads)), fmt::format("{}", row.threads)),
         fmt::format("{}", scaled_records(row.dataset_gb)),
         pair(bytes.get<std::string>(), fmt::format("{}", scaled_bytes(row.dataset_gb) >> 20))});
  }
  figure["notes"] = {
      "*Writes Hurt* prints 50/50 for YCSB-B, which is A's mix: YCSB's own definition, 95/5, is "
      "run",
      fmt::format("the published GB divided by {}, its threads by {}", kSizeFactor, kThreadFactor)};
  return figure;
}

json figure_table4() {
  json figure = make_figure("Table 4", "cost of all memory relative to DRAM alone", "x", 2, false);
  figure["columns"] = {"ours", "relative cost"};
  for (const CostRow& split : table4()) {
    add_row(figure, split_name(split),
            {fmt::format("{}+{} MiB", scaled_bytes(split.nvram_gb) >> 20,
                         scaled_bytes(split.dram_gb) >> 20),
             spread_cell({relative_cost(split.nvram_gb, split.dram_gb)},
                         fmt::format("{:.2f}", split.printed_cost))});
  }
  figure["notes"] = {
      fmt::format("computed with NVRAM at {} of DRAM's price per byte", kNvramCostRatio)};
  return figure;
}

}  // namespace nvcache::writes_hurt
