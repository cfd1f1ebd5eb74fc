#include "experiments/hybrid_cache/hybrid_cache_figures.h"

#include <algorithm>
#include <string>
#include <vector>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/harness/paper_table.h"
#include "experiments/hybrid_cache/servers.h"

namespace nvcache::hybrid_cache {
namespace {

using papers::paper_number;
using papers::paper_value;

using figures::add_row;
using figures::make_figure;
using figures::ratios_of;
using figures::spread_cell;
using figures::Value;
using figures::values_of;
using nlohmann::json;
using Runs = std::vector<const json*>;

constexpr std::string_view kScmServers[] = {"64-128", "32-128", "32-256"};
constexpr std::string_view kLargest = "32-256";

struct Percentile {
  const char* metric;
  const char* label;
};
constexpr Percentile kPercentiles[] = {{"p50_us", "P50"}, {"p95_us", "P95"}, {"p99_us", "P99"}};

Value metric(const char* name, double factor = 1) {
  return [name, factor](const json& run) -> std::optional<double> {
    const json& metrics = run.at("metrics");
    if (!metrics.contains(name)) return std::nullopt;
    return metrics[name].get<double>() * factor;
  };
}

// The runs that figures are drawn from.
class Results {
 public:
  explicit Results(const json& document)
      : runs_(document.at("runs")), setup_(document.at("setup")) {
    for (const json& run : runs_) {
      const auto name = run.at("workload").get<std::string>();
      if (std::find(workloads_.begin(), workloads_.end(), name) == workloads_.end()) {
        workloads_.push_back(name);
      }
    }
    on_ = fmt::format("; {} {}", setup_.at("emulated").get<bool>() ? "EMULATED" : "on",
                      setup_.at("medium").get<std::string>());
  }

  Runs of(const std::string& workload, std::string_view server, std::string_view policy) const {
    // The same cache, run once.
    if (policy == kScmOnly && server == "64-128") server = "32-128";
    return figures::runs_of(runs_, workload, server, policy);
  }
  Runs base(const std::string& workload) const { return of(workload, kBase, kDramOnly); }

  const std::vector<std::string>& workloads() const { return workloads_; }
  const std::string& on() const { return on_; }
  bool asked_for(const char* kind, int number) const {
    const json& list = setup_.at(kind);
    return std::find(list.begin(), list.end(), number) != list.end();
  }
  double gb_bytes() const { return setup_.at("gb_bytes").get<double>(); }

 private:
  const json& runs_;
  const json& setup_;
  std::vector<std::string> workloads_;  // in the order of their first run
  std::string on_;
};

std::string gain(std::string_view id) {  // "15" % more: "1.15"
  return fmt::format("{:.2f}", 1 + paper_number(id) / 100);
}
std::string gains() { return fmt::format("{}-{}", gain("tput-low"), gain("tput-high")); }

std::string paper_throughput(std::string_view policy, std::string_view server) {
  if (policy == kScmOnly) return gain(server == kLargest ? "scm-only-256" : "scm-only-128");
  if (policy == kDramFirst && server == kLargest) return gains();
  return "";
}

std::string paper_latency(std::string_view policy, std::string_view server, const char* name) {
  const std::string percentile = name;
  if (policy == kScmOnly && percentile == "p50_us") {
    return fmt::format("{}-{}", paper_value("scm-only-p50-low"), paper_value("scm-only-p50-high"));
  }
  if (policy != kDramFirst) return "";
  if (percentile == "p50_us") return "about 1";
  if (server != kLargest) return "";
  return fmt::format("{:.2f}", 1 - paper_number(percentile == "p95_us" ? "p95" : "p99") / 100);
}

// All policies against 64-0, one workload. `paper` gives the published cell.
template <typename Paper>
json compare_policies(const Results& results, json figure, const char* name, Paper paper) {
  figure["columns"] = kScmServers;
  if (results.workloads().empty()) return figure;
  const std::string& workload = results.workloads()[0];
  const Runs base = results.base(workload);
  for (const Policy& policy : policies()) {
    json cells = json::array();
    bool any = false;
    for (const std::string_view server : kScmServers) {
      auto ratios = ratios_of(results.of(workload, server, policy.name), base, metric(name));
      any = any || !ratios.empty();
      cells.push_back(spread_cell(std::move(ratios), paper(policy.name, server)));
    }
    if (any) add_row(figure, std::string(policy.label), std::move(cells));
  }
  return figure;
}

void add_figure9(const Results& results, json& figures) {
  const std::string of = results.workloads().empty() ? "" : results.workloads()[0];
  json throughput = compare_policies(
      results,
      make_figure("Figure 9a",
                  fmt::format("throughput relative to 64-0, DRAM only; {}{}", of, results.on()),
                  "x", 2, true),
      "ops_per_second", paper_throughput);
  throughput["notes"] = {
      "more is better; columns: GB of DRAM - GB of SCM; SCM first (N), Bidirectional (N): a block "
      "goes up after more than N references",
      "SCM only: 64-128 and 32-128 have the same cache, which ran once; *Hybrid Cache*'s bars have "
      "no numbers: what stands here is from sections 6.1 and 6.2"};
  figures.push_back(std::move(throughput));
  for (const Percentile& percentile : kPercentiles) {
    const char* const name = percentile.metric;
    const std::string id = fmt::format("Figure 9b, {}", percentile.label);
    const std::string title =
        fmt::format("latency of gets relative to 64-0; {}{}", of, results.on());
    figures.push_back(compare_policies(results, make_figure(id.c_str(), title, "x", 2, true), name,
                                       [name](std::string_view policy, std::string_view server) {
                                         return paper_latency(policy, server, name);
                                       }));
  }
}

void add_figure10(const Results& results, json& figures) {
  json throughput = make_figure(
      "Figure 10a-c", "throughput of DRAM first relative to 64-0" + results.on(), "x", 2, true);
  throughput["columns"] = kScmServers;
  json latency =
      make_figure("Figure 10d-f", "latency of gets, DRAM first" + results.on(), "us", 1, false);
  latency["columns"] = {"P50", "P95", "P99"};
  for (const std::string& workload : results.workloads()) {
    const auto add_latency = [&](std::string_view server, std::string_view policy) {
      const Runs runs = results.of(workload, server, policy);
      if (runs.empty()) return;
      add_row(latency, fmt::format("{} {}", workload, server),
              {spread_cell(values_of(runs, metric("p50_us"))),
               spread_cell(values_of(runs, metric("p95_us"))),
               spread_cell(values_of(runs, metric("p99_us")))});
    };
    add_latency(kBase, kDramOnly);
    json cells = json::array();
    for (const std::string_view server : kScmServers) {
      cells.push_back(spread_cell(ratios_of(results.of(workload, server, kDramFirst),
                                            results.base(workload), metric("ops_per_second")),
                                  server == kLargest ? gains() : ""));
      add_latency(server, kDramFirst);
    }
    add_row(throughput, workload, std::move(cells));
  }
  throughput["notes"] = {
      "*Hybrid Cache* (6.2): up to 50 - 80% more, correlated with the size of the cache; less "
      "for Tectonic, whose data is larger"};
  latency["notes"] = {
      "*Hybrid Cache* (6.2): P95 20% and P99 10% better over all services; P50 stays, but for "
      "Laser"};
  figures.push_back(std::move(throughput));
  figures.push_back(std::move(latency));
}

// Each run's value minus that of 64-0 in the same round.
std::vector<double> differences(const Runs& runs, const Runs& base, const Value& value) {
  std::vector<double> list;
  for (const json* run : runs) {
    for (const json* other : base) {
      if (other->at("round") != run->at("round")) continue;
      const auto mine = value(*run), theirs = value(*other);
      if (mine && theirs) list.push_back(*mine - *theirs);
    }
  }
  return list;
}

void add_figure11(const Results& results, json& figures) {
  const std::string of = results.workloads().empty() ? "" : results.workloads()[0];
  json figure = make_figure(
      "Figure 11", fmt::format("cache, storage and CPU with DRAM first; {}{}", of, results.on()),
      "", 1, false);
  figure["columns"] = {"hit %",          "hit points more",  "read MB/s",
                       "read MB/s less", "file read P50 us", "P50 to 64-0",
                       "CPU %"};
  const Runs base = results.base(of);
  const Value hit = metric("hit_ratio", 100);
  const Value read = metric("storage_read_bytes_per_second", 1e-6);
  const Value latency = metric("storage_read_p50_us");
  for (const Server& server : servers()) {
    const bool is_base = server.name == kBase;
    const Runs runs = results.of(of, server.name, server.scm_gb > 0 ? kDramFirst : kDramOnly);
    if (runs.empty()) continue;
    const bool largest = server.name == kLargest;
    auto less = differences(runs, base, read);
    for (double& value : less) value = -value;
    add_row(
        figure, std::string(server.name),
        {spread_cell(values_of(runs, hit)),
         is_base
             ? json()
             : spread_cell(differences(runs, base, hit), largest ? paper_value("hit-gain") : ""),
         spread_cell(values_of(runs, read)),
         is_base ? json()
                 : spread_cell(std::move(less), largest ? std::string("800") : std::string()),
         spread_cell(values_of(runs, latency)),
         is_base ? json()
                 : spread_cell(
                       ratios_of(runs, base, latency),
                       largest ? fmt::format("{:.2f}", 1 - paper_number("read-lat") / 100) : ""),
         spread_cell(values_of(runs, metric("cpu_ratio", 100)))});
  }
  figure["notes"] = {
      "hits: of data blocks, both tiers; CPU: of all cores, waits for emulated SCM included; "
      "*Hybrid Cache* says up to 30% more hits, 0.8 GB/s less to read, 20% better P50, and does "
      "not say of "
      "what the 30% are",
      "reads are fewer an operation and operations more a second, so that what is read in a second "
      "need not be less"};
  figures.push_back(std::move(figure));
}

json figure12(const Results& results) {
  json figure = make_figure(
      "Figure 12", "throughput per cost relative to 64-0, DRAM first" + results.on(), "x", 2, true);
  figure["columns"] = kScmServers;
  const double base_cost = find_server(kBase).cost;
  for (const std::string& workload : results.workloads()) {
    json cells = json::array();
    for (const std::string_view name : kScmServers) {
      const double cost = find_server(name).cost / base_cost;
      auto ratios = ratios_of(results.of(workload, name, kDramFirst), results.base(workload),
                              metric("ops_per_second"));
      for (double& ratio : ratios) ratio /= cost;
      std::string said;
      if (name == kLargest) {
        said = fmt::format("{:.2f}-{:.2f}", (1 + paper_number("tput-low") / 100) / cost,
                           (1 + paper_number("tput-high") / 100) / cost);
      }
      cells.push_back(spread_cell(std::move(ratios), said));
    }
    add_row(figure, workload, std::move(cells));
  }
  figure["notes"] = {
      "costs as printed in Table 4; the published figure follows from 6.4: 50% - 80% more for "
      "23% more cost; it says that 32-256 is best, and the other two nearly the same"};
  return figure;
}

json figure13(const Results& results) {
  json figure = make_figure(
      "Figure 13", "throughput and cost relative to 2P, DRAM first" + results.on(), "x", 2, true);
  figure["columns"] = json::array();
  for (const std::string& workload : results.workloads()) figure["columns"].push_back(workload);
  figure["columns"].push_back("cost");
  for (const std::string_view name : {kBase, kScmServers[0], kScmServers[1], kLargest}) {
    const Server& server = find_server(name);
    std::string said;
    if (name == kBase) said = "0.50-0.60";
    if (name == kLargest) said = "0.93-1.02";
    json cells = json::array();
    for (const std::string& workload : results.workloads()) {
      cells.push_back(spread_cell(
          ratios_of(results.of(workload, name, server.scm_gb > 0 ? kDramFirst : kDramOnly),
                    results.of(workload, kTwoSockets, kDramOnly), metric("ops_per_second")),
          said));
    }
    cells.push_back(fmt::format("{:.2f}", server.cost));
    add_row(figure, std::string(name), std::move(cells));
  }
  figure["notes"] = {
      "2P here: its 150 GB of DRAM block cache, on as many threads as the others; *Hybrid Cache*'s "
      "has a second processor, too"};
  return figure;
}

json figure_table4(const Results& results) {
  json figure =
      make_figure("Table 4", "servers, their block caches and costs relative to 2P", "", 2, false);
  figure["columns"] = {"DRAM cache MiB", "SCM cache MiB", "cost computed", "media W",
                       "media as GB of DRAM"};
  const double mib = results.gb_bytes() / (1 << 20);
  const auto size = [mib](double gb) {
    return json{{"text", fmt::format("{:g}", gb * mib)}, {"paper", fmt::format("{:g} GB", gb)}};
  };
  for (const Server& server : servers()) {
    add_row(
        figure, std::string(server.name),
        {size(server.dram_cache_gb), size(server.scm_cache_gb),
         spread_cell({computed_cost(server)}, fmt::format("{:.2f}", server.cost)),
         fmt::format("{:.0f}", media_watts(server)), fmt::format("{:.0f}", media_cost_gb(server))});
  }
  figure["notes"] = {
      "computed: SCM at 0.38 of DRAM's price a GB (Table 1); what the paper leaves open is fitted "
      "to the costs of 64-0 and 32-256, the other two follow",
      "media: DRAM, SCM and 2 TB of flash at the power and the price a GB of Table 1; processors "
      "are not in it"};
  return figure;
}

json figure_table5(const Results& results) {
  json figure = make_figure(
      "Table 5", "performance-equivalent TCO relative to 2P: cost / performance" + results.on(), "",
      2, false);
  for (const std::string& workload : results.workloads()) figure["columns"].push_back(workload);
  for (const std::string_view name :
       {kTwoSockets, kBase, kScmServers[0], kScmServers[1], kLargest}) {
    const Server& server = find_server(name);
    std::string said;
    if (name == kTwoSockets) said = "1.0";
    if (name == kBase) said = paper_value("tco-64-0");
    if (name == kLargest) said = paper_value("tco-32-256");
    json cells = json::array();
    for (const std::string& workload : results.workloads()) {
      auto ratios =
          ratios_of(results.of(workload, name, server.scm_gb > 0 ? kDramFirst : kDramOnly),
                    results.of(workload, kTwoSockets, kDramOnly), metric("ops_per_second"));
      for (double& ratio : ratios) ratio = server.cost / ratio;
      cells.push_back(spread_cell(std::move(ratios), said));
    }
    add_row(figure, std::string(name), std::move(cells));
  }
  figure["notes"] = {"less is better; costs as printed in Table 4, performance of Figure 13"};
  return figure;
}

}  // namespace

json make_figures(const json& document) {
  const Results results(document);
  json all = json::array();
  if (results.asked_for("figures", 9)) add_figure9(results, all);
  if (results.asked_for("figures", 10)) add_figure10(results, all);
  if (results.asked_for("figures", 11)) add_figure11(results, all);
  if (results.asked_for("figures", 12)) all.push_back(figure12(results));
  if (results.asked_for("figures", 13)) all.push_back(figure13(results));
  if (results.asked_for("tables", 4)) all.push_back(figure_table4(results));
  if (results.asked_for("tables", 5)) all.push_back(figure_table5(results));
  json figures = json::array();
  for (json& figure : all) {
    if (!figure["rows"].empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace nvcache::hybrid_cache
