// The figures and tables of *Writes Hurt* from the runs of a document, each beside what the paper
// says. Its bars have no numbers: what stands beside them is from section 3.2.3.
#include <algorithm>
#include <cctype>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/workload/ycsb.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/workloads.h"
#include "experiments/writes_hurt/writes_hurt_run.h"

namespace nvcache::writes_hurt {
namespace {

using figures::cells_of;
using figures::file_value;
using figures::hit_percent;
using figures::metric_value;
using figures::op_value;
using figures::ratios_of;
using figures::removed_percent;
using figures::row;
using figures::rows_of;
using figures::runs_of;
using figures::spread_cell;
using figures::Value;
using figures::values_of;
using nlohmann::json;
using Runs = std::vector<const json*>;

constexpr double kMiB = 1.0 / (1 << 20);

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// ---- In-house workloads ----

std::vector<const Workload*> workloads_in(const json& runs, std::string_view variant) {
  std::vector<const Workload*> list;
  for (const std::string& name : figures::names_of(runs, variant, "workload")) {
    if (const auto workload = find_workload(name); workload.ok()) list.push_back(*workload);
  }
  return list;
}

// Configurations that are compared with no second tier; Table 1 has its own.
std::vector<std::string> compared(const json& runs, std::string_view variant) {
  std::vector<std::string> names = figures::names_of(runs, variant, "configuration");
  std::erase_if(names, [](const std::string& name) {
    return name == "none" || name == "eager" || name == "eager-lru" || name == "no-eviction";
  });
  return names;
}

// Figure 4, small: percent of throughput lost against no second tier. Figure 6, large: the ratio.
json rows_to_none(const json& runs, Variant variant) {
  const bool small = variant == Variant::kSmall;
  const std::string_view size = variant_name(variant);
  json rows = json::array();
  for (const Workload* workload : workloads_in(runs, size)) {
    const Runs none = runs_of(runs, workload->name, size, "none");
    if (none.empty() && !small) continue;  // Table 1 alone
    const auto said_of = [&](std::string_view name) -> std::string_view {
      if (!small) return name == "nvcache" ? workload->paper_figure6 : "";
      if (name == "bypass+obp") return "0";
      return name == "alloc-read-write" ? workload->paper_figure4 : "";
    };
    for (const std::string& type : workload->reported_ops()) {
      json cells = cells_of(compared(runs, size), [&](const std::string& name) {
        auto ratios = ratios_of(runs_of(runs, workload->name, size, name), none, op_value(type));
        for (double& ratio : ratios) ratio = small ? 100 * (1 - ratio) : ratio;
        return spread_cell(std::move(ratios), said_of(name));
      });
      rows.push_back(row(fmt::format("{}.{}", workload->name, upper(type)), std::move(cells)));
    }
  }
  return rows;
}

json figure5_rows(const json& runs) {
  return rows_of(workloads_in(runs, "small"), [&](const Workload* workload) {
    return row(workload->name, cells_of(compared(runs, "small"), [&](const std::string& name) {
                 return spread_cell(values_of(runs_of(runs, workload->name, "small", name),
                                              figures::outdated_percent));
               }));
  });
}

json table1_rows(const json& runs) {
  const Value reads = op_value("read");
  const auto text = [](double value) { return fmt::format("{:.0f}", value); };
  json rows = json::array();
  for (const Table1Row& paper : table1()) {
    const auto of = [&](const char* name) { return runs_of(runs, paper.workload, "large", name); };
    const Runs none = of("no-eviction"), eager = of("eager"), lru = of("eager-lru");
    if (!eager.empty() || !none.empty()) {
      rows.push_back(row(paper.workload,
                         {spread_cell(values_of(eager, reads), text(paper.eager_ops)),
                          spread_cell(values_of(eager, hit_percent), text(paper.eager_hit_percent)),
                          spread_cell(values_of(none, reads), text(paper.none_ops)),
                          spread_cell(values_of(none, hit_percent), text(paper.none_hit_percent)),
                          spread_cell(ratios_of(none, eager, reads),
                                      fmt::format("{:.2f}", paper.none_ops / paper.eager_ops))}));
    }
    // Not in *Writes Hurt*: beside the same runs without eviction.
    if (lru.empty()) continue;
    rows.push_back(
        row(fmt::format("{}, LRU", paper.workload),
            {spread_cell(values_of(lru, reads)), spread_cell(values_of(lru, hit_percent)),
             spread_cell(values_of(none, reads)), spread_cell(values_of(none, hit_percent)),
             spread_cell(ratios_of(none, lru, reads))}));
  }
  return rows;
}

// Bytes that loading wrote: a bulk load writes each block once.
double loaded_bytes(const json& document, std::string_view workload) {
  for (const json& database : document["databases"]) {
    if (database.at("workload") == workload && database.at("variant") == "large") {
      return database.value("bytes", 0.0);
    }
  }
  return 0;
}

json table2_rows(const json& document) {
  const json& runs = document["runs"];
  return rows_of(workloads_in(runs, "large"), [&](const Workload* workload) {
    const Runs found = runs_of(runs, workload->name, "large", "nvcache");
    if (found.empty()) return json();
    const Value size = [](const json& run) {
      return run.at("database_bytes").get<double>() * kMiB;
    };
    const Value admitted = file_value("admitted_bytes", kMiB);
    const Value written = [loaded = loaded_bytes(document, workload->name)](
                              const json& run) -> std::optional<double> {
      const auto value = file_value("written_bytes", 1)(run);
      if (!value) return std::nullopt;
      return (*value + loaded) * kMiB;
    };
    const Value share = [&](const json& run) -> std::optional<double> {
      const auto part = admitted(run), whole = written(run);
      if (!part || !whole || *whole == 0) return std::nullopt;
      return 100 * *part / *whole;
    };
    const auto mib = [](double gb) { return fmt::format("{}", scaled_bytes(gb) >> 20); };
    const auto percent = [](double value) { return fmt::format("{:g}", value); };
    const Table2Row& paper = workload->paper;
    return row(workload->name,
               {spread_cell(values_of(found, size), mib(paper.size_gb)),
                spread_cell(values_of(found, hit_percent), percent(paper.hit_percent)),
                spread_cell(values_of(found, removed_percent), percent(paper.removed_percent)),
                spread_cell(values_of(found, written), mib(paper.written_gb)),
                spread_cell(values_of(found, admitted), mib(paper.admitted_gb)),
                spread_cell(values_of(found, share),
                            fmt::format("{:.0f}", 100 * paper.admitted_gb / paper.written_gb))});
  });
}

// ---- YCSB ----

std::string label_of(const YcsbRow& ycsb) { return "YCSB-" + upper(std::string(1, ycsb.letter)); }

json figure7_rows(const json& runs) {
  const Value ops = metric_value("ops_per_second");
  const Value hits = metric_value("tier_hit_ratio", 100);
  json rows = json::array();
  for (const YcsbRow& ycsb : table3()) {
    const auto of = [&](const std::string& configuration) {
      return runs_of(runs, std::string(1, ycsb.letter), "dram-32", configuration);
    };
    const Runs none = of("none");
    for (const int nvram_gb : {64, 128, 252}) {
      const Runs cas = of(fmt::format("open-cas-{}", nvram_gb));
      const Runs nvcache = of(fmt::format("nvcache-{}", nvram_gb));
      if (none.empty() || (cas.empty() && nvcache.empty())) continue;
      rows.push_back(
          row(fmt::format("{} {} GB", label_of(ycsb), nvram_gb),
              {spread_cell(ratios_of(cas, none, ops), "1"),
               spread_cell(ratios_of(nvcache, none, ops), ycsb.letter == 'a' ? "1" : ""),
               spread_cell(values_of(cas, hits)), spread_cell(values_of(nvcache, hits)),
               spread_cell(ratios_of(cas, nvcache, metric_value("tier_written_bytes")), "100")}));
    }
  }
  return rows;
}

std::string split_name(const CostRow& split) {
  return fmt::format("{:g}+{:g} GB", split.nvram_gb, split.dram_gb);
}

// The rows of Table 4 with NVRAM: the columns of Figure 8.
std::span<const CostRow> splits() { return table4().subspan(1); }

Runs split_runs(const json& runs, const YcsbRow& ycsb, const CostRow& split) {
  return runs_of(runs, std::string(1, ycsb.letter), fmt::format("split-{:g}", split.dram_gb),
                 split.nvram_gb == 0 ? "none" : fmt::format("nvcache-{:.0f}", split.nvram_gb));
}

json figure8_gain_rows(const json& runs) {
  return rows_of(table3(), [&](const YcsbRow& ycsb) {
    const Runs base = split_runs(runs, ycsb, table4().front());
    if (base.empty()) return json();
    return row(label_of(ycsb), cells_of(splits(), [&](const CostRow& split) {
                 auto gains =
                     ratios_of(split_runs(runs, ycsb, split), base, metric_value("ops_per_second"));
                 for (double& gain : gains) {
                   gain = 100 * (gain / relative_cost(split.nvram_gb, split.dram_gb) - 1);
                 }
                 const bool said = ycsb.letter == 'c' && split.nvram_gb == 64;
                 return spread_cell(std::move(gains), said ? "over 69" : "");
               }));
  });
}

json figure8_hit_rows(const json& runs) {
  return rows_of(table3(), [&](const YcsbRow& ycsb) {
    bool any = false;
    json cells = cells_of(splits(), [&](const CostRow& split) {
      const Runs found = split_runs(runs, ycsb, split);
      any = any || !found.empty();
      return spread_cell(values_of(found, metric_value("tier_hit_ratio", 100)));
    });
    return any ? row(label_of(ycsb), std::move(cells)) : json();
  });
}

json table3_rows(const json& databases) {
  const auto pair = [](std::string ours, std::string paper) {
    return json{{"text", std::move(ours)}, {"paper", std::move(paper)}};
  };
  return rows_of(table3(), [&](const YcsbRow& ycsb) {
    std::string mib = "not loaded";
    for (const json& database : databases) {
      if (database.at("workload") != fmt::format("ycsb-{}", ycsb.letter)) continue;
      mib = fmt::format("{:.0f}", database.at("bytes").get<double>() / (1 << 20));
    }
    const auto workload = ycsb_workload(std::string_view(&ycsb.letter, 1)).value();
    return row(label_of(ycsb), {pair(workload.describe_mix(), std::string(ycsb.printed_mix)),
                                pair(fmt::format("{}", scaled_threads(ycsb.threads)),
                                     fmt::format("{}", ycsb.threads)),
                                fmt::format("{}", scaled_records(ycsb.dataset_gb)),
                                pair(mib, fmt::format("{}", scaled_bytes(ycsb.dataset_gb) >> 20))});
  });
}

json table4_rows() {
  return rows_of(table4(), [](const CostRow& split) {
    return row(split_name(split), {fmt::format("{}+{} MiB", scaled_bytes(split.nvram_gb) >> 20,
                                               scaled_bytes(split.dram_gb) >> 20),
                                   spread_cell({relative_cost(split.nvram_gb, split.dram_gb)},
                                               fmt::format("{:.2f}", split.printed_cost))});
  });
}

}  // namespace

// tidy: longer because it is a table.
json make_figures(const json& document) {
  const json& runs = document["runs"];
  const std::string on = on_medium(document["setup"]);
  const json split_names = cells_of(splits(), split_name);
  PaperFigures all(document["setup"]);
  all.add("Figure 4", "throughput lost against no second tier, small data" + on, "%", 1, true,
          compared(runs, "small"), rows_to_none(runs, Variant::kSmall),
          {"less is better, below 0 is a gain; eviction off, as in *Writes Hurt*",
           "the published bars have no numbers: its text says 91% at worst for alloc-read-write, "
           "and that small-bypass+OBP eliminates the overhead"});
  all.add("Figure 5", "outdated blocks removed, of those admitted, in the runs of Figure 4" + on,
          "%", 1, true, compared(runs, "small"), figure5_rows(runs),
          {"- : nothing was admitted",
           "a file system does not see WiredTiger free a block: it is removed when its range is "
           "written again"});
  all.add("Figure 6", "throughput relative to no second tier, large data" + on, "x", 2, true,
          compared(runs, "large"), rows_to_none(runs, Variant::kLarge),
          {"more is better; the published bars have no numbers: what stands here is from section "
           "3.2.3",
           "wt-*: WiredTiger's own block cache, in plain DRAM or a mapped file, not emulated"});
  all.add("Figure 7", "YCSB throughput relative to no NVRAM" + on, "x", 2, true,
          {"open-cas-like", "nvcache", "hit % open-cas", "hit % nvcache",
           "written: open-cas / nvcache"},
          figure7_rows(runs),
          {"32 GB DRAM and the NVRAM named, scaled; Memory Mode is not run (it needs the "
           "hardware): the simulator is for that",
           "open-cas-like in process: admits reads only, and drops blocks that are written instead "
           "of updating them",
           "*Writes Hurt* (4.1.2): no gain for OpenCAS, two orders of magnitude more writes; "
           "nvcache leaves YCSB-A as it is; its bars have no numbers"});
  all.add("Figure 8a", "YCSB performance per dollar against 96 GB of DRAM alone" + on, "% more", 1,
          true, split_names, figure8_gain_rows(runs),
          {"NVRAM + DRAM of *Writes Hurt*; costs of Table 4",
           "*Writes Hurt* (4.2): YCSB-C with 64+32 GB is faster than with 96 GB of DRAM, for 0.59 "
           "of the cost; YCSB-A loses"});
  all.add("Figure 8b", "hit ratio of nvcache in those runs" + on, "%", 1, true, split_names,
          figure8_hit_rows(runs), {});
  all.add("Table 1", "eager eviction against none: reads, large data" + on, "operations/s, %", 1,
          false, {"eager ops/s", "hit %", "no eviction ops/s", "hit %", "none / eager"},
          table1_rows(runs),
          {fmt::format("nvcache of {} MiB ({:g} GB scaled): *Writes Hurt* does not say its size; "
                       "its hit rates fit about half of the database",
                       scaled_bytes(kTable1NvcacheGb) >> 20, kTable1NvcacheGb),
           "eager: the LFRU of *Writes Hurt*, its pass of a second and a window of ten by the time "
           "factor; LRU: one block leaves for each that comes, which *Writes Hurt* does not have"});
  all.add(
      "Table 2", "large workloads with nvcache" + on, "MiB, %", 1, false,
      {"data MiB", "hit %", "removed/ins. %", "written MiB", "admitted MiB", "admitted/written %"},
      table2_rows(document),
      {fmt::format("the published GB divided by {}; its runs took 60 min (500m-btree-50r50u "
                   "120), ours are shorter than the minute that this is scaled to",
                   kSizeFactor),
       "written: loading included, but for evict-btree-scan; hits of the whole run, warm-up "
       "included, as in *Writes Hurt*"});
  all.add("Table 3", "YCSB characteristics, published and ours", "", 0, false,
          {"mix", "threads", "records", "data MiB"}, table3_rows(document.at("databases")),
          {"*Writes Hurt* prints 50/50 for YCSB-B, which is A's mix: YCSB's own definition, 95/5, "
           "is run",
           fmt::format("the published GB divided by {}, its threads by {}", kSizeFactor,
                       kThreadFactor)});
  all.add("Table 4", "cost of all memory relative to DRAM alone", "x", 2, false,
          {"ours", "relative cost"}, table4_rows(),
          {fmt::format("computed with NVRAM at {} of DRAM's price per byte", kNvramCostRatio)});
  return all.take();
}

}  // namespace nvcache::writes_hurt
