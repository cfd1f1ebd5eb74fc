#include "experiments/reproduce/simulated_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "experiments/reproduce/simulations.h"
#include "experiments/writes_hurt/scale.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

constexpr const char* kOps = "ops_per_second";
constexpr const char* kReads =
    "reads_per_second";  // of the published reads, without what is beside

Finding simulated_finding(const Evidence& evidence, Ours ours, const std::string& more = "") {
  std::string scales;
  for (const Evidence::Document* document : evidence.of(kSimulationsFormat)) {
    scales = fmt::format("{}", document->json.at("setup").value("size_factor", 1));
  }
  return {Source::kSimulated, std::move(ours),
          fmt::format("SIMULATED, the paper's sizes and clients at 1/{}{}", scales,
                      more.empty() ? "" : "; " + more)};
}

Scenario with(const char* workload, const char* configuration, int nvram_gb) {
  return {.workload = workload, .configuration = configuration, .nvram_gb = nvram_gb};
}
Scenario without(const char* workload, int dram_gb = kSimulatedDramGb) {
  return {.workload = workload, .configuration = "none", .dram_gb = dram_gb};
}

// one / other.
std::optional<double> simulated_ratio(const Evidence& evidence, const Scenario& one,
                                      const Scenario& other, const char* metric) {
  const auto mine = simulated(evidence, one, metric);
  const auto theirs = simulated(evidence, other, metric);
  if (!mine || !theirs || *theirs <= 0) return std::nullopt;
  return *mine / *theirs;
}

Finder gain_over_memory_mode(const char* workload, int nvram_gb) {
  return [=](const Evidence& evidence) -> std::optional<Finding> {
    const auto ratio = simulated_ratio(evidence, with(workload, "nvcache", nvram_gb),
                                       with(workload, "memory-mode", nvram_gb), kOps);
    if (!ratio) return std::nullopt;
    return simulated_finding(evidence, number(100 * (*ratio - 1)));
  };
}

Finder memory_mode_loss(const char* workload, int nvram_gb) {
  return [=](const Evidence& evidence) -> std::optional<Finding> {
    const auto ratio =
        simulated_ratio(evidence, with(workload, "memory-mode", nvram_gb), without(workload), kOps);
    if (!ratio) return std::nullopt;
    return simulated_finding(evidence, number(100 * (1 - *ratio)));
  };
}

std::optional<Finding> nvcache_loss(const Evidence& evidence) {
  std::optional<double> worst;
  for (const int gb : kSimulatedNvramGb) {
    const auto ratio = simulated_ratio(evidence, with("a", "nvcache", gb), without("a"), kOps);
    if (!ratio) continue;
    const double loss = 100 * (1 - *ratio);
    if (!worst || std::abs(loss) > std::abs(*worst)) worst = loss;
  }
  if (!worst) return std::nullopt;
  return simulated_finding(evidence, number(*worst), "the size with the largest change");
}

// Over workloads and sizes, the median of open-cas / what `other` names, by a metric.
template <typename Other>
std::optional<double> open_cas_median(const Evidence& evidence, const char* metric, Other other) {
  std::vector<double> ratios;
  for (const char* workload : kYcsbLetters) {
    for (const int gb : kSimulatedNvramGb) {
      const auto ratio =
          simulated_ratio(evidence, with(workload, "open-cas", gb), other(workload, gb), metric);
      if (ratio) ratios.push_back(*ratio);
    }
  }
  return median(std::move(ratios));
}

std::optional<Finding> simulated_open_cas_gain(const Evidence& evidence) {
  const auto ratio =
      open_cas_median(evidence, kOps, [](const char* workload, int) { return without(workload); });
  if (!ratio) return std::nullopt;
  return simulated_finding(evidence, number(100 * (*ratio - 1)),
                           "the median over workloads and sizes");
}

std::optional<Finding> simulated_open_cas_writes(const Evidence& evidence) {
  const auto ratio =
      open_cas_median(evidence, "nvram_written_bytes",
                      [](const char* workload, int gb) { return with(workload, "nvcache", gb); });
  if (!ratio) return std::nullopt;
  return simulated_finding(evidence, number(*ratio), "the median over workloads and sizes");
}

Finder simulated_hit_growth(int from_gb, int to_gb) {
  return [=](const Evidence& evidence) -> std::optional<Finding> {
    double points = 0;
    int workloads = 0;
    for (const char* workload : kYcsbLetters) {
      const auto from = simulated(evidence, with(workload, "nvcache", from_gb), "tier_hit_ratio");
      const auto to = simulated(evidence, with(workload, "nvcache", to_gb), "tier_hit_ratio");
      if (!from || !to) continue;
      points += 100 * (*to - *from);
      ++workloads;
    }
    if (workloads == 0) return std::nullopt;
    return simulated_finding(evidence, number(points / workloads),
                             "points, the mean over the workloads");
  };
}

std::optional<Finding> simulated_split(const Evidence& evidence) {
  const auto ratio = simulated_ratio(evidence, with("c", "nvcache", 64), without("c", 96), kOps);
  if (!ratio) return std::nullopt;
  return simulated_finding(evidence, number(*ratio));
}

// Table 1, of a tier of about half the database. The order: less with eager eviction. Of
// evict-btree-scan it has the reads; the others do nothing else.
Finder simulated_table1(const char* workload, const char* configuration) {
  return [=](const Evidence& evidence) -> std::optional<Finding> {
    constexpr int kTierGb = static_cast<int>(writes_hurt::kTable1NvcacheGb);
    const Scenario none = with(workload, "no-eviction", kTierGb);
    const Scenario eager = with(workload, "eager", kTierGb);
    const char* const metric = std::string_view(workload) == kScanWorkload ? kReads : kOps;
    const auto ops = simulated(evidence, with(workload, configuration, kTierGb), metric);
    const auto ratio = simulated_ratio(evidence, none, eager, metric);
    const auto eager_hits = simulated(evidence, eager, "tier_hit_ratio");
    const auto none_hits = simulated(evidence, none, "tier_hit_ratio");
    if (!ops || !ratio || !eager_hits || !none_hits) return std::nullopt;
    Ours ours = number(*ops);
    ours.order = *ratio > 1;
    return simulated_finding(evidence, ours,
                             fmt::format("no eviction / eager {:.2f}; hits {:.0f}% eager, {:.0f}% "
                                         "none",
                                         *ratio, 100 * *eager_hits, 100 * *none_hits));
  };
}

// "Similar performance" (section 3.2.3): within 10% of that at the target of 10%, for YCSB A to E.
Finder flat_at(const char* configuration, double percent) {
  return [=](const Evidence& evidence) -> std::optional<Finding> {
    std::vector<double> ratios;
    for (const char* workload : kYcsbLetters) {
      const auto ratio = simulated_ratio(evidence, with(workload, configuration, kObpNvramGb),
                                         with(workload, "nvcache", kObpNvramGb), kOps);
      if (ratio) ratios.push_back(*ratio);
    }
    if (ratios.empty()) return std::nullopt;
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    Ours ours = number(percent);
    ours.comparable = false;
    ours.order = *least >= 0.9 && *most <= 1.1;
    return simulated_finding(evidence, ours,
                             fmt::format("throughput {:.2f} to {:.2f} of that at 10%, YCSB A to E, "
                                         "{} GB",
                                         *least, *most, kObpNvramGb));
  };
}

std::optional<Finding> simulated_stress_gain(const Evidence& evidence) {
  const auto ratio = simulated_ratio(evidence, with(kStressWorkload, "nvcache", 252),
                                     without(kStressWorkload), kOps);
  if (!ratio) return std::nullopt;
  return simulated_finding(evidence, number(100 * (*ratio - 1)));
}

std::optional<Finding> simulated_scan_speedup(const Evidence& evidence) {
  const Scenario nvcache = with(kScanWorkload, "nvcache", 252);
  const auto ratio = simulated_ratio(evidence, nvcache, without(kScanWorkload), kReads);
  const auto hits = simulated(evidence, nvcache, "tier_hit_ratio");
  if (!ratio || !hits) return std::nullopt;
  return simulated_finding(evidence, number(*ratio), fmt::format("hits {:.0f}%", 100 * *hits));
}

std::optional<Finding> simulated_worst_overhead(const Evidence& evidence) {
  const auto ratio =
      simulated_ratio(evidence, small_stress("no-eviction"), small_stress("none"), kOps);
  if (!ratio) return std::nullopt;
  return simulated_finding(evidence, number(100 * (1 - *ratio)), "of 12 GB of data");
}

const std::map<std::string, Finder>& simulated_sources() {
  static const auto& sources = *new std::map<std::string, Finder>{
      {"ycsb-c-vs-mm", gain_over_memory_mode("c", 64)},
      {"ycsb-b-vs-mm", gain_over_memory_mode("b", 64)},
      {"ycsb-a-mm-64", memory_mode_loss("a", 64)},
      {"ycsb-a-mm-252", memory_mode_loss("a", 252)},
      {"ycsb-a-nvcache", nvcache_loss},
      {"opencas-gain", simulated_open_cas_gain},
      {"opencas-writes", simulated_open_cas_writes},
      {"hit-64-128", simulated_hit_growth(64, 128)},
      {"hit-128-252", simulated_hit_growth(128, 252)},
      {"ycsb-c-64-32", simulated_split},
      {"t1-eb-eager-ops", simulated_table1("evict-btree", "eager")},
      {"t1-eb-none-ops", simulated_table1("evict-btree", "no-eviction")},
      {"t1-ebs-eager-ops", simulated_table1(kScanWorkload, "eager")},
      {"t1-ebs-none-ops", simulated_table1(kScanWorkload, "no-eviction")},
      {"t1-mb-eager-ops", simulated_table1("medium-btree", "eager")},
      {"t1-mb-none-ops", simulated_table1("medium-btree", "no-eviction")},
      {"obp-range-low", flat_at("nvcache-obp5", 5)},
      {"obp-range-high", flat_at("nvcache-obp30", 30)},
      {"speedup-scan", simulated_scan_speedup},
      {"speedup-80r20u", simulated_stress_gain},
      {"worst-overhead", simulated_worst_overhead},
  };
  return sources;
}

}  // namespace

void add_simulated_source(Row& row) {
  const auto found = simulated_sources().find(row.id);
  if (found != simulated_sources().end()) row.finders.insert(row.finders.begin(), found->second);
}

nlohmann::json memory_mode_spread(const Evidence& evidence) {
  nlohmann::json spread = nlohmann::json::array();
  for (const char* workload : kYcsbLetters) {
    for (const int gb : kSimulatedNvramGb) {
      const char* const metric = "interval_variation";
      const auto memory_mode = simulated(evidence, with(workload, "memory-mode", gb), metric);
      const auto nvcache = simulated(evidence, with(workload, "nvcache", gb), metric);
      if (!memory_mode || !nvcache) continue;
      spread.push_back({{"workload", workload},
                        {"nvram_gb", gb},
                        {"memory_mode", *memory_mode},
                        {"nvcache", *nvcache}});
    }
  }
  return spread;
}

}  // namespace nvcache::reproduce
