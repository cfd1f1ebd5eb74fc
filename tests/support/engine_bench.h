// Shared by the tests of `nvcache bench ycsb` on a real engine: a run that takes a second, and the
// check of its document.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/report/html.h"
#include "apps/report/table.h"
#include "experiments/run/bench.h"
#include "experiments/run/ycsb_load.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nvcache {

// Configurations "none" and "tier", the second with `tier_spec`; a database in `folder`.
inline EngineBenchOptions small_bench(const std::string& folder, const std::string& tier_spec) {
  EngineBenchOptions options;
  options.db = folder + "/db";
  options.threads = 2;
  options.seconds = 0.4;
  options.rounds = 1;
  options.configurations = {{"none", ""}, {"tier", tier_spec}};
  options.command = "test";
  return options;
}

// The core workloads of these letters on one database.
inline std::vector<std::shared_ptr<const Load>> ycsb_loads(std::string_view letters,
                                                           uint64_t records) {
  std::vector<std::shared_ptr<const Load>> loads;
  for (size_t i = 0; i < letters.size(); ++i) {
    YcsbLoadOptions options;
    options.workload = ycsb_workload(letters.substr(i, 1)).value();
    options.records = records;
    options.seed = 1;
    loads.push_back(make_ycsb_load(options));
  }
  return loads;
}

// Checks that every run verified its values, that "tier" saved reads of blocks, and that a
// report and tables can be made of it.
inline void expect_tier_saves_reads(const nlohmann::json& document, size_t runs) {
  ASSERT_EQ(document["runs"].size(), runs);
  for (const auto& run : document["runs"]) {
    EXPECT_GT(run["values_verified"].get<uint64_t>(), 0u);
    // A tier that holds the whole database may leave none to read.
    if (run["configuration"] == "none") {
      EXPECT_GT(run["metrics"]["block_reads_per_op"].get<double>(), 0);
    }
  }
  for (const auto& entry : document["summary"]) {
    if (entry["configuration"] != "tier") continue;
    EXPECT_LT(entry["ratio_to_first"]["block_reads_per_op"]["median"].get<double>(), 0.9) << entry;
    EXPECT_GT(entry["metrics"]["tier_hit_ratio"]["median"].get<double>(), 0.1) << entry;
    EXPECT_EQ(entry["metrics"]["tier_damaged_blocks"]["median"].get<double>(), 0);
  }
  EXPECT_TRUE(check_report_document(document).ok());
  EXPECT_TRUE(report_html({document}).ok());
  EXPECT_TRUE(ycsb_tables(document).ok());
}

}  // namespace nvcache
