// The figures and tables of section 6. Laid out as those of `bench writes-hurt`: see
// apps/report/figure_parts.h.
#include <algorithm>
#include <string>
#include <vector>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/harness/paper_table.h"
#include "experiments/hybrid_cache/hybrid_cache_run.h"
#include "experiments/hybrid_cache/servers.h"

namespace nvcache::hybrid_cache {
namespace {

using figures::cells_of;
using figures::metric_value;
using figures::ratios_of;
using figures::row;
using figures::rows_of;
using figures::spread_cell;
using figures::values_of;
using nlohmann::json;
using papers::paper_number;
using papers::paper_value;
using Runs = std::vector<const json*>;

constexpr char kOps[] = "ops_per_second";
constexpr std::string_view kLargest = "32-256";

struct Percentile {
  const char* name;
  const char* metric;
};
constexpr Percentile kPercentiles[] = {{"P50", "p50_us"}, {"P95", "p95_us"}, {"P99", "p99_us"}};

// Columns and rows, in the order of servers().
std::span<const Server> with_scm() { return servers().subspan(2); }
std::span<const Server> one_socket() { return servers().subspan(1); }  // 64-0 first

// The runs that figures are drawn from.
class Results {
 public:
  explicit Results(const json& document)
      : runs_(document.at("runs")), on_(on_medium(document.at("setup"))) {
    for (const json& run : runs_) {
      const auto name = run.at("workload").get<std::string>();
      if (std::ranges::find(workloads_, name) == workloads_.end()) workloads_.push_back(name);
    }
  }

  Runs of(const std::string& workload, std::string_view server, std::string_view policy) const {
    // The same cache, run once.
    if (policy == kScmOnly && server == "64-128") server = "32-128";
    return figures::runs_of(runs_, workload, server, policy);
  }
  // Under the policy of all figures but 9.
  Runs of(const std::string& workload, const Server& server) const {
    return of(workload, server.name, server.scm_gb > 0 ? kDramFirst : kDramOnly);
  }
  Runs base(const std::string& workload) const { return of(workload, kBase, kDramOnly); }

  const std::vector<std::string>& workloads() const { return workloads_; }
  // That of Figures 9 and 11.
  std::string first() const { return workloads_.empty() ? "" : workloads_[0]; }
  const std::string& on() const { return on_; }

 private:
  const json& runs_;
  const std::string on_;
  std::vector<std::string> workloads_;  // in the order of their first run
};

// "15" % more: "1.15"; "20" % less: "0.80".
std::string more(std::string_view id) { return fmt::format("{:.2f}", 1 + paper_number(id) / 100); }
std::string less(std::string_view id) { return fmt::format("{:.2f}", 1 - paper_number(id) / 100); }

// Throughput with the largest cache, DRAM first, relative to 64-0, over what `cost` is to 64-0's.
std::string gains(double cost = 1) {
  return fmt::format("{:.2f}-{:.2f}", (1 + paper_number("tput-low") / 100) / cost,
                     (1 + paper_number("tput-high") / 100) / cost);
}

// A number of sections 6.1 to 6.4, relative to 64-0 or 2P. The bars have none.
struct Said {
  std::string_view metric, policy, server;  // "": each server
  std::string text;
};

std::string said_of(std::string_view metric, std::string_view policy, std::string_view server) {
  static const auto& all = *new std::vector<Said>{
      {kOps, kScmOnly, "64-128", more("scm-only-128")},
      {kOps, kScmOnly, "32-128", more("scm-only-128")},
      {kOps, kScmOnly, "32-256", more("scm-only-256")},
      {kOps, kDramFirst, "32-256", gains()},
      {"p50_us", kScmOnly, "",
       fmt::format("{}-{}", paper_value("scm-only-p50-low"), paper_value("scm-only-p50-high"))},
      {"p50_us", kDramFirst, "", "about 1"},
      {"p95_us", kDramFirst, "32-256", less("p95")},
      {"p99_us", kDramFirst, "32-256", less("p99")},
      {"to 2P", "", "64-0", "0.50-0.60"},
      {"to 2P", "", "32-256", "0.93-1.02"},
      {"cost to 2P", "", "2P", "1.0"},
      {"cost to 2P", "", "64-0", std::string(paper_value("tco-64-0"))},
      {"cost to 2P", "", "32-256", std::string(paper_value("tco-32-256"))},
  };
  for (const Said& each : all) {
    if (each.metric != metric || each.policy != policy) continue;
    if (each.server.empty() || each.server == server) return each.text;
  }
  return "";
}

template <typename List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& each : list) names.emplace_back(each.name);
  return names;
}

// Each policy against 64-0 with the first workload.
json policy_rows(const Results& results, const char* metric) {
  const Runs base = results.base(results.first());
  return rows_of(policies(), [&](const Policy& policy) {
    bool any = false;
    json cells = cells_of(with_scm(), [&](const Server& server) {
      auto ratios = ratios_of(results.of(results.first(), server.name, policy.name), base,
                              metric_value(metric));
      any = any || !ratios.empty();
      return spread_cell(std::move(ratios), said_of(metric, policy.name, server.name));
    });
    return any ? row(policy.label, std::move(cells)) : json();
  });
}

// Each workload's throughput with DRAM first against 64-0; `per_cost`: over what the server costs.
json workload_rows(const Results& results, bool per_cost) {
  return rows_of(results.workloads(), [&](const std::string& workload) {
    return row(workload, cells_of(with_scm(), [&](const Server& server) {
                 const double cost = per_cost ? server.cost / find_server(kBase).cost : 1;
                 auto ratios = ratios_of(results.of(workload, server), results.base(workload),
                                         metric_value(kOps));
                 for (double& ratio : ratios) ratio /= cost;
                 return spread_cell(std::move(ratios), server.name == kLargest ? gains(cost) : "");
               }));
  });
}

json latency_rows(const Results& results) {
  json rows = json::array();
  for (const std::string& workload : results.workloads()) {
    for (const Server& server : one_socket()) {
      const Runs runs = results.of(workload, server);
      if (runs.empty()) continue;
      rows.push_back(row(fmt::format("{} {}", workload, server.name),
                         cells_of(kPercentiles, [&](const Percentile& percentile) {
                           return spread_cell(values_of(runs, metric_value(percentile.metric)));
                         })));
    }
  }
  return rows;
}

// A column of Figure 11.
enum class Against { kNothing, kMoreThanBase, kLessThanBase, kRatioToBase };
struct Column {
  const char* name;
  const char* metric;
  double factor;
  Against against;
  std::string said;  // of the largest cache
};

const std::vector<Column>& figure11_columns() {
  static const auto& columns = *new std::vector<Column>{
      {"hit %", "hit_ratio", 100, Against::kNothing, ""},
      {"hit points more", "hit_ratio", 100, Against::kMoreThanBase,
       std::string(paper_value("hit-gain"))},
      {"read MB/s", "storage_read_bytes_per_second", 1e-6, Against::kNothing, ""},
      {"read MB/s less", "storage_read_bytes_per_second", 1e-6, Against::kLessThanBase, "800"},
      {"file read P50 us", "storage_read_p50_us", 1, Against::kNothing, ""},
      {"P50 to 64-0", "storage_read_p50_us", 1, Against::kRatioToBase, less("read-lat")},
      {"CPU %", "cpu_ratio", 100, Against::kNothing, ""}};
  return columns;
}

std::vector<double> column_values(const Column& column, const Runs& runs, const Runs& base) {
  const figures::Value value = metric_value(column.metric, column.factor);
  if (column.against == Against::kNothing) return values_of(runs, value);
  if (column.against == Against::kRatioToBase) return ratios_of(runs, base, value);
  std::vector<double> list;  // of each run and that of 64-0 in the same round
  for (const json* run : runs) {
    for (const json* other : base) {
      if (other->at("round") != run->at("round")) continue;
      const auto mine = value(*run), theirs = value(*other);
      if (!mine || !theirs) continue;
      const double more = *mine - *theirs;
      list.push_back(column.against == Against::kLessThanBase ? -more : more);
    }
  }
  return list;
}

json server_rows(const Results& results) {
  const Runs base = results.base(results.first());
  return rows_of(servers(), [&](const Server& server) {
    const Runs runs = results.of(results.first(), server);
    if (runs.empty()) return json();
    return row(server.name, cells_of(figure11_columns(), [&](const Column& column) {
                 if (server.name == kBase && column.against != Against::kNothing) return json();
                 return spread_cell(column_values(column, runs, base),
                                    server.name == kLargest ? column.said : "");
               }));
  });
}

// Throughput relative to 2P, and the cost behind it; `per_cost`: the cost over that throughput.
json rows_to_2p(const Results& results, std::span<const Server> list, bool per_cost) {
  return rows_of(list, [&](const Server& server) {
    const std::string said = said_of(per_cost ? "cost to 2P" : "to 2P", "", server.name);
    json cells = cells_of(results.workloads(), [&](const std::string& workload) {
      auto ratios = ratios_of(results.of(workload, server), results.of(workload, servers().front()),
                              metric_value(kOps));
      for (double& ratio : ratios) ratio = per_cost ? server.cost / ratio : ratio;
      return spread_cell(std::move(ratios), said);
    });
    if (!per_cost) cells.push_back(fmt::format("{:.2f}", server.cost));
    return row(server.name, std::move(cells));
  });
}

json table4_rows(double mib_per_gb) {
  const auto size = [&](double gb) {
    return json{{"text", fmt::format("{:g}", gb * mib_per_gb)},
                {"paper", fmt::format("{:g} GB", gb)}};
  };
  return rows_of(servers(), [&](const Server& server) {
    return row(
        server.name,
        {size(server.dram_cache_gb), size(server.scm_cache_gb),
         spread_cell({computed_cost(server)}, fmt::format("{:.2f}", server.cost)),
         fmt::format("{:.0f}", media_watts(server)), fmt::format("{:.0f}", media_cost_gb(server))});
  });
}

}  // namespace

// tidy: longer because it is a table.
json make_figures(const json& document) {
  const Results results(document);
  const std::string& on = results.on();
  const std::string first_on = "; " + results.first() + on;
  const json scm = names_of(with_scm());
  json workloads_cost = results.workloads();
  workloads_cost.push_back("cost");
  PaperFigures all(document.at("setup"));
  all.add("Figure 9a", "throughput relative to 64-0, DRAM only" + first_on, "x", 2, true, scm,
          policy_rows(results, kOps),
          {"more is better; columns: GB of DRAM - GB of SCM; SCM first (N), Bidirectional (N): a "
           "block goes up after more than N references",
           "SCM only: 64-128 and 32-128 have the same cache, which ran once; *Hybrid Cache*'s bars "
           "have no numbers: what stands here is from sections 6.1 and 6.2"});
  for (const Percentile& each : kPercentiles) {
    all.add(fmt::format("Figure 9b, {}", each.name), "latency of gets relative to 64-0" + first_on,
            "x", 2, true, scm, policy_rows(results, each.metric), {});
  }
  all.add("Figure 10a-c", "throughput of DRAM first relative to 64-0" + on, "x", 2, true, scm,
          workload_rows(results, /*per_cost=*/false),
          {"*Hybrid Cache* (6.2): up to 50 - 80% more, correlated with the size of the cache; less "
           "for Tectonic, whose data is larger"});
  all.add("Figure 10d-f", "latency of gets, DRAM first" + on, "us", 1, false,
          names_of(kPercentiles), latency_rows(results),
          {"*Hybrid Cache* (6.2): P95 20% and P99 10% better over all services; P50 stays, but for "
           "Laser"});
  all.add("Figure 11", "cache, storage and CPU with DRAM first" + first_on, "", 1, false,
          names_of(figure11_columns()), server_rows(results),
          {"hits: of data blocks, both tiers; CPU: of all cores, waits for emulated SCM included; "
           "*Hybrid Cache* says up to 30% more hits, 0.8 GB/s less to read, 20% better P50, and "
           "does not say of what the 30% are",
           "reads are fewer an operation and operations more a second, so that what is read in a "
           "second need not be less"});
  all.add("Figure 12", "throughput per cost relative to 64-0, DRAM first" + on, "x", 2, true, scm,
          workload_rows(results, /*per_cost=*/true),
          {"costs as printed in Table 4; the published figure follows from 6.4: 50% - 80% more for "
           "23% more cost; it says that 32-256 is best, and the other two nearly the same"});
  all.add("Figure 13", "throughput and cost relative to 2P, DRAM first" + on, "x", 2, true,
          workloads_cost, rows_to_2p(results, one_socket(), /*per_cost=*/false),
          {"2P here: its 150 GB of DRAM block cache, on as many threads as the others; *Hybrid "
           "Cache*'s has a second processor, too"});
  all.add("Table 4", "servers, their block caches and costs relative to 2P", "", 2, false,
          {"DRAM cache MiB", "SCM cache MiB", "cost computed", "media W", "media as GB of DRAM"},
          table4_rows(document.at("setup").at("gb_bytes").get<double>() / (1 << 20)),
          {"computed: SCM at 0.38 of DRAM's price a GB (Table 1); what the paper leaves open is "
           "fitted to the costs of 64-0 and 32-256, the other two follow",
           "media: DRAM, SCM and 2 TB of flash at the power and the price a GB of Table 1; "
           "processors are not in it"});
  all.add("Table 5", "performance-equivalent TCO relative to 2P: cost / performance" + on, "", 2,
          false, results.workloads(), rows_to_2p(results, servers(), /*per_cost=*/true),
          {"less is better; costs as printed in Table 4, performance of Figure 13"});
  return all.take();
}

}  // namespace nvcache::hybrid_cache
