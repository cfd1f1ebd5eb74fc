// What the tests of `nvcache bench ycsb` on a real engine share: a run that takes a
// second, and what its document must say.
#pragma once

#include <string>

#include "apps/report/html.h"
#include "apps/report/table.h"
#include "experiments/ycsb/ycsb_command.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nvcache {

// Configurations "none" and "tier", the second with `tier_spec`; a database in `folder`.
inline BenchOptions small_bench(const std::string& folder, const std::string& tier_spec) {
  BenchOptions options;
  options.db = folder + "/db";
  options.threads = 2;
  options.seconds = 0.4;
  options.rounds = 1;
  options.configurations = {{"none", ""}, {"tier", tier_spec}};
  options.command = "test";
  return options;
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
