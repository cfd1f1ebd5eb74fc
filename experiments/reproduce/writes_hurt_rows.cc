// *Writes Hurt* (SoCC '22), and its comparison with Memory Mode: simulated, and on WiredTiger as
// `nvcache bench writes-hurt` runs it.
#include <algorithm>
#include <cmath>
#include <string>

#include "experiments/reproduce/media_rows.h"
#include "experiments/reproduce/origin.h"
#include "experiments/reproduce/simulations.h"
#include "experiments/simulate/tables.h"
#include "experiments/writes_hurt/workloads.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

constexpr std::string_view kMissingRuns =
    "results of 'nvcache bench writes-hurt --json', or this command without --no-runs";
constexpr std::string_view kMissingScan =
    "results of 'nvcache bench writes-hurt --json' with evict-btree-scan, or this command without "
    "--no-runs";
constexpr std::string_view kMissingSimulation = "this command without --no-runs";
constexpr std::string_view kOverWorkloadsAndSizes = "the median over workloads and sizes";
constexpr const char* kOps = "ops_per_second";
constexpr const char* kReads = "reads_per_second";  // of the published reads alone
constexpr const char* kHits = "tier_hit_ratio";
const Setup kWithout = {"dram-32", "none"};

Setup with(std::string_view configuration, int nvram_gb) {
  return {"dram-32", fmt::format("{}-{}", configuration, nvram_gb)};
}

std::vector<Finder> both(const Find& find) {
  return of_forms({kSimulationsFormat, kWritesHurtFormat}, find);
}

// The value of each workload of YCSB and size of NVRAM.
template <typename ValueOf>
std::vector<std::optional<double>> over_ycsb(ValueOf value_of) {
  std::vector<std::optional<double>> values;
  for (const char* workload : kYcsbLetters) {
    for (const int gb : kSimulatedNvramGb) values.push_back(value_of(workload, gb));
  }
  return values;
}

// The throughput of one side of Table 1. Whether the order is the published one: less throughput
// with eager eviction, and more hits. Operations of a scaled machine cannot be compared in size.
Row table1_row(const char* id, const char* workload, const char* configuration) {
  const auto find = [workload, configuration](const Origin& from) -> std::optional<Finding> {
    const Setup eager{"large", "eager"}, none{"large", "no-eviction"};
    const auto ops = from.value(workload, {"large", configuration}, kReads);
    const auto ratio = from.ratio(workload, none, eager, kReads);
    const auto eager_hits = from.value(workload, eager, kHits);
    const auto none_hits = from.value(workload, none, kHits);
    if (!ops || !ratio || !eager_hits || !none_hits) return std::nullopt;
    Ours ours = number(*ops);
    ours.comparable = from.simulated();
    ours.order = *ratio > 1;
    return from.finding(
        ours, fmt::format("no eviction / eager {:.2f}; hits {:.0f}% eager, {:.0f}% none", *ratio,
                          100 * *eager_hits, 100 * *none_hits));
  };
  return {.id = id,
          .about = "operations of a scaled machine; the order is that of eager eviction and none",
          .finders = both(find),
          .missing = std::string_view(workload) == kScanWorkload ? kMissingScan : kMissingRuns};
}

// "Similar performance" (section 3.2.3): within 10% of that at the target of 10%, for YCSB A to E.
Row flat_row(const char* id, const char* configuration, double percent) {
  const auto find = [configuration, percent](const Origin& from) -> std::optional<Finding> {
    std::vector<std::optional<double>> ratios;
    for (const char* workload : kYcsbLetters) {
      ratios.push_back(from.ratio(workload, with(configuration, kObpNvramGb),
                                  with("nvcache", kObpNvramGb), kOps));
    }
    const auto span = span_of(ratios);
    if (!span) return std::nullopt;
    Ours ours = number(percent);
    ours.comparable = false;
    ours.order = span->low >= 0.9 && span->high <= 1.1;
    return from.finding(
        ours, fmt::format("throughput {:.2f} to {:.2f} of that at 10%, YCSB A to E, {} GB",
                          span->low, span->high, kObpNvramGb));
  };
  return {.id = id,
          .about = "it is flat if the throughput is within a tenth of that at 10%",
          .finders = of_forms({kSimulationsFormat}, find),
          .missing = kMissingSimulation,
          .sized_only = true};
}

std::optional<Finding> worst_overhead(const Origin& from) {
  return from.finding_of(from.ratio(kStressWorkload, {"small", "alloc-read-write"},
                                    {"small", "none"}, from.simulated() ? kOps : kReads),
                         as_loss,
                         from.simulated() ? "of 12 GB of data" : "reads of evict-bt-stress-multi");
}

std::optional<Finding> scan_speedup(const Origin& from) {
  const Setup nvcache{"large", "nvcache"};
  const auto hits = from.value(kScanWorkload, nvcache, kHits);
  const bool told = from.simulated() && hits;
  return from.finding_of(from.ratio(kScanWorkload, nvcache, {"large", "none"}, kReads), as_is,
                         told ? fmt::format("hits {:.0f}%", 100 * *hits) : "");
}

std::optional<Finding> stress_gain(const Origin& from) {
  return from.finding_of(from.ratio(kStressWorkload, {"large", "nvcache"}, {"large", "none"},
                                    from.simulated() ? kOps : kReads),
                         as_gain);
}

std::optional<Finding> update_heavy_loss(const Origin& from) {
  std::optional<double> worst;
  for (const int gb : kSimulatedNvramGb) {
    const auto ratio = from.ratio("a", with("nvcache", gb), kWithout, kOps);
    if (ratio && (!worst || std::abs(1 - *ratio) > std::abs(1 - *worst))) worst = ratio;
  }
  return from.finding_of(worst, as_loss, "the size with the largest change");
}

std::optional<Finding> open_cas_gain(const Origin& from) {
  const auto ratios = over_ycsb([&](const char* workload, int gb) {
    return from.ratio(workload, with("open-cas", gb), kWithout, kOps);
  });
  return from.finding_of(median(present(ratios)), as_gain, std::string(kOverWorkloadsAndSizes));
}

std::optional<Finding> open_cas_writes(const Origin& from) {
  const auto ratios = over_ycsb([&](const char* workload, int gb) {
    return from.ratio(workload, with("open-cas", gb), with("nvcache", gb), "tier_written_bytes");
  });
  return from.finding_of(median(present(ratios)), as_is, std::string(kOverWorkloadsAndSizes));
}

// In points, the mean over the workloads.
std::vector<Finder> hit_growth(int from_gb, int to_gb) {
  return both([from_gb, to_gb](const Origin& from) -> std::optional<Finding> {
    std::vector<double> points;
    for (const char* workload : kYcsbLetters) {
      const auto less = from.value(workload, with("nvcache", from_gb), kHits);
      const auto more = from.value(workload, with("nvcache", to_gb), kHits);
      if (less && more) points.push_back(*more - *less);
    }
    if (points.empty()) return std::nullopt;
    return from.finding_of(mean_of(points), as_percent, "points, the mean over the workloads");
  });
}

std::optional<Finding> split_against_dram(const Origin& from) {
  const Setup split{from.simulated() ? "dram-32" : "split-32", "nvcache-64"};
  return from.finding_of(from.ratio("c", split, {"split-96", "none"}, kOps), as_is);
}

Row memory_mode_row(const char* id, const char* workload, const Setup& one, const Setup& other,
                    Origin::In in) {
  return {.id = id,
          .about = "Memory Mode needs the hardware",
          .finders = of_forms({kSimulationsFormat},
                              [=](const Origin& from) {
                                return from.finding_of(from.ratio(workload, one, other, kOps), in);
                              }),
          .missing = kMissingSimulation,
          .memory_mode = true};
}

Row split_cost_row(const char* id, double nvram_gb) {
  const double dram_gb = 96 - nvram_gb;
  return {.id = id,
          .about = "follows from the price of NVRAM, 0.38 of DRAM's",
          .finders = {fixed(Source::kModel, number(writes_hurt::relative_cost(nvram_gb, dram_gb)),
                            "calculated")}};
}

std::vector<Row> in_house_rows() {
  return {
      {.id = "worst-overhead",
       .about = "our module's writes cost its own time, on two processors",
       .finders = both(worst_overhead),
       .missing = kMissingRuns},
      table1_row("t1-eb-eager-ops", "evict-btree", "eager"),
      table1_row("t1-eb-none-ops", "evict-btree", "no-eviction"),
      table1_row("t1-ebs-eager-ops", kScanWorkload, "eager"),
      table1_row("t1-ebs-none-ops", kScanWorkload, "no-eviction"),
      table1_row("t1-mb-eager-ops", "medium-btree", "eager"),
      table1_row("t1-mb-none-ops", "medium-btree", "no-eviction"),
      {.id = "obp-target",
       .basis = Basis::kTaken,
       .about = "obp(0.1); the target that 'nvcache calibrate' suggests is fitted to it",
       .finders = {fixed(Source::kParameter, number(10), "the experiments' obp(0.1)")},
       .sized_only = true},
      flat_row("obp-range-low", "nvcache-obp5", 5),
      flat_row("obp-range-high", "nvcache-obp30", 30),
      {.id = "speedup-scan",
       .about = "the tier is not full when it is measured, seconds after it began empty",
       .finders = both(scan_speedup),
       .missing = kMissingScan},
      {.id = "speedup-80r20u", .finders = both(stress_gain), .missing = kMissingRuns},
  };
}

std::vector<Row> ycsb_rows() {
  return {
      memory_mode_row("ycsb-c-vs-mm", "c", with("nvcache", 64), with("memory-mode", 64), as_gain),
      memory_mode_row("ycsb-b-vs-mm", "b", with("nvcache", 64), with("memory-mode", 64), as_gain),
      memory_mode_row("ycsb-a-mm-64", "a", with("memory-mode", 64), kWithout, as_loss),
      memory_mode_row("ycsb-a-mm-252", "a", with("memory-mode", 252), kWithout, as_loss),
      {.id = "ycsb-a-nvcache", .finders = both(update_heavy_loss), .missing = kMissingRuns},
      {.id = "opencas-gain",
       .about = "writes of two clients hurt less than those of the paper's 20 to 100",
       .finders = both(open_cas_gain),
       .missing = kMissingRuns},
      {.id = "opencas-writes",
       .about = "nvcache's tier is still filling when it is measured",
       .finders = both(open_cas_writes),
       .missing = kMissingRuns},
      {.id = "hit-64-128", .finders = hit_growth(64, 128), .missing = kMissingRuns},
      {.id = "hit-128-252", .finders = hit_growth(128, 252), .missing = kMissingRuns},
      {.id = "ycsb-c-64-32", .finders = both(split_against_dram), .missing = kMissingRuns},
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
  return rows;
}

json memory_mode_spread(const Evidence& evidence) {
  const Origin from(evidence, kSimulationsFormat);
  json spread = json::array();
  for (const char* workload : kYcsbLetters) {
    for (const int gb : kSimulatedNvramGb) {
      const char* const metric = "interval_variation";
      const auto memory_mode = from.value(workload, with("memory-mode", gb), metric);
      const auto nvcache = from.value(workload, with("nvcache", gb), metric);
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
