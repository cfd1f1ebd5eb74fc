// *Hybrid Cache* (ATC '21): RocksDB with a tiered cache, simulated, and as `nvcache bench
// hybrid-cache` runs it.
#include <string>

#include "experiments/hybrid_cache/servers.h"
#include "experiments/reproduce/hybrid_simulations.h"
#include "experiments/reproduce/media_rows.h"
#include "experiments/reproduce/origin.h"
#include "experiments/reproduce/rows.h"
#include "experiments/run/profile_files.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

using hybrid_cache::find_server;
using hybrid_cache::kDramFirst;
using hybrid_cache::kDramOnly;
using hybrid_cache::kScmOnly;

constexpr std::string_view kMissingHybrid =
    "results of 'nvcache bench hybrid-cache --json', or this command without --no-runs";
constexpr std::string_view kWorkloads[] = {"whatsapp", "tectonic", "laser"};
constexpr std::string_view kFirstWorkload = "whatsapp";
constexpr std::string_view kScmServers[] = {"64-128", "32-128", "32-256"};
constexpr std::string_view kLargest = "32-256";
constexpr std::string_view kBusyDisk =
    "48 clients keep the disk of Table 1 busy, so that throughput goes with misses";

constexpr const char* kOps = "ops_per_second";
const Setup kBaseSetup = {"64-0", kDramOnly.data()};
const Setup kTwoSocketSetup = {"2P", kDramOnly.data()};
const Setup kLargestSetup = {kLargest.data(), kDramFirst.data()};

// The simulation decides: it alone has the paper's sizes, cores, and a disk with a queue. RocksDB,
// scaled down, stands beside it.
std::vector<Finder> both(const Find& find) {
  return of_forms({kHybridSimulationFormat, kHybridFormat}, find);
}

// The same, where a parameter of the real runs is fitted to the number.
std::vector<Finder> real_is_fitted(const Find& find) {
  return both([find](const Origin& from) {
    std::optional<Finding> finding = find(from);
    if (finding) finding->fitted = !from.simulated();
    return finding;
  });
}

// Of a server and a policy. SCM alone of 64-128 is that of 32-128.
Setup setup_of(std::string_view server, std::string_view policy) {
  if (policy == kScmOnly && server == "64-128") server = "32-128";
  return {std::string(server), std::string(policy)};
}

// Of `one` to `other`, of each workload.
std::vector<std::optional<double>> over_workloads(const Origin& from, const Setup& one,
                                                  const Setup& other, const char* metric) {
  std::vector<std::optional<double>> ratios;
  for (const std::string_view workload : kWorkloads) {
    ratios.push_back(from.ratio(workload, one, other, metric));
  }
  return ratios;
}

std::string count_text(const std::vector<std::optional<double>>& ratios) {
  return fmt::format("{} of {} workloads", present(ratios).size(), std::size(kWorkloads));
}

double end_of(const Span& span, bool greatest) { return greatest ? span.high : span.low; }

// The least or the greatest gain of `one` over 64-0 over the workloads, in %.
std::vector<Finder> gain(const Setup& one, const Setup& other, bool greatest,
                         const std::string& more = "") {
  return both([=](const Origin& from) -> std::optional<Finding> {
    const auto ratios = over_workloads(from, one, other, kOps);
    const auto span = span_of(ratios);
    if (!span) return std::nullopt;
    return from.finding_of(end_of(*span, greatest), as_gain, count_text(ratios) + more);
  });
}

// How much lower a percentile is, in %: the mean over the workloads.
std::vector<Finder> latency_gain(const char* metric) {
  return both([metric](const Origin& from) -> std::optional<Finding> {
    const auto ratios = over_workloads(from, kLargestSetup, kBaseSetup, metric);
    if (present(ratios).empty()) return std::nullopt;
    return from.finding_of(mean_of(present(ratios)), as_loss, "the mean of " + count_text(ratios));
  });
}

std::vector<Finder> scm_only_gain(std::string_view server) {
  return real_is_fitted([server](const Origin& from) {
    return from.finding_of(from.ratio(kFirstWorkload, setup_of(server, kScmOnly), kBaseSetup, kOps),
                           as_gain);
  });
}

// Of the servers with SCM: one of their setups to another.
template <typename Other>
std::vector<std::optional<double>> over_servers(const Origin& from, std::string_view policy,
                                                Other other, const char* metric) {
  std::vector<std::optional<double>> ratios;
  for (const std::string_view server : kScmServers) {
    ratios.push_back(from.ratio(kFirstWorkload, setup_of(server, policy), other(server), metric));
  }
  return ratios;
}

std::vector<Finder> scm_only_p50(bool greatest) {
  return real_is_fitted([greatest](const Origin& from) -> std::optional<Finding> {
    const auto span = span_of(over_servers(
        from, kScmOnly, [](std::string_view) { return kBaseSetup; }, "p50_us"));
    if (!span) return std::nullopt;
    return from.finding(number(end_of(*span, greatest)));
  });
}

// DRAM first over SCM alone on the same server, the greatest gain.
std::optional<Finding> gain_over_naive(const Origin& from) {
  const auto span = span_of(over_servers(
      from, kDramFirst, [](std::string_view server) { return setup_of(server, kScmOnly); }, kOps));
  if (!span) return std::nullopt;
  return from.finding_of(span->high, as_gain, "the greatest over servers");
}

std::optional<Finding> hit_gain(const Origin& from) {
  return from.finding_of(from.difference(kFirstWorkload, kLargestSetup, kBaseSetup, "hit_ratio"),
                         as_percent, "points of the hit rate");
}

std::optional<Finding> storage_less(const Origin& from) {
  const auto more =
      from.difference(kFirstWorkload, kLargestSetup, kBaseSetup, "storage_read_bytes_per_second");
  if (!more) return std::nullopt;
  Ours ours = number(-*more * 1e-9);
  ours.comparable = false;
  ours.order = *more < 0;
  return from.finding(ours);
}

std::optional<Finding> read_latency_gain(const Origin& from) {
  return from.finding_of(
      from.ratio(kFirstWorkload, kLargestSetup, kBaseSetup, "storage_read_p50_us"), as_loss);
}

// 2P = 1: `in` makes a cell of the least and the most of it.
template <typename In>
std::optional<Finding> of_two_sockets(const Origin& from, const Setup& setup, In in) {
  const auto ratios = over_workloads(from, setup, kTwoSocketSetup, kOps);
  std::vector<std::optional<double>> cells;
  for (const double ratio : present(ratios)) cells.emplace_back(in(ratio));
  const auto span = span_of(cells);
  if (!span) return std::nullopt;
  return from.finding(range(span->low, span->high), count_text(ratios));
}

Row performance_row(const char* id, const Setup& setup, Basis basis, std::string_view about) {
  return {.id = id,
          .basis = basis,
          .about = about,
          .simulated_about = kBusyDisk,
          .finders = both([setup](const Origin& from) {
            return of_two_sockets(from, setup, [](double share) { return 100 * share; });
          }),
          .missing = kMissingHybrid,
          .baseline = 100};
}

Row tco_row(const char* id, const Setup& setup, Basis basis, std::string_view about) {
  const double cost = find_server(setup.variant).cost;
  return {.id = id,
          .basis = basis,
          .about = about,
          .finders = both([setup, cost](const Origin& from) {
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
Row memory_mode_row(const char* id, const char* metric, bool less_is_better, bool greatest) {
  const auto find = [=](const Origin& from) -> std::optional<Finding> {
    const auto ratios = over_servers(
        from, kDramFirst,
        [](std::string_view server) { return setup_of(server, kMemoryModePolicy); }, metric);
    const auto span = span_of(ratios);
    if (!span) return std::nullopt;
    return from.finding_of(end_of(*span, greatest != less_is_better),
                           less_is_better ? as_loss : as_gain,
                           fmt::format("{} servers", present(ratios).size()));
  };
  return {.id = id,
          .about = "a model of Memory Mode, without the OS",
          .simulated_about = "a model of Memory Mode, without the OS",
          .finders = both(find),
          .missing = "this command without --no-runs",
          .memory_mode = true};
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
       .finders = gain(kBaseSetup, {"64-0", std::string(kScmOnly)}, false, ", 40 GB each"),
       .missing = kRuns},
      {.id = "scm-only-vs-dram-high",
       .finders = gain(kBaseSetup, {"64-0", std::string(kScmOnly)}, true, ", 40 GB each"),
       .missing = kRuns},
      {.id = "hybrid-vs-naive", .finders = both(gain_over_naive), .missing = kMissingHybrid},
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
       .finders = gain(kLargestSetup, kBaseSetup, false),
       .missing = kMissingHybrid},
      {.id = "tput-high",
       .simulated_about = kBusyDisk,
       .finders = gain(kLargestSetup, kBaseSetup, true),
       .missing = kMissingHybrid},
      {.id = "p95", .about = kQueue, .finders = latency_gain("p95_us"), .missing = kMissingHybrid},
      {.id = "p99",
       .about = kQueue,
       .simulated_about =
           "the tail is reads behind compaction's writes, which grow with throughput",
       .finders = latency_gain("p99_us"),
       .missing = kMissingHybrid},
      {.id = "scm-only-128",
       .about = kLoad,
       .finders = scm_only_gain("32-128"),
       .missing = kMissingHybrid},
      {.id = "scm-only-256",
       .about = kLoad,
       .simulated_about = kBusyDisk,
       .finders = scm_only_gain("32-256"),
       .missing = kMissingHybrid},
      {.id = "scm-only-p50-low",
       .about = kLoad,
       .finders = scm_only_p50(false),
       .missing = kMissingHybrid},
      {.id = "scm-only-p50-high",
       .about = kLoad,
       .finders = scm_only_p50(true),
       .missing = kMissingHybrid},
      parameter("scm-first-threshold-1", 2, "the policy scm_first(2)"),
      parameter("scm-first-threshold-2", 6, "the policy scm_first(6)"),
      parameter("bidirectional-threshold", 4, "the policy bidirectional(4)"),
      parameter("block-size", 16, "the databases' blocks"),
      {.id = "hit-gain", .finders = both(hit_gain), .missing = kMissingHybrid},
      {.id = "io-less",
       .about = "the load of emulated flash, 4, is fitted to this statement's share of the disk",
       .simulated_about = "48 clients keep the disk of Table 1 busy, with and without SCM",
       .finders = real_is_fitted(storage_less),
       .missing = kMissingHybrid},
      {.id = "read-lat",
       .about = kQueue,
       .finders = both(read_latency_gain),
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
