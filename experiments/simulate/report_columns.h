// The columns of a study's tables: what a row of them shows. Each engine has its own. Constants and
// pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/study.h"

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

std::span<const Column> columns_of(std::string_view engine);

double median_ops(const Seeds& seeds);
// Standard deviation of the seeds' throughput over its mean; 0 for one seed.
double deviation_by_seed(const Seeds& seeds);
std::string percent(double share);

}  // namespace nvcache::simulate
