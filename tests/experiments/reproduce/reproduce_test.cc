// Results become verdicts, a reversed result is not passed, and the page has every number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "apps/report/figure_tables.h"
#include "apps/report/html.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/reproduce_run.h"
#include "support/reproduce_documents.h"

namespace nvcache::reproduce {
namespace {

using testing::HasSubstr;

std::vector<PaperResult> table() { return papers::paper_results(); }

json compared(const Evidence& evidence, const std::string& only = "") {
  Options options;
  options.only = only;
  options.command = "test";
  const auto document = compare(table(), all_rows(), evidence, options);
  EXPECT_TRUE(document.ok()) << document.status();
  return document.ok() ? *document : json();
}

json result_of(const json& document, const std::string& id) {
  for (const json& result : document.at("results")) {
    if (result.at("id") == id) return result;
  }
  ADD_FAILURE() << "no " << id;
  return json();
}
std::string verdict_of(const json& document, const std::string& id) {
  return result_of(document, id).value("verdict", "");
}
double ours_of(const json& document, const std::string& id) {
  return result_of(document, id).at("findings").at(0).at("parts").at(0).at(0).get<double>();
}

// ---- Verdicts ----

TEST(Reproduce, WithoutResultsNothingIsCountedAsRight) {
  const json document = compared(Evidence());
  EXPECT_EQ(document["results"].size(), 95u);
  std::map<std::string, int> verdicts;
  for (const json& result : document["results"]) {
    ++verdicts[result["verdict"]];
    EXPECT_FALSE(result["reason"].get<std::string>().empty() && result["verdict"] != "within 25%");
    // A number that needs a run has none.
    for (const json& finding : result["findings"]) {
      EXPECT_NE(finding["source"], "real") << result["id"];
    }
  }
  EXPECT_EQ(verdicts["input"], document["summary"]["inputs"]);
  EXPECT_EQ(verdicts["not measured"], document["summary"]["not_measured"]);
  EXPECT_EQ(document["summary"]["taken"].get<int>() + document["summary"]["fitted"].get<int>(),
            verdicts["input"]);
  EXPECT_EQ(verdict_of(document, "ycsb-c-vs-mm"), "not measured");
  EXPECT_EQ(verdict_of(document, "medium-read-1w"), "input");
  EXPECT_EQ(verdict_of(document, "bandwidth-scm"), "direction");  // built from the other paper's
  EXPECT_EQ(verdict_of(document, "cost-48"), "within 25%");
  EXPECT_EQ(verdict_of(document, "tput-low"), "not measured");
}

TEST(Reproduce, ResultsOfWritesHurt) {
  const json document = compared(all_evidence());
  EXPECT_EQ(verdict_of(document, "t1-eb-eager-ops"), "direction");
  EXPECT_EQ(verdict_of(document, "t1-eb-none-ops"), "direction");
  EXPECT_EQ(verdict_of(document, "t1-mb-none-ops"), "not measured");
  EXPECT_NEAR(ours_of(document, "speedup-scan"), 3.4, 1e-9);
  EXPECT_EQ(verdict_of(document, "speedup-scan"), "within 25%");
  EXPECT_NEAR(ours_of(document, "speedup-80r20u"), 13, 1e-9);
  EXPECT_NEAR(ours_of(document, "worst-overhead"), 40, 1e-9);
  EXPECT_EQ(verdict_of(document, "worst-overhead"), "direction");
  EXPECT_NEAR(ours_of(document, "ycsb-a-nvcache"), 2, 1e-9);
  EXPECT_EQ(verdict_of(document, "ycsb-a-nvcache"), "within 25%");
  EXPECT_EQ(verdict_of(document, "opencas-gain"), "not");
  EXPECT_NEAR(ours_of(document, "opencas-writes"), 90, 1e-9);
  EXPECT_NEAR(ours_of(document, "hit-64-128"), 20, 1e-9);
  EXPECT_NEAR(ours_of(document, "hit-128-252"), 6, 1e-9);
  EXPECT_NEAR(ours_of(document, "ycsb-c-64-32"), 1.3, 1e-9);
  EXPECT_THAT(result_of(document, "speedup-scan")["findings"][0]["how"].get<std::string>(),
              HasSubstr("EMULATED emulated:optane, sizes / 256"));
}

TEST(Reproduce, ResultsOfHybridCache) {
  const json document = compared(all_evidence());
  EXPECT_NEAR(ours_of(document, "tput-low"), 55, 1e-9);
  EXPECT_NEAR(ours_of(document, "tput-high"), 75, 1e-9);
  EXPECT_NEAR(ours_of(document, "p95"), 15, 1e-9);
  EXPECT_NEAR(ours_of(document, "hit-gain"), 27, 1e-9);
  EXPECT_NEAR(ours_of(document, "hybrid-vs-naive"), 100 * (175.0 / 130 - 1), 1e-9);
  EXPECT_EQ(verdict_of(document, "perf-2p-32-256"), "within 25%");
  EXPECT_EQ(verdict_of(document, "tco-32-256"), "within 25%");
  // Fitted: never counted as a result, however near it is.
  EXPECT_EQ(verdict_of(document, "perf-2p-64-0"), "input");
  EXPECT_EQ(verdict_of(document, "scm-only-256"), "input");
  EXPECT_EQ(result_of(document, "scm-only-256")["basis"], "fitted");
  EXPECT_EQ(verdict_of(document, "cost-1p-32-256"), "input");
  EXPECT_EQ(verdict_of(document, "cost-1p-64-128"), "within 25%");
  EXPECT_EQ(verdict_of(document, "power-scm"), "input");
  EXPECT_EQ(result_of(document, "power-scm")["basis"], "taken");
}

TEST(Reproduce, ASimulationStandsBesideRocksDbAndAloneWhereThatHasNothing) {
  Evidence evidence = all_evidence();
  evidence.add("simulations", hybrid_simulation_document());
  const json document = compared(evidence);
  EXPECT_NEAR(ours_of(document, "hybrid-vs-mm-tput-low"), 25, 1e-9);
  EXPECT_NEAR(ours_of(document, "hybrid-vs-mm-tput-high"), 60, 1e-9);
  EXPECT_NEAR(ours_of(document, "hybrid-vs-mm-lat-low"), 25, 1e-9);
  EXPECT_NEAR(ours_of(document, "hybrid-vs-mm-lat-high"), 40, 1e-9);
  EXPECT_NEAR(ours_of(document, "scm-only-vs-dram-low"), 20, 1e-9);
  const json both = result_of(document, "tput-low");
  ASSERT_EQ(both["findings"].size(), 2u);
  EXPECT_EQ(both["findings"][0]["source"], "simulated");
  EXPECT_EQ(both["findings"][1]["source"], "real");
  EXPECT_EQ(both["verdict"], both["findings"][0]["verdict"]);
}

TEST(Reproduce, ResultsOfNvmcached) {
  const json document = compared(all_evidence());
  EXPECT_NEAR(ours_of(document, "kv-real"), 2.9, 1e-9);
  EXPECT_EQ(verdict_of(document, "kv-real"), "within 25%");
  EXPECT_EQ(verdict_of(document, "kv-real-sys"), "not");
  EXPECT_NEAR(ours_of(document, "kv-synthetic"), 4, 1e-9);
  EXPECT_NEAR(ours_of(document, "kv-loss"), 0.11, 1e-9);
  EXPECT_EQ(verdict_of(document, "kv-mix-var"), "input");
}

// The negative control: the same results with the two sides of Table 1, and of a speedup, reversed.
TEST(Reproduce, AReversedResultIsNot) {
  Evidence evidence;
  json reversed = writes_hurt_document(150, 60);
  for (json& run : reversed["runs"]) {
    if (run["workload"] != "evict-btree-scan") continue;
    run["configuration"] = run["configuration"] == "none" ? "nvcache" : "none";
  }
  evidence.add("reversed.json", std::move(reversed));
  const json document = compared(evidence);
  EXPECT_EQ(verdict_of(document, "t1-eb-eager-ops"), "not");
  EXPECT_EQ(verdict_of(document, "t1-eb-none-ops"), "not");
  EXPECT_EQ(verdict_of(document, "speedup-scan"), "not");
}

TEST(Reproduce, RunsThatFailedAreLeftOut) {
  json document = writes_hurt_document(60, 150);
  for (json& run : document["runs"]) {
    if (run["workload"] == "evict-btree-scan") run["error"] = "no space";
  }
  Evidence evidence;
  evidence.add("failed.json", std::move(document));
  EXPECT_EQ(verdict_of(compared(evidence), "speedup-scan"), "not measured");
}

TEST(Reproduce, OnePaperAlone) {
  EXPECT_EQ(compared(Evidence(), "nvmcached")["results"].size(), 15u);
  EXPECT_EQ(compared(Evidence(), "writes-hurt")["results"].size(), 34u);
  const json document = compared(Evidence(), "memory-mode");
  EXPECT_EQ(document["results"].size(), 8u);
  for (const json& result : document["results"]) EXPECT_TRUE(result["memory_mode"]) << result;
}

TEST(Reproduce, AMissingRowOrOneTooManyIsAnError) {
  std::vector<Row> rows = all_rows();
  rows.pop_back();
  EXPECT_TRUE(is_internal(compare(table(), rows, Evidence(), {}).status()));
  rows = all_rows();
  rows.push_back({.id = "unheard-of"});
  EXPECT_TRUE(is_internal(compare(table(), rows, Evidence(), {}).status()));
  rows = all_rows();
  rows.push_back(rows.front());
  EXPECT_TRUE(is_internal(compare(table(), rows, Evidence(), {}).status()));
}

// ---- The page ----

TEST(ReproducePage, HasEveryNumberAndTheSummary) {
  const json document = compared(all_evidence());
  const std::string page = markdown_page(document);
  for (const PaperResult& result : table()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| {} |", result.id)));
  }
  EXPECT_THAT(page, HasSubstr("of 95 direction right"));
  EXPECT_THAT(summary_line(document), HasSubstr("of 95 direction right"));
  EXPECT_THAT(page, HasSubstr("nvcache bench something"));
  EXPECT_THAT(page, HasSubstr("not measured"));
}

TEST(ReproducePage, ReportsTakeTheDocument) {
  const json document = compared(all_evidence());
  const auto text = figures::figure_tables(document);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("speedup-scan"));
  EXPECT_TRUE(report_html({document}).ok());
}

}  // namespace
}  // namespace nvcache::reproduce
