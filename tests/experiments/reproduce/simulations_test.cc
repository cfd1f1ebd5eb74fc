// The simulations of `nvcache bench reproduce`: what is planned, that they repeat themselves, and
// what becomes of their numbers.
#include "experiments/reproduce/simulations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "experiments/reproduce/origin.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/reproduce_run.h"
#include "support/reproduce_documents.h"

namespace nvcache::reproduce {
namespace {

using testing::HasSubstr;

std::string name_of(const Scenario& scenario) {
  return fmt::format("{} {} {}+{} {}", scenario.workload, scenario.configuration, scenario.nvram_gb,
                     scenario.dram_gb, scenario.data_gb);
}

TEST(Simulations, ThePlanHasEachScenarioOnce) {
  std::set<std::string> names;
  for (const Scenario& scenario : planned_simulations("")) {
    EXPECT_TRUE(names.insert(name_of(scenario)).second) << name_of(scenario);
  }
  EXPECT_TRUE(names.contains("c memory-mode 252+32 0"));
  EXPECT_TRUE(names.contains("c none 0+96 0"));
  EXPECT_TRUE(names.contains("evict-btree eager 64+32 0"));
  EXPECT_TRUE(names.contains("evict-btree-scan no-eviction 64+32 0"));
  EXPECT_TRUE(names.contains("evict-btree-scan nvcache 252+32 0"));
  EXPECT_EQ(planned_simulations("writes-hurt").size(), names.size());
  EXPECT_LT(planned_simulations("memory-mode").size(), names.size());
  EXPECT_TRUE(planned_simulations("nvmcached").empty());
}

SimulationPlan two_scenarios() {
  return {.scenarios = {{.workload = "c", .configuration = "none"},
                        {.workload = "c", .configuration = "nvcache", .nvram_gb = 64}},
          .scale = 4096,
          .minutes = 10,
          .seed = 7,
          .command = "test"};
}

TEST(Simulations, RepeatThemselves) {
  const auto first = run_simulations(two_scenarios(), system_clock());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, run_simulations(two_scenarios(), system_clock()).value());
  Evidence evidence;
  evidence.add("simulations", *first);
  const Origin from(evidence, kSimulationsFormat);
  EXPECT_GT(from.value("c", {"dram-32", "none"}, "ops_per_second"), 0);
  EXPECT_GT(from.value("c", {"dram-32", "nvcache-64"}, "ops_per_second"), 0);
  EXPECT_EQ(from.value("b", {"dram-32", "none"}, "ops_per_second"), std::nullopt);
}

TEST(Simulations, AnUnknownWorkloadIsRefused) {
  SimulationPlan plan = two_scenarios();
  plan.scenarios[0].workload = "f";
  EXPECT_TRUE(is_invalid_argument(run_simulations(plan, system_clock()).status()));
}

// ---- What becomes of their numbers ----

json simulation(const char* workload, const char* variant, const char* configuration, double ops,
                double hits) {
  return {{"workload", workload},
          {"variant", variant},
          {"configuration", configuration},
          {"round", 1},
          {"metrics",
           {{"ops_per_second", ops},
            {"reads_per_second", ops * 0.9},
            {"tier_hit_ratio", hits},
            {"tier_written_bytes", ops},
            {"interval_variation", 0.1}}}};
}

json simulations_document() {
  return document_of(
      kSimulationsFormat,
      {simulation("c", "dram-32", "none", 100, 0), simulation("c", "split-96", "none", 150, 0),
       simulation("c", "dram-32", "nvcache-64", 180, 0.5),
       simulation("c", "dram-32", "memory-mode-64", 60, 0),
       simulation("a", "dram-32", "none", 100, 0),
       simulation("a", "dram-32", "nvcache-64", 99, 0.1),
       simulation("a", "dram-32", "memory-mode-64", 83, 0),
       simulation("evict-btree", "large", "eager", 60000, 0.48),
       simulation("evict-btree", "large", "no-eviction", 150000, 0.44),
       simulation("evict-btree-scan", "large", "eager", 100000, 0.45),
       simulation("evict-btree-scan", "large", "no-eviction", 150000, 0.36),
       simulation("evict-btree-scan", "large", "none", 100, 0),
       simulation("evict-btree-scan", "large", "nvcache", 310, 0.97),
       simulation("evict-bt-stress-multi", "small", "none", 100, 0),
       simulation("evict-bt-stress-multi", "small", "alloc-read-write", 15, 0)});
}

json simulated_results() {
  Evidence evidence = all_evidence();
  evidence.add("simulations", simulations_document());
  Options options;
  options.command = "test";
  return compare(papers::paper_results(), all_rows(), evidence, options).value();
}

json entry_of(const json& document, const std::string& id) {
  for (const json& result : document.at("results")) {
    if (result.at("id") == id) return result;
  }
  ADD_FAILURE() << "no " << id;
  return json();
}
double first_number(const json& entry) {
  return entry.at("findings").at(0).at("parts").at(0).at(0).get<double>();
}

TEST(Simulations, DecideAndScaledRunsStandBesideThem) {
  const json document = simulated_results();
  const json gain = entry_of(document, "ycsb-c-vs-mm");
  EXPECT_NEAR(first_number(gain), 200, 1e-9);
  EXPECT_EQ(gain["verdict"], "within 25%");
  EXPECT_EQ(entry_of(document, "ycsb-a-mm-64")["verdict"], "within 25%");
  EXPECT_EQ(entry_of(document, "ycsb-a-mm-252")["verdict"], "not measured");
  EXPECT_NEAR(first_number(entry_of(document, "ycsb-c-64-32")), 1.2, 1e-9);
  const json table1 = entry_of(document, "t1-eb-none-ops");
  EXPECT_EQ(table1["verdict"], "within 25%");
  ASSERT_EQ(table1["findings"].size(), 2u);
  EXPECT_EQ(table1["findings"][0]["source"], "simulated");
  EXPECT_EQ(table1["findings"][1]["source"], "real");
  EXPECT_NEAR(first_number(entry_of(document, "worst-overhead")), 85, 1e-9);
  EXPECT_NEAR(first_number(entry_of(document, "t1-ebs-none-ops")), 0.9 * 150000, 1e-6)
      << "its reads, not what it does beside";
  EXPECT_EQ(entry_of(document, "t1-ebs-eager-ops")["verdict"], "within 25%");
  EXPECT_NEAR(first_number(entry_of(document, "speedup-scan")), 3.1, 1e-9);
}

TEST(Simulations, ThePageShowsHowMuchMemoryModeVaries) {
  const std::string page = markdown_page(simulated_results());
  EXPECT_THAT(page, HasSubstr("| YCSB c | 64 | 10.0 | 10.0 |"));
  EXPECT_THAT(page, HasSubstr("SIMULATED"));
}

}  // namespace
}  // namespace nvcache::reproduce
