// *Writes Hurt* (SoCC '22): wtperf and YCSB on WiredTiger by `nvcache bench writes-hurt`.
#include <algorithm>
#include <string>

#include "experiments/reproduce/media_rows.h"
#include "experiments/reproduce/rows.h"
#include "experiments/simulate/tables.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/workloads.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

using figures::hit_percent;
using figures::op_value;
using figures::ratios_of;
using figures::runs_of;
using figures::Value;
using figures::values_of;
using nlohmann::json;
using writes_hurt::kLargeDramGb;

constexpr std::string_view kMissingRuns =
    "results of 'nvcache bench writes-hurt --json', or this command without --no-runs";
constexpr std::string_view kMissingScan =
    "results of 'nvcache bench writes-hurt --json' with evict-btree-scan, or this command without "
    "--no-runs";
constexpr const char* kScan = "evict-btree-scan";
constexpr int kNvramGb[] = {64, 128, 252};
constexpr std::string_view kLetters = "abcde";

Finding real(const Evidence& evidence, Ours ours, const std::string& more = "") {
  return {Source::kReal, std::move(ours),
          conditions_of(evidence, kWritesHurtFormat) + (more.empty() ? "" : "; " + more)};
}

// ---- wtperf ----

// Median of value(run of `one`) / value(run of `other`), in the same round.
std::optional<double> wtperf_ratio(const Evidence& evidence, const char* workload,
                                   const char* variant, const char* one, const char* other,
                                   const Value& value) {
  return median(collect(evidence, kWritesHurtFormat, [&](const json& document) {
    const json& runs = document.at("runs");
    return ratios_of(runs_of(runs, workload, variant, one), runs_of(runs, workload, variant, other),
                     value);
  }));
}

std::optional<double> wtperf_value(const Evidence& evidence, const char* workload,
                                   const char* configuration, const Value& value) {
  return median(collect(evidence, kWritesHurtFormat, [&](const json& document) {
    return values_of(runs_of(document.at("runs"), workload, "large", configuration), value);
  }));
}

std::optional<Finding> worst_overhead(const Evidence& evidence) {
  const auto left = wtperf_ratio(evidence, "evict-bt-stress-multi", "small", "alloc-read-write",
                                 "none", op_value("read"));
  if (!left) return std::nullopt;
  return real(evidence, number(100 * (1 - *left)), "reads of evict-bt-stress-multi");
}

// The throughput of one side of Table 1. Whether the order is the published one: less throughput
// with eager eviction, and more hits.
Row table1_row(const char* id, const char* workload, const char* configuration) {
  const auto find = [workload, configuration](const Evidence& evidence) -> std::optional<Finding> {
    const auto ops = wtperf_value(evidence, workload, configuration, op_value("read"));
    const auto ratio =
        wtperf_ratio(evidence, workload, "large", "no-eviction", "eager", op_value("read"));
    const auto eager_hits = wtperf_value(evidence, workload, "eager", hit_percent);
    const auto hits = wtperf_value(evidence, workload, "no-eviction", hit_percent);
    if (!ops || !ratio || !eager_hits || !hits) return std::nullopt;
    Ours ours = number(*ops);
    ours.comparable = false;
    ours.order = *ratio > 1;
    return real(evidence, ours,
                fmt::format("no eviction / eager {:.2f}; hits {:.0f}% eager, {:.0f}% none", *ratio,
                            *eager_hits, *hits));
  };
  return {.id = id,
          .basis = Basis::kResult,
          .about = "operations of a scaled machine; the order is that of eager eviction and none",
          .finders = {find},
          .missing = std::string_view(workload) == kScan ? kMissingScan : kMissingRuns};
}

std::optional<Finding> speedup(const Evidence& evidence, const char* workload, bool as_gain) {
  const auto ratio = wtperf_ratio(evidence, workload, "large", "nvcache", "none", op_value("read"));
  if (!ratio) return std::nullopt;
  return real(evidence, number(as_gain ? 100 * (*ratio - 1) : *ratio));
}

// ---- YCSB ----

std::vector<const json*> ycsb_runs(const json& document, int figure, char letter,
                                   const std::string& configuration, double dram_gb) {
  std::vector<const json*> found;
  if (!document.contains("ycsb_runs")) return found;
  for (const json& run : document.at("ycsb_runs")) {
    if (run.at("figure") == figure && run.at("workload") == std::string(1, letter) &&
        run.at("configuration") == configuration && run.at("dram_gb") == dram_gb) {
      found.push_back(&run);
    }
  }
  return found;
}

Value ycsb_metric(const char* name) {
  return [name](const json& run) -> std::optional<double> {
    const json& metrics = run.at("metrics");
    if (!metrics.contains(name) || !metrics[name].is_number()) return std::nullopt;
    return metrics[name].get<double>();
  };
}

// Of Figure 7: `one` / `other`, medians.
std::optional<double> ycsb_ratio(const Evidence& evidence, char letter, const std::string& one,
                                 const std::string& other, const char* metric) {
  return median(collect(evidence, kWritesHurtFormat, [&](const json& document) {
    return ratios_of(ycsb_runs(document, 7, letter, one, kLargeDramGb),
                     ycsb_runs(document, 7, letter, other, kLargeDramGb), ycsb_metric(metric));
  }));
}

std::optional<Finding> update_heavy_loss(const Evidence& evidence) {
  std::optional<double> worst;
  for (const int gb : kNvramGb) {
    const auto ratio =
        ycsb_ratio(evidence, 'a', fmt::format("nvcache-{}", gb), "none", "ops_per_second");
    if (!ratio) continue;
    const double loss = 100 * (1 - *ratio);
    if (!worst || std::abs(loss) > std::abs(*worst)) worst = loss;
  }
  if (!worst) return std::nullopt;
  return real(evidence, number(*worst), "the size with the largest change");
}

std::optional<Finding> open_cas_gain(const Evidence& evidence) {
  std::vector<double> gains;
  for (const char letter : kLetters) {
    for (const int gb : kNvramGb) {
      const auto ratio =
          ycsb_ratio(evidence, letter, fmt::format("open-cas-{}", gb), "none", "ops_per_second");
      if (ratio) gains.push_back(100 * (*ratio - 1));
    }
  }
  const auto middle = median(gains);
  if (!middle) return std::nullopt;
  return real(evidence, number(*middle), "the median over workloads and sizes");
}

std::optional<Finding> open_cas_writes(const Evidence& evidence) {
  std::vector<double> ratios;
  for (const char letter : kLetters) {
    for (const int gb : kNvramGb) {
      const auto ratio = ycsb_ratio(evidence, letter, fmt::format("open-cas-{}", gb),
                                    fmt::format("nvcache-{}", gb), "tier_written_bytes");
      if (ratio) ratios.push_back(*ratio);
    }
  }
  const auto middle = median(ratios);
  if (!middle) return std::nullopt;
  return real(evidence, number(*middle), "the median over workloads and sizes");
}

// In points, the mean over the workloads.
std::optional<Finding> hit_growth(const Evidence& evidence, int from_gb, int to_gb) {
  double points = 0;
  int workloads = 0;
  for (const char letter : kLetters) {
    const auto hits = [&](int gb) {
      return median(collect(evidence, kWritesHurtFormat, [&](const json& document) {
        return values_of(
            ycsb_runs(document, 7, letter, fmt::format("nvcache-{}", gb), kLargeDramGb),
            ycsb_metric("tier_hit_ratio"));
      }));
    };
    const auto from = hits(from_gb), to = hits(to_gb);
    if (!from || !to) continue;
    points += 100 * (*to - *from);
    ++workloads;
  }
  if (workloads == 0) return std::nullopt;
  return real(evidence, number(points / workloads), "points, the mean over the workloads");
}

std::optional<Finding> split_against_dram(const Evidence& evidence) {
  const auto ratio = median(collect(evidence, kWritesHurtFormat, [&](const json& document) {
    return ratios_of(ycsb_runs(document, 8, 'c', "nvcache-64", 32),
                     ycsb_runs(document, 8, 'c', "none", 96), ycsb_metric("ops_per_second"));
  }));
  if (!ratio) return std::nullopt;
  return real(evidence, number(*ratio));
}

Row split_cost_row(const char* id, double nvram_gb) {
  const double dram_gb = 96 - nvram_gb;
  return {.id = id,
          .basis = Basis::kResult,
          .about = "follows from the price of NVRAM, 0.38 of DRAM's",
          .finders = {fixed(Source::kModel, number(writes_hurt::relative_cost(nvram_gb, dram_gb)),
                            "calculated")}};
}

Row against_memory_mode(const char* id) {
  return {.id = id,
          .basis = Basis::kResult,
          .about = "Memory Mode needs the hardware",
          .missing = "this command without --no-runs",
          .memory_mode = true};
}

std::vector<Row> in_house_rows() {
  return {
      {.id = "worst-overhead",
       .about = "our module's writes cost its own time, on two processors",
       .finders = {worst_overhead},
       .missing = kMissingRuns},
      table1_row("t1-eb-eager-ops", "evict-btree", "eager"),
      table1_row("t1-eb-none-ops", "evict-btree", "no-eviction"),
      table1_row("t1-ebs-eager-ops", kScan, "eager"),
      table1_row("t1-ebs-none-ops", kScan, "no-eviction"),
      table1_row("t1-mb-eager-ops", "medium-btree", "eager"),
      table1_row("t1-mb-none-ops", "medium-btree", "no-eviction"),
      {.id = "obp-target",
       .basis = Basis::kTaken,
       .about = "obp(0.1); the target that 'nvcache calibrate' suggests is fitted to it",
       .finders = {fixed(Source::kParameter, number(10), "the experiments' obp(0.1)")},
       .sized_only = true},
      {.id = "obp-range-low",
       .about = "it is flat if the throughput is within a tenth of that at 10%",
       .missing = "this command without --no-runs",
       .sized_only = true},
      {.id = "obp-range-high",
       .about = "it is flat if the throughput is within a tenth of that at 10%",
       .missing = "this command without --no-runs",
       .sized_only = true},
      {.id = "speedup-scan",
       .about = "the tier is not full when it is measured, seconds after it began empty",
       .finders = {[](const Evidence& e) { return speedup(e, kScan, false); }},
       .missing = kMissingScan},
      {.id = "speedup-80r20u",
       .finders = {[](const Evidence& e) { return speedup(e, "evict-bt-stress-multi", true); }},
       .missing = kMissingRuns},
  };
}

std::vector<Row> ycsb_rows() {
  return {
      against_memory_mode("ycsb-c-vs-mm"),
      against_memory_mode("ycsb-b-vs-mm"),
      against_memory_mode("ycsb-a-mm-64"),
      against_memory_mode("ycsb-a-mm-252"),
      {.id = "ycsb-a-nvcache", .finders = {update_heavy_loss}, .missing = kMissingRuns},
      {.id = "opencas-gain",
       .about = "writes of two clients hurt less than those of the paper's 20 to 100",
       .finders = {open_cas_gain},
       .missing = kMissingRuns},
      {.id = "opencas-writes",
       .about = "nvcache's tier is still filling when it is measured",
       .finders = {open_cas_writes},
       .missing = kMissingRuns},
      {.id = "hit-64-128",
       .finders = {[](const Evidence& e) { return hit_growth(e, 64, 128); }},
       .missing = kMissingRuns},
      {.id = "hit-128-252",
       .finders = {[](const Evidence& e) { return hit_growth(e, 128, 252); }},
       .missing = kMissingRuns},
  };
}

}  // namespace

std::vector<Row> writes_hurt_rows() {
  std::vector<Row> rows = writes_hurt_media_rows();
  const simulate::StorageRow& disk = *simulate::find_row(simulate::kStorages, "p4800x");
  rows.push_back(parameter("ssd-read", disk.read_gb_s, "the simulated disk"));
  rows.push_back(parameter("ssd-write", disk.write_gb_s, "the simulated disk"));
  append(rows, in_house_rows());
  append(rows, ycsb_rows());
  append(rows, {split_cost_row("cost-16", 16), split_cost_row("cost-32", 32),
                split_cost_row("cost-48", 48), split_cost_row("cost-64", 64)});
  rows.push_back({.id = "ycsb-c-64-32", .finders = {split_against_dram}, .missing = kMissingRuns});
  return rows;
}

}  // namespace nvcache::reproduce
