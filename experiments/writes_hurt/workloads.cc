#include "experiments/writes_hurt/workloads.h"

#include <ranges>

#include "base/files.h"
#include "base/text.h"
#include "experiments/writes_hurt/scale.h"
#include "fmt/ranges.h"

namespace nvcache::writes_hurt {
namespace {

constexpr Workload kWorkloads[] = {
    {"500m-btree-50r50u", "read,update", {163, 6, 98, 2190, 191}, "", "no gain"},
    {"chkpt-stress", "update", {134, 2, 94, 780, 36}, "", "no gain"},
    {"evict-bt-stress-multi", "read,update", {250, 20, 94, 1740, 424}, "91 (worst)", "1.12"},
    {"evict-btree", "read", {120, 97, 0, 120, 115}, "", ""},
    {"evict-btree-scan", "read", {250, 97, 47, 400, 300}, "", "over 3"},
    {"medium-btree", "read", {120, 97, 0, 120, 115}, "", ""},
    {"overflow-130k", "read,update", {253, 6, 95, 2000, 127}, "", "no gain"},
    {"update-chkpt-btree", "insert,read,update", {185, 6, 95, 1720, 137}, "", "no gain"},
    {"update-delta-mix1", "update", {125, 2, 98, 2000, 93}, "", "no gain"},
    {"update-grow-stress", "update", {190, 2, 97, 2100, 98}, "", "no gain"},
};

constexpr Table1Row kTable1[] = {
    {"evict-btree", 61699, 48, 162690, 44},
    {"evict-btree-scan", 97491, 45, 134404, 36},
    {"medium-btree", 62012, 48, 164644, 44},
};

constexpr YcsbRow kTable3[] = {
    {'a', "50% read, 50% update", 20, 130},
    {'b', "50% read, 50% update", 20, 194},
    {'c', "100% read", 20, 259},
    {'d', "95% read, 5% insert", 100, 219},
    {'e', "95% scan, 5% insert", 20, 210},
};

constexpr CostRow kTable4[] = {
    {0, 96, 1.0}, {16, 80, 0.90}, {32, 64, 0.79}, {48, 48, 0.69}, {64, 32, 0.59},
};

// `line` with the variant's half of each "{LARGE|SMALL}".
std::string of_variant(std::string_view line, Variant variant) {
  std::string text;
  while (!line.empty()) {
    const auto [before, behind] = split_once(line, '{');
    const auto [both, rest] = split_once(behind, '}');
    const auto [large, small] = split_once(both, '|');
    text += before;
    text += variant == Variant::kLarge ? large : small;
    line = rest;
  }
  return text;
}

StatusOr<std::string> built_in_options(std::string_view name, Variant variant) {
  std::string_view section = wtperf_workloads_text();
  const std::string head = fmt::format("\n[{}]\n", name);
  const size_t at = section.find(head);
  if (at == std::string_view::npos) return internal_error(fmt::format("{} is not built in", name));
  section.remove_prefix(at + head.size());
  section = section.substr(0, section.find("\n["));
  std::string options;
  while (!section.empty()) {
    const auto [line, rest] = split_once(section, '\n');
    if (!line.empty() && line.front() != '#') options += of_variant(line, variant) + "\n";
    section = rest;
  }
  return options + "report_interval=1\nsample_interval=1\n";
}

}  // namespace

std::string_view variant_name(Variant variant) {
  return variant == Variant::kSmall ? "small" : "large";
}

std::vector<std::string> Workload::reported_ops() const {
  std::vector<std::string> types;
  for (std::string_view left = ops; !left.empty();) {
    const auto [type, rest] = split_once(left, ',');
    types.emplace_back(type);
    left = rest;
  }
  return types;
}

std::span<const Workload> workloads() { return kWorkloads; }
std::span<const Table1Row> table1() { return kTable1; }
std::span<const YcsbRow> table3() { return kTable3; }
std::span<const CostRow> table4() { return kTable4; }

double relative_cost(double nvram_gb, double dram_gb) {
  return (dram_gb + kNvramCostRatio * nvram_gb) / (dram_gb + nvram_gb);
}

StatusOr<const Workload*> find_workload(std::string_view name) {
  const auto* const found = std::ranges::find(kWorkloads, name, &Workload::name);
  if (found != std::end(kWorkloads)) return found;
  return invalid_argument("--workloads: no workload {}; allowed are {}, and ycsb-a to ycsb-e", name,
                          fmt::join(kWorkloads | std::views::transform(&Workload::name), ", "));
}

StatusOr<std::string> wtperf_options(const Workload& workload, Variant variant,
                                     const std::string& folder) {
  if (folder.empty()) return built_in_options(workload.name, variant);
  const std::string name = fmt::format("{}.{}.wtperf", workload.name, variant_name(variant));
  auto options = read_file(folder + "/" + name);
  if (options) return *std::move(options);
  return invalid_argument("--workload-dir {}: {} cannot be read", folder, name);
}

}  // namespace nvcache::writes_hurt
