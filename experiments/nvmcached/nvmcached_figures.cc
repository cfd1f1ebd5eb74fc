#include "experiments/nvmcached/nvmcached_figures.h"

#include <string>
#include <vector>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/nvmcached/system.h"

namespace nvcache::nvmcached {
namespace {

using figures::add_row;
using figures::make_figure;
using figures::ratios_of;
using figures::runs_of;
using figures::spread_cell;
using figures::Value;
using figures::values_of;
using nlohmann::json;

Value metric(const char* name, double factor = 1) {
  return [name, factor](const json& run) -> std::optional<double> {
    return run.at("metrics").at(name).get<double>() * factor;
  };
}

// Said in sections 4.1 and 4.3.
std::string paper_ratio(std::string_view trace) {
  if (trace == "VAR") return "2.85";
  if (trace == "SYS") return "2";
  return "about 1";
}

// ---- Figure 3 ----

json window_names(const json& crash) {
  json names = json::array();
  const size_t before = crash.at("misses_before").size();
  for (size_t i = 0; i < before; ++i) names.push_back(fmt::format("-{}", before - i));
  for (size_t i = 0; i < crash.at("misses_after").size(); ++i) {
    names.push_back(fmt::format("+{}", i + 1));
  }
  return names;
}

void add_figure3(const json& document, json& figures) {
  const json& crashes = document.at("crashes");
  if (crashes.empty()) return;
  json figure = make_figure("Figure 3", "misses of GETs, by windows before and after the crash",
                            "%", 2, true);
  figure["columns"] = window_names(crashes[0]);
  json lost = make_figure("Figure 3, losses", "what the crash took", "", 3, false);
  lost["columns"] = {"items before", "items lost %", "bytes lost %", "write cache %",
                     "misses rise by, points"};
  for (const json& crash : crashes) {
    const auto system = crash.at("system").get<std::string>();
    const std::string label = crash.at("trace").get<std::string>() + " " + system;
    json cells = json::array();
    for (const char* part : {"misses_before", "misses_after"}) {
      for (const json& share : crash.at(part)) {
        cells.push_back(spread_cell({100 * share.get<double>()}));
      }
    }
    add_row(figure, label, std::move(cells));
    const bool ours = system == kNvmcached;
    add_row(lost, label,
            {spread_cell({crash.at("items_before").get<double>()}),
             spread_cell({100 * crash.at("items_lost_share").get<double>()}, ours ? "" : "100"),
             spread_cell({100 * crash.at("bytes_lost_share").get<double>()}, ours ? "0.1" : "100"),
             spread_cell({100 * crash.at("write_cache_share").get<double>()}),
             spread_cell({100 * crash.at("rise").get<double>()}, ours ? "no disruption" : "")});
  }
  figure["notes"] = {fmt::format(
      "a window is {} requests; MC-DRAM's cache is empty after the crash: in *NVMcached* "
      "(4.1), its misses fall slowly for APP, USR and ETC, and fast for SYS",
      document.at("setup").at("window").get<uint64_t>())};
  lost["notes"] = {
      "lost: found before the crash and not after it; among it what lay in the DRAM write cache "
      "alone, whose list is 1024 keys long in a cache of any size: the smaller the cache, the "
      "larger its share"};
  figures.push_back(std::move(figure));
  figures.push_back(std::move(lost));
}

// ---- Figures 4 and 5 ----

std::vector<std::string> texts(const json& runs, const char* field) {
  std::vector<std::string> names;
  for (const json& run : runs) {
    auto name = run.at(field).get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<double> compare(const json& runs, const std::string& workload,
                            const std::string& medium, std::string_view system,
                            std::string_view base) {
  return ratios_of(runs_of(runs, workload, medium, system), runs_of(runs, workload, medium, base),
                   metric("ops_per_second"));
}

// "100 B, 75% GET": 100 B and 75%.
std::pair<std::string, std::string> parts_of(const std::string& workload) {
  const auto [size, mix] = split_once(workload, ',');
  return {std::string(size), std::string(strip(split_once(mix, '%').first))};
}

void add_figure4(const json& runs, const std::vector<std::string>& workloads, json& figures) {
  std::vector<std::string> sizes, mixes;
  const auto add_once = [](std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  };
  for (const std::string& workload : workloads) {
    add_once(sizes, parts_of(workload).first);
    add_once(mixes, parts_of(workload).second);
  }
  if (sizes.empty()) return;
  for (const std::string& medium : texts(runs, "variant")) {
    json columns = json::array();
    for (const std::string& mix : mixes) columns.push_back(mix + "% GET");
    json over =
        make_figure("Figure 4, compared",
                    fmt::format("throughput over MC-NVM; EMULATED {}", medium), "x", 2, true);
    over["columns"] = columns;
    for (const std::string& size : sizes) {
      const auto id = fmt::format("Figure 4, {}", size);
      json figure =
          make_figure(id.c_str(), fmt::format("throughput of one thread; EMULATED {}", medium),
                      "kops/s", 0, true);
      figure["columns"] = columns;
      for (const Kind& kind : kinds()) {
        json cells = json::array();
        json ratios = json::array();
        for (const std::string& mix : mixes) {
          const std::string workload = fmt::format("{}, {}% GET", size, mix);
          cells.push_back(spread_cell(values_of(runs_of(runs, workload, medium, kind.name),
                                                metric("ops_per_second", 1e-3))));
          ratios.push_back(spread_cell(compare(runs, workload, medium, kind.name, kMcNvm)));
        }
        add_row(figure, std::string(kind.name), std::move(cells));
        if (kind.name != kMcNvm)
          add_row(over, fmt::format("{} {}", size, kind.name), std::move(ratios));
      }
      figures.push_back(std::move(figure));
    }
    over["notes"] = {
        "*NVMcached* gives no numbers but one: NVMcached is up to 4.5 times as fast on Zipfian "
        "workloads (section 1), and can be slower than MC-NVM where SETs dominate (4.2)"};
    figures.push_back(std::move(over));
  }
}

void add_figure5(const json& runs, const std::vector<std::string>& workloads, json& figures) {
  if (workloads.empty()) return;
  json figure = make_figure("Figure 5", "throughput over MC-NVM; EMULATED media", "x", 2, true);
  const std::vector<std::string> media = texts(runs, "variant");
  for (const std::string& medium : media) {
    figure["columns"].push_back("NVMcached, " + medium);
    figure["columns"].push_back("MC-DRAM to " + medium);
  }
  for (const std::string& workload : workloads) {
    json cells = json::array();
    for (const std::string& medium : media) {
      cells.push_back(
          spread_cell(compare(runs, workload, medium, kNvmcached, kMcNvm), paper_ratio(workload)));
      cells.push_back(spread_cell(compare(runs, workload, medium, kMcDram, kMcNvm)));
    }
    add_row(figure, workload, std::move(cells));
  }
  figure["notes"] = {
      "*NVMcached* emulated NVM by DRAM with CLFLUSH: its platform is emulated:dram; "
      "emulated:optane "
      "has cheap flushes (CLWB) and dear bytes"};
  figures.push_back(std::move(figure));

  for (const std::string& medium : media) {
    json counts = make_figure("Figure 5, counts", fmt::format("per operation; EMULATED {}", medium),
                              "", 2, false);
    counts["columns"] = {"kops/s", "CPU ns",        "waited ns", "lines flushed",
                         "drains", "bytes written", "hits %",    "of ops: write cache %"};
    for (const std::string& workload : workloads) {
      for (const Kind& kind : kinds()) {
        const auto mine = runs_of(runs, workload, medium, kind.name);
        if (mine.empty()) continue;
        add_row(counts, fmt::format("{} {}", workload, kind.name),
                {spread_cell(values_of(mine, metric("ops_per_second", 1e-3))),
                 spread_cell(values_of(mine, metric("cpu_ns_per_op"))),
                 spread_cell(values_of(mine, metric("waited_ns_per_op"))),
                 spread_cell(values_of(mine, metric("lines_per_op"))),
                 spread_cell(values_of(mine, metric("drains_per_op"))),
                 spread_cell(values_of(mine, metric("written_bytes_per_op"))),
                 spread_cell(values_of(mine, metric("hit_ratio", 100))),
                 spread_cell(values_of(mine, metric("write_cache_hits_per_op", 100)))});
      }
    }
    figures.push_back(std::move(counts));
  }
}

// ---- Restart ----

void add_restart(const json& restart, json& figures) {
  if (restart.is_null()) return;
  json figure =
      make_figure("Restart", "from a killed process to the first GET that is served", "", 3, false);
  figure["columns"] = {"items",  "file MB", "filled in, s", "opened in, s", "first GET after, s",
                       "found %"};
  const auto value = [&](const char* name, double factor = 1) {
    return spread_cell({restart.at(name).get<double>() * factor});
  };
  const double checked = restart.at("checked").get<double>();
  add_row(figure, "killed",
          {value("items"), value("file_bytes", 1e-6), value("build_seconds"), value("open_seconds"),
           value("first_get_seconds"), value("found", checked > 0 ? 100 / checked : 0)});
  figure["notes"] = {
      "a real file, not a model; its pages are in memory, as after the death of a process. found: "
      "of keys asked for at random; what lay in the DRAM write cache is lost"};
  figures.push_back(std::move(figure));
}

}  // namespace

json make_figures(const json& document) {
  json figures = json::array();
  const json& runs = document.at("runs");
  std::vector<std::string> mixes, traces;
  for (const std::string& workload : texts(runs, "workload")) {
    (workload.ends_with("% GET") ? mixes : traces).push_back(workload);
  }
  add_figure3(document, figures);
  add_figure4(runs, mixes, figures);
  add_figure5(runs, traces, figures);
  add_restart(document.at("restart"), figures);
  return figures;
}

}  // namespace nvcache::nvmcached
