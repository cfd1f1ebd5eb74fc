// The columns of a study's tables: what a row of them shows. Each engine has its own, which are
// made of the cells here and of those in its row's file. Constants and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/simulate/study.h"
#include "fmt/format.h"

namespace nvcache::simulate {

// The runs of one row: of one workload, configuration and NVRAM, by seed.
using Seeds = std::vector<const Run*>;

struct TableRow {
  const Run* run = nullptr;  // the first of them
  Seeds seeds;
  double base = 0;  // operations a second of the engine's base configuration; 0: not simulated
};

struct Column {
  std::string_view title;      // in a page
  std::string_view short_one;  // in a terminal, where there are 100 columns
  int width = 0;               // there; 0: left out
  std::string (*cell)(const TableRow& row) = nullptr;
};

double median(std::vector<double> values);
// Of value(result) of each seed.
template <typename Value>
double median(const Seeds& seeds, Value value) {
  std::vector<double> values;
  for (const Run* run : seeds) values.push_back(static_cast<double>(value(run->result)));
  return median(std::move(values));
}
double median_ops(const Seeds& seeds);
// Standard deviation of the seeds' throughput over its mean; 0 for one seed.
double deviation_by_seed(const Seeds& seeds);
std::string percent(double share);

// Cells that engines share.
namespace cells {

std::string nvram(const TableRow& row);
std::string configuration(const TableRow& row);
std::string ops(const TableRow& row);
std::string over_base(const TableRow& row);
std::string page_hits(const TableRow& row);
std::string tier_hits(const TableRow& row);  // of Memory Mode, hits of lines
std::string over_time(const TableRow& row);
std::string by_seed(const TableRow& row);

template <auto kBytes>
std::string gb_s(const TableRow& row) {
  const double bytes = median(row.seeds, [](const Result& r) { return r.*kBytes; });
  return fmt::format("{:.3f}", bytes * 1e-9 / row.run->result.seconds);
}
template <auto kQuantile>
double latency_ns(const TableRow& row) {
  return median(row.seeds, [](const Result& r) { return r.latency.*kQuantile; });
}
template <auto kQuantile>
std::string microseconds(const TableRow& row) {
  return fmt::format("{:.0f}", latency_ns<kQuantile>(row) * 1e-3);
}

}  // namespace cells
}  // namespace nvcache::simulate
