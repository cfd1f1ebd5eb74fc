// YCSB for Figures 7 and 8, in process through run_bench(). A run is what "runs" of a
// "ycsb" document are (experiments/ycsb/result.h) without the series, and "figure", "dram_gb",
// "nvram_gb" (of *Writes Hurt*).
#pragma once

#include "base/clock.h"
#include "experiments/writes_hurt/work_folder.h"
#include "experiments/writes_hurt/writes_hurt_options.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

struct YcsbRuns {
  nlohmann::json runs = nlohmann::json::array();
  nlohmann::json engine;                               // as the engine describes itself
  nlohmann::json databases = nlohmann::json::array();  // {"workload", "bytes", "records"}
};

[[nodiscard]] StatusOr<YcsbRuns> run_ycsb(const Options& options, WorkFolder& folder,
                                          const Clock& clock);

// Records of the workload's database, scaled down.
uint64_t ycsb_records(double dataset_gb);

}  // namespace nvcache::writes_hurt
