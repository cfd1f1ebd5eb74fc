// A YCSB core workload on one database of records.
#pragma once

#include <optional>

#include "experiments/run/load.h"
#include "experiments/workload/ycsb.h"

namespace nvcache {

struct YcsbLoadOptions {
  YcsbWorkload workload;
  std::optional<YcsbWorkload> warmup;        // before what is measured; empty: the workload
  std::optional<Distribution> distribution;  // of both; empty: their own
  uint64_t records = 0;
  uint64_t seed = 0;              // of the records
  std::string database = "ycsb";  // its folder
};

std::unique_ptr<Load> make_ycsb_load(const YcsbLoadOptions& options);

}  // namespace nvcache
