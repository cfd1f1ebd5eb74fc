#include "experiments/writes_hurt/workloads.h"

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/wtperf_files.h"

namespace nvcache::writes_hurt {
namespace {

// {size, DRAM cache, hit %, removed %, written, admitted}: Table 2. The columns after
// it: what sections 3.2.3 says about Figures 4 and 6, whose bars have no numbers.
constexpr Workload kWorkloads[] = {
    {"500m-btree-50r50u",
     "50% read, 50% update",
     "read,update",
     true,
     false,
     {163, 28, 6, 98, 2190, 191},
     "",
     "no gain"},
    {"chkpt-stress",
     "100% update",
     "update",
     true,
     false,
     {134, 28, 2, 94, 780, 36},
     "",
     "no gain"},
    {"evict-bt-stress-multi",
     "80% read, 20% update",
     "read,update",
     false,
     false,
     {250, 1, 20, 94, 1740, 424},
     "91 (worst)",
     "1.12"},
    {"evict-btree", "100% read", "read", false, false, {120, 28, 97, 0, 120, 115}, "", ""},
    {"evict-btree-scan",
     "95% read, 4% insert, 1% update",
     "read",
     false,
     true,
     {250, 28, 97, 47, 400, 300},
     "",
     "over 3"},
    {"medium-btree", "100% read", "read", false, false, {120, 28, 97, 0, 120, 115}, "", ""},
    {"overflow-130k",
     "50% read, 50% update",
     "read,update",
     false,
     false,
     {253, 21, 6, 95, 2000, 127},
     "",
     "no gain"},
    {"update-chkpt-btree",
     "90% insert, 5% read, 5% update",
     "insert,read,update",
     false,
     false,
     {185, 25, 6, 95, 1720, 137},
     "",
     "no gain"},
    {"update-delta-mix1",
     "100% update",
     "update",
     false,
     false,
     {125, 20, 2, 98, 2000, 93},
     "",
     "no gain"},
    {"update-grow-stress",
     "96% update, 4% insert",
     "update",
     false,
     false,
     {190, 20, 2, 97, 2100, 98},
     "",
     "no gain"},
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

}  // namespace

std::string_view variant_name(Variant variant) {
  return variant == Variant::kSmall ? "small" : "large";
}

std::span<const Workload> workloads() { return kWorkloads; }
std::span<const Table1Row> table1() { return kTable1; }
std::span<const YcsbRow> table3() { return kTable3; }
std::span<const CostRow> table4() { return kTable4; }

double relative_cost(double nvram_gb, double dram_gb) {
  return (dram_gb + kNvramCostRatio * nvram_gb) / (dram_gb + nvram_gb);
}

StatusOr<const Workload*> find_workload(std::string_view name) {
  std::string names;
  for (const Workload& workload : kWorkloads) {
    if (workload.name == name) return &workload;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", workload.name);
  }
  return invalid_argument("--workloads: no workload {}; allowed are {}, and ycsb-a to ycsb-e", name,
                          names);
}

StatusOr<std::string> workload_file(const Workload& workload, Variant variant,
                                    const std::string& folder) {
  const std::string name = fmt::format("{}.{}.wtperf", workload.name, variant_name(variant));
  if (!folder.empty()) {
    std::ifstream file(folder + "/" + name);
    if (!file) return invalid_argument("--workload-dir {}: {} cannot be read", folder, name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  for (const auto& [built_in, text] : wtperf_files()) {
    if (built_in == name) return std::string(text);
  }
  return internal_error(fmt::format("{} is not built in", name));
}

}  // namespace nvcache::writes_hurt
