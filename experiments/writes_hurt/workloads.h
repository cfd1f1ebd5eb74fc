// The workloads of *Writes Hurt*: the ten in-house ones as files for wtperf, YCSB A to E, and
// what *Writes Hurt* measured, each number with its place there. Constants.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

enum class Variant { kSmall, kLarge };
std::string_view variant_name(Variant variant);  // "small", "large"

// A row of Table 2; percentages and GB as printed there.
struct Table2Row {
  double size_gb = 0;
  double dram_cache_gb = 0;
  double hit_percent = 0;
  double removed_percent = 0;  // removed / inserted
  double written_gb = 0;       // to the SSD, loading included
  double admitted_gb = 0;
};

struct Workload {
  std::string_view name;
  std::string_view mix;         // as in Table 2
  std::string_view ops;         // types that are reported, in order: "read,update"
  bool compressed = false;      // needs WiredTiger's snappy extension
  bool load_each_time = false;  // wtperf cannot go on with a loaded database
  Table2Row paper;
  std::string_view paper_figure4;  // what the text says of it, "" if nothing
  std::string_view paper_figure6;
};

std::span<const Workload> workloads();
// INVALID_ARGUMENT names those that there are.
[[nodiscard]] StatusOr<const Workload*> find_workload(std::string_view name);

// The text of NAME.VARIANT.wtperf: from `folder`, or, if that is empty, as built in.
[[nodiscard]] StatusOr<std::string> workload_file(const Workload& workload, Variant variant,
                                                  const std::string& folder);

// A row of Table 1.
struct Table1Row {
  std::string_view workload;
  double eager_ops, eager_hit_percent, none_ops, none_hit_percent;
};
std::span<const Table1Row> table1();

// A row of Table 3. YCSB-B is printed there as 50/50, which is A's mix: YCSB's own
// definition, 95/5, is used.
struct YcsbRow {
  char letter;
  std::string_view printed_mix;
  uint32_t threads;
  double dataset_gb;
};
std::span<const YcsbRow> table3();

// A row of Table 4.
struct CostRow {
  double nvram_gb, dram_gb, printed_cost;
};
std::span<const CostRow> table4();
// Of all memory, relative to DRAM alone of the same size.
double relative_cost(double nvram_gb, double dram_gb);

}  // namespace nvcache::writes_hurt
