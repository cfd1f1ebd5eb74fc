// *Hybrid Cache* (ATC '21): RocksDB with a tiered cache, simulated, and as `nvcache bench
// hybrid-cache` runs it.
#include <algorithm>
#include <string>

#include "experiments/hybrid_cache/paper_facts.h"
#include "experiments/hybrid_cache/servers.h"
#include "experiments/reproduce/hybrid_simulations.h"
#include "experiments/reproduce/media_rows.h"
#include "experiments/reproduce/rows.h"
#include "experiments/run/profile_files.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

using figures::ratios_of;
using figures::runs_of;
using hybrid_cache::find_server;
using hybrid_cache::kDramFirst;
using hybrid_cache::kDramOnly;
using hybrid_cache::kScmOnly;
using nlohmann::json;

constexpr std::string_view kMissingHybrid =
    "results of 'nvcache bench hybrid-cache --json', or this command without --no-runs";
constexpr std::string_view kWorkloads[] = {"whatsapp", "tectonic", "laser"};
constexpr std::string_view kFirstWorkload = "whatsapp";
constexpr std::string_view kScmServers[] = {"64-128", "32-128", "32-256"};
constexpr std::string_view kLargest = "32-256";
constexpr std::string_view kBusyDisk =
    "48 clients keep the disk of Table 1 busy, so that throughput goes with misses";

// Runs of one form: hybrid_simulations.h, or RocksDB's.
struct Origin {
  const Evidence& evidence;
  std::string_view format;
  Source source() const {
    return format == kHybridSimulationFormat ? Source::kSimulated : Source::kReal;
  }
};

template <typename Find>
Finder finder_of(std::string_view format, Find find) {
  return [find, format](const Evidence& evidence) -> std::optional<Finding> {
    return find(Origin{evidence, format});
  };
}

// The simulation decides: it alone has the paper's sizes, cores, and a disk with a queue. RocksDB,
// scaled down, stands beside it.
template <typename Find>
std::vector<Finder> both_origins(Find find) {
  return {finder_of(kHybridSimulationFormat, find), finder_of(kHybridFormat, find)};
}

// The same, where a parameter of the real runs is fitted to the number.
template <typename Find>
std::vector<Finder> real_is_fitted(Find find) {
  const Finder real = finder_of(kHybridFormat, find);
  const auto fitted = [real](const Evidence& evidence) {
    std::optional<Finding> finding = real(evidence);
    if (finding) finding->fitted = true;
    return finding;
  };
  return {finder_of(kHybridSimulationFormat, find), fitted};
}

Finding hybrid_finding(const Origin& from, Ours ours, const std::string& more = "") {
  return {from.source(), std::move(ours),
          conditions_of(from.evidence, from.format) + (more.empty() ? "" : "; " + more)};
}

figures::Value value_of(const char* name) {
  return [name](const json& run) -> std::optional<double> {
    const json& metrics = run.at("metrics");
    if (!metrics.contains(name) || !metrics[name].is_number()) return std::nullopt;
    return metrics[name].get<double>();
  };
}

struct Setup {
  std::string_view server;
  std::string_view policy;
};
constexpr Setup kBaseSetup = {"64-0", kDramOnly};
constexpr Setup kTwoSocketSetup = {"2P", kDramOnly};
constexpr Setup kLargestSetup = {kLargest, kDramFirst};

// Median of `one` / `other`, in the same round. SCM alone of 64-128 is that of 32-128.
std::optional<double> hybrid_ratio(const Origin& from, std::string_view workload, Setup one,
                                   Setup other, const char* metric) {
  const auto runs = [&](const json& document, Setup setup) {
    if (setup.policy == kScmOnly && setup.server == "64-128") setup.server = "32-128";
    return runs_of(document.at("runs"), workload, setup.server, setup.policy);
  };
  return median(collect(from.evidence, from.format, [&](const json& document) {
    return ratios_of(runs(document, one), runs(document, other), value_of(metric));
  }));
}

// Median of `one` - `other`, in the same round.
std::optional<double> difference(const Origin& from, Setup one, Setup other, const char* metric) {
  return median(collect(from.evidence, from.format, [&](const json& document) {
    std::vector<double> values;
    const figures::Value value = value_of(metric);
    const json& runs = document.at("runs");
    for (const json* run : runs_of(runs, kFirstWorkload, one.server, one.policy)) {
      for (const json* base : runs_of(runs, kFirstWorkload, other.server, other.policy)) {
        if (run->at("round") != base->at("round")) continue;
        const auto mine = value(*run), theirs = value(*base);
        if (mine && theirs) values.push_back(*mine - *theirs);
      }
    }
    return values;
  }));
}

// Of `one` to `other`, for each workload that ran.
std::vector<double> over_workloads(const Origin& from, Setup one, Setup other, const char* metric) {
  std::vector<double> ratios;
  for (const std::string_view workload : kWorkloads) {
    const auto value = hybrid_ratio(from, workload, one, other, metric);
    if (value) ratios.push_back(*value);
  }
  return ratios;
}

std::string count_text(const std::vector<double>& ratios) {
  return fmt::format("{} of {} workloads", ratios.size(), std::size(kWorkloads));
}

// The least or the greatest gain of 32-256 over the workloads, in %.
std::optional<Finding> gain(const Origin& from, bool greatest) {
  const auto ratios = over_workloads(from, kLargestSetup, kBaseSetup, "ops_per_second");
  if (ratios.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return hybrid_finding(from, number(100 * ((greatest ? *most : *least) - 1)), count_text(ratios));
}

// How much lower a percentile is, in %: the mean over the workloads.
std::optional<Finding> latency_gain(const Origin& from, const char* metric) {
  const auto ratios = over_workloads(from, kLargestSetup, kBaseSetup, metric);
  if (ratios.empty()) return std::nullopt;
  double sum = 0;
  for (const double each : ratios) sum += each;
  return hybrid_finding(from, number(100 * (1 - sum / static_cast<double>(ratios.size()))),
                        "the mean of " + count_text(ratios));
}

std::optional<Finding> scm_only_gain(const Origin& from, std::string_view server) {
  const auto value =
      hybrid_ratio(from, kFirstWorkload, {server, kScmOnly}, kBaseSetup, "ops_per_second");
  if (!value) return std::nullopt;
  return hybrid_finding(from, number(100 * (*value - 1)));
}

std::optional<Finding> scm_only_p50(const Origin& from, bool greatest) {
  std::vector<double> ratios;
  for (const std::string_view server : kScmServers) {
    const auto value = hybrid_ratio(from, kFirstWorkload, {server, kScmOnly}, kBaseSetup, "p50_us");
    if (value) ratios.push_back(*value);
  }
  if (ratios.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return hybrid_finding(from, number(greatest ? *most : *least));
}

// DRAM first over SCM alone on the same server, the greatest gain.
std::optional<Finding> gain_over_naive(const Origin& from) {
  std::optional<double> most;
  for (const std::string_view server : kScmServers) {
    const auto value = hybrid_ratio(from, kFirstWorkload, {server, kDramFirst}, {server, kScmOnly},
                                    "ops_per_second");
    if (value && (!most || *value > *most)) most = value;
  }
  if (!most) return std::nullopt;
  return hybrid_finding(from, number(100 * (*most - 1)), "the greatest over servers");
}

std::optional<Finding> hit_gain(const Origin& from) {
  const auto points = difference(from, kLargestSetup, kBaseSetup, "hit_ratio");
  if (!points) return std::nullopt;
  return hybrid_finding(from, number(100 * *points), "points of the hit rate");
}

std::optional<Finding> storage_less(const Origin& from) {
  const auto more = difference(from, kLargestSetup, kBaseSetup, "storage_read_bytes_per_second");
  if (!more) return std::nullopt;
  Ours ours = number(-*more * 1e-9);
  ours.comparable = false;
  ours.order = *more < 0;
  return hybrid_finding(from, ours);
}

std::optional<Finding> read_latency_gain(const Origin& from) {
  const auto value =
      hybrid_ratio(from, kFirstWorkload, kLargestSetup, kBaseSetup, "storage_read_p50_us");
  if (!value) return std::nullopt;
  return hybrid_finding(from, number(100 * (1 - *value)));
}

// 2P = 1: `in` makes a cell of the least and the most of it.
template <typename In>
std::optional<Finding> of_two_sockets(const Origin& from, Setup setup, In in) {
  auto ratios = over_workloads(from, setup, kTwoSocketSetup, "ops_per_second");
  if (ratios.empty()) return std::nullopt;
  for (double& each : ratios) each = in(each);
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return hybrid_finding(from, range(*least, *most), count_text(ratios));
}

Row performance_row(const char* id, Setup setup, Basis basis, std::string_view about) {
  return {.id = id,
          .basis = basis,
          .about = about,
          .simulated_about = kBusyDisk,
          .finders = both_origins([setup](const Origin& from) {
            return of_two_sockets(from, setup, [](double share) { return 100 * share; });
          }),
          .missing = kMissingHybrid,
          .baseline = 100};
}

Row tco_row(const char* id, Setup setup, Basis basis, std::string_view about) {
  const double cost = find_server(setup.server).cost;
  return {.id = id,
          .basis = basis,
          .about = about,
          .finders = both_origins([setup, cost](const Origin& from) {
            return of_two_sockets(from, setup, [cost](double share) { return cost / share; });
          }),
          .missing = kMissingHybrid};
}

Row server_cost_row(const std::string& name) {
  const auto& server = find_server(name);
  const bool fitted = hybrid_cache::is_cost_fitted(server);
  return {.id = "cost-1p-" + name,
          .basis = fitted ? Basis::kFitted : Basis::kResult,
          .about = fitted ? "prices that the paper leaves open are chosen so that it comes out"
                          : "follows from SCM's price, and the costs of 64-0 and 32-256",
          .finders = {
              fixed(Source::kModel, number(hybrid_cache::computed_cost(server)), "calculated")}};
}

Row sizes_row(const std::string& name) {
  const auto& server = find_server(name);
  return {.id = "dram-cache-" + name,
          .basis = Basis::kTaken,
          .about = "the servers of our runs, scaled",
          .finders = {fixed(Source::kParameter,
                            numbers({server.dram_cache_gb, server.scm_cache_gb}), "GB")}};
}

// The least or the greatest over the servers with SCM of what DRAM first gains over Memory Mode: of
// throughput, or, where less is better, how much less.
std::optional<Finding> over_memory_mode(const Origin& from, const char* metric, bool less_is_better,
                                        bool greatest) {
  std::vector<double> gains;
  for (const std::string_view server : kScmServers) {
    const auto value = hybrid_ratio(from, kFirstWorkload, {server, kDramFirst},
                                    {server, kMemoryModePolicy}, metric);
    if (value) gains.push_back(100 * (less_is_better ? 1 - *value : *value - 1));
  }
  if (gains.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(gains.begin(), gains.end());
  return hybrid_finding(from, number(greatest ? *most : *least),
                        fmt::format("{} servers", gains.size()));
}

Row memory_mode_row(const char* id, const char* metric, bool less_is_better, bool greatest) {
  return {.id = id,
          .about = "a model of Memory Mode, without the OS",
          .simulated_about = "a model of Memory Mode, without the OS",
          .finders = both_origins([=](const Origin& from) {
            return over_memory_mode(from, metric, less_is_better, greatest);
          }),
          .missing = "this command without --no-runs",
          .memory_mode = true};
}

// What 64-0 gains over SCM of the size of its DRAM: the least or the greatest over the workloads.
std::optional<Finding> dram_over_scm(const Origin& from, bool greatest) {
  const auto ratios = over_workloads(from, kBaseSetup, {"64-0", kScmOnly}, "ops_per_second");
  if (ratios.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return hybrid_finding(from, number(100 * ((greatest ? *most : *least) - 1)),
                        count_text(ratios) + ", 40 GB each");
}

double hot_accesses() {
  const auto profile = find_workload_profile(std::string(kFirstWorkload));
  return profile.ok() ? 100 * profile->hot_accesses : 0;
}

std::vector<Row> section3_rows() {
  constexpr std::string_view kRuns = "this command without --no-runs";
  return {
      memory_mode_row("hybrid-vs-mm-tput-low", "ops_per_second", false, false),
      memory_mode_row("hybrid-vs-mm-tput-high", "ops_per_second", false, true),
      memory_mode_row("hybrid-vs-mm-lat-low", "mean_us", true, false),
      memory_mode_row("hybrid-vs-mm-lat-high", "mean_us", true, true),
      {.id = "scm-only-vs-dram-low",
       .finders = both_origins([](const Origin& from) { return dram_over_scm(from, false); }),
       .missing = kRuns},
      {.id = "scm-only-vs-dram-high",
       .finders = both_origins([](const Origin& from) { return dram_over_scm(from, true); }),
       .missing = kRuns},
      {.id = "hybrid-vs-naive",
       .finders = both_origins(gain_over_naive),
       .missing = kMissingHybrid},
      {.id = "locality",
       .basis = Basis::kTaken,
       .about = "the profiles' power law has it as a parameter",
       .finders = {fixed(Source::kParameter, number(hot_accesses()), "the profiles")},
       .sized_only = true},
  };
}

std::vector<Row> section6_rows() {
  constexpr std::string_view kQueue =
      "the emulated disk's queue is a smaller part of a read than in the paper";
  constexpr std::string_view kLoad = "the load of SCM in real runs is fitted to it";
  return {
      {.id = "tput-low",
       .simulated_about = kBusyDisk,
       .finders = both_origins([](const Origin& from) { return gain(from, false); }),
       .missing = kMissingHybrid},
      {.id = "tput-high",
       .simulated_about = kBusyDisk,
       .finders = both_origins([](const Origin& from) { return gain(from, true); }),
       .missing = kMissingHybrid},
      {.id = "p95",
       .about = kQueue,
       .finders = both_origins([](const Origin& from) { return latency_gain(from, "p95_us"); }),
       .missing = kMissingHybrid},
      {.id = "p99",
       .about = kQueue,
       .simulated_about =
           "the tail is reads behind compaction's writes, which grow with throughput",
       .finders = both_origins([](const Origin& from) { return latency_gain(from, "p99_us"); }),
       .missing = kMissingHybrid},
      {.id = "scm-only-128",
       .about = kLoad,
       .finders = real_is_fitted([](const Origin& from) { return scm_only_gain(from, "32-128"); }),
       .missing = kMissingHybrid},
      {.id = "scm-only-256",
       .about = kLoad,
       .simulated_about = kBusyDisk,
       .finders = real_is_fitted([](const Origin& from) { return scm_only_gain(from, "32-256"); }),
       .missing = kMissingHybrid},
      {.id = "scm-only-p50-low",
       .about = kLoad,
       .finders = real_is_fitted([](const Origin& from) { return scm_only_p50(from, false); }),
       .missing = kMissingHybrid},
      {.id = "scm-only-p50-high",
       .about = kLoad,
       .finders = real_is_fitted([](const Origin& from) { return scm_only_p50(from, true); }),
       .missing = kMissingHybrid},
      parameter("scm-first-threshold-1", 2, "the policy scm_first(2)"),
      parameter("scm-first-threshold-2", 6, "the policy scm_first(6)"),
      parameter("bidirectional-threshold", 4, "the policy bidirectional(4)"),
      parameter("block-size", 16, "the databases' blocks"),
      {.id = "hit-gain", .finders = both_origins(hit_gain), .missing = kMissingHybrid},
      {.id = "io-less",
       .about = "the load of emulated flash, 4, is fitted to this statement's share of the disk",
       .simulated_about = "48 clients keep the disk of Table 1 busy, with and without SCM",
       .finders = real_is_fitted(storage_less),
       .missing = kMissingHybrid},
      {.id = "read-lat",
       .about = kQueue,
       .finders = both_origins(read_latency_gain),
       .missing = kMissingHybrid},
  };
}

}  // namespace

std::vector<Row> hybrid_cache_rows() {
  std::vector<Row> rows = hybrid_cache_media_rows();
  append(rows, section3_rows());
  append(rows, section6_rows());
  for (const char* const server : {"64-0", "64-128", "32-128", "32-256"}) {
    rows.push_back(server_cost_row(server));
    rows.push_back(sizes_row(server));
  }
  append(rows, {tco_row("tco-64-0", kBaseSetup, Basis::kFitted,
                        "the cost over perf-2p-64-0, which is fitted"),
                tco_row("tco-32-256", kLargestSetup, Basis::kResult, ""),
                performance_row("perf-2p-64-0", kBaseSetup, Basis::kFitted,
                                "the share of pairs that are accessed is fitted to it"),
                performance_row("perf-2p-32-256", kLargestSetup, Basis::kResult, "")});
  return rows;
}

}  // namespace nvcache::reproduce
