// The simulations of RocksDB that rows of *Hybrid Cache* come from: they repeat themselves, have
// what the rows need, and decide.
#include "experiments/reproduce/hybrid_simulations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/reproduce/reproduce_run.h"
#include "support/reproduce_documents.h"

namespace nvcache::reproduce {
namespace {

using testing::HasSubstr;

HybridSimulationPlan small_simulations(bool memory_mode_only) {
  return {.memory_mode_only = memory_mode_only,
          .scale = 4096,
          .minutes = 2,
          .seed = 3,
          .command = "test"};
}

json results_of(const Evidence& evidence) {
  Options options;
  options.command = "test";
  return compare(papers::paper_results(), all_rows(), evidence, options).value();
}

json entry_with(const json& document, const std::string& id) {
  for (const json& result : document.at("results")) {
    if (result.at("id") == id) return result;
  }
  ADD_FAILURE() << "no " << id;
  return json();
}

TEST(HybridSimulations, RepeatThemselvesAndHaveWhatTheRowsNeed) {
  const auto first = run_hybrid_simulations(small_simulations(false), system_clock());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, run_hybrid_simulations(small_simulations(false), system_clock()).value());
  Evidence evidence;
  evidence.add("simulations", *first);
  const json document = results_of(evidence);
  for (const char* id :
       {"hybrid-vs-mm-tput-low", "hybrid-vs-mm-lat-high", "scm-only-vs-dram-low", "hybrid-vs-naive",
        "tput-low", "tput-high", "p95", "p99", "scm-only-128", "scm-only-256", "scm-only-p50-low",
        "hit-gain", "io-less", "read-lat", "tco-32-256", "perf-2p-32-256"}) {
    const json entry = entry_with(document, id);
    EXPECT_NE(entry["verdict"], "not measured") << id;
    ASSERT_FALSE(entry["findings"].empty()) << id;
    EXPECT_EQ(entry["findings"][0]["source"], "simulated") << id;
    EXPECT_THAT(entry["findings"][0]["how"].get<std::string>(),
                HasSubstr("SIMULATED, the paper's sizes at 1/4096, 48 clients"));
  }
}

TEST(HybridSimulations, MemoryModeAloneRunsOnlyWhatItNeeds) {
  const auto document = run_hybrid_simulations(small_simulations(true), system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)["runs"].size(), 6u);
}

TEST(HybridSimulations, DecideAndOthersStandBesideThem) {
  json simulation = document_of(kHybridSimulationFormat,
                                {hybrid_run("whatsapp", "64-0", "dram_only", 100, 200, 0.6),
                                 hybrid_run("whatsapp", "32-256", "dram_first", 165, 150, 0.9),
                                 hybrid_run("whatsapp", "32-256", "scm_only", 125, 300, 0.9)});
  simulation["setup"]["clients"] = 48;
  Evidence evidence = all_evidence();
  evidence.add("simulation", simulation);
  const json document = results_of(evidence);
  const json p95 = entry_with(document, "p95");
  ASSERT_EQ(p95["findings"].size(), 2u);
  EXPECT_EQ(p95["findings"][0]["source"], "simulated");
  EXPECT_EQ(p95["findings"][1]["source"], "real");
  EXPECT_NEAR(p95["findings"][0]["parts"][0][0].get<double>(), 25, 1e-9);
  // The real runs' load is fitted to it, the simulation's is not.
  const json scm_only = entry_with(document, "scm-only-256");
  EXPECT_EQ(scm_only["basis"], "result");
  EXPECT_EQ(scm_only["verdict"], "within 25%");
  EXPECT_EQ(scm_only["findings"].back()["verdict"], "input");
}

}  // namespace
}  // namespace nvcache::reproduce
