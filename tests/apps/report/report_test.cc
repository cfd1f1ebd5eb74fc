// Reports: the summary of runs, the tables, and the HTML page.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "apps/report/html.h"
#include "apps/report/table.h"
#include "experiments/run/result.h"
#include "experiments/run/ycsb_load.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

// A measured part of one second with `ops` reads and, with a tier, half of them hits.
RunResult result_of(uint64_t ops, bool tier) {
  RunResult result;
  result.latency_ns.resize(kOpTypeCount);
  result.seconds = 1;
  result.warmup_seconds = 0.75;
  result.block_reads = tier ? ops / 4 : ops / 2;
  for (uint64_t i = 0; i < ops; ++i) result.latency_ns[0].record(1000 * (i % 100 + 1));
  result.ops = ops;
  result.cpu_seconds = 0.5;
  result.series = {{0.5, 900, -1}, {1.0, 1000, tier ? 0.5 : -1}, {1.5, 1100, tier ? 0.5 : -1}};
  if (!tier) return result;
  Stats before;
  before.hits = 1'000'000;  // of the warm-up: must not show
  before.inserts = 500'000;
  before.medium_written_bytes = 1 << 30;
  before.medium = "emulated:optane";
  before.admission = "obp(0.1,lifetime)";
  before.eviction = "lfru";
  Stats after = before;
  after.hits += ops / 2 + 70;
  after.background_hits = 70;
  after.misses += ops / 2 + 900;
  after.background_misses = 900;
  after.inserts += 30;
  after.removals += 10;
  after.medium_written_bytes += 30 * 4096;
  after.refused[static_cast<size_t>(Reason::kOverhead)] = 123'456;
  after.refused[static_cast<size_t>(Reason::kNoSpace)] = 7;
  result.before.tier = before;
  result.after.tier = after;
  return result;
}

json report_document(int rounds = 3) {
  YcsbLoadOptions ycsb;
  ycsb.workload = ycsb_workload("c").value();
  const auto load = make_ycsb_load(ycsb);
  json runs = json::array();
  for (int round = 1; round <= rounds; ++round) {
    const auto ops = static_cast<uint64_t>(1000 * round);
    runs.push_back(run_to_json(*load, "none", static_cast<uint32_t>(round), result_of(ops, false)));
    runs.push_back(
        run_to_json(*load, "paper", static_cast<uint32_t>(round), result_of(2 * ops, true)));
  }
  return {{"kind", "ycsb"},
          {"schema", 1},
          {"command", "nvcache bench ycsb --cache 'a=</script><b>'"},
          {"engine", {{"name", "rocksdb"}, {"version", "7.8.3"}}},
          {"machine", {{"cpu", "a processor"}, {"cores", 2}}},
          {"setup",
           {{"records", 1000000},
            {"record_bytes", 1000},
            {"threads", 2},
            {"seconds", 8.0},
            {"warmup_seconds", 8.0},
            {"rounds", rounds},
            {"dram_cache_bytes", 64 << 20},
            {"database_bytes", 1 << 30}}},
          {"workloads", {load->describe()}},
          {"configurations",
           {{{"name", "none"}, {"spec", "none"}},
            {{"name", "paper"},
             {"spec", "nvcache://?size=1GiB&medium=emulated:optane"},
             {"medium", "emulated:optane"},
             {"admission", "obp(0.1,lifetime)"},
             {"eviction", "lfru"},
             {"emulated", true}}}},
          {"runs", runs},
          {"summary", summarize(runs)}};
}

json sample_calibration() {
  return {{"kind", "calibration"},
          {"medium", "emulated:optane"},
          {"emulated", true},
          {"readers", 8},
          {"block_bytes", 16384},
          {"suggested_obp_target", 0.1},
          {"points", {{{"writers", 0}, {"read_gb_s", 12.0}, {"write_gb_s", 0.0}}}}};
}

TEST(RunToJson, TierFiguresAreDifferencesOverTheMeasuredPart) {
  const json run = report_document(1)["runs"][1];
  const json& metrics = run["metrics"];
  EXPECT_EQ(metrics["ops_per_second"], 2000);
  EXPECT_EQ(metrics["block_reads_per_op"], 0.25);
  EXPECT_EQ(metrics["tier_lookups"], 2000);  // compaction's are left out
  EXPECT_EQ(metrics["tier_hit_ratio"], 0.5);
  EXPECT_EQ(metrics["tier_inserts"], 30);
  EXPECT_EQ(metrics["tier_written_bytes"], 30 * 4096);
  EXPECT_EQ(metrics["tier_written_bytes_warmup"], 1 << 30);
  EXPECT_DOUBLE_EQ(metrics["tier_overhead_ratio"], 40.0 / 2000);
  EXPECT_DOUBLE_EQ(metrics["cpu_us_per_op"], 250);
  EXPECT_EQ(run["refused"], (json{{"overhead", 123456}, {"no_space", 7}}));
  EXPECT_EQ(run["operations"], (json{{"read", 2000}}));
  EXPECT_TRUE(run["series"]["tier_hit_ratio"][0].is_null());
  EXPECT_NEAR(metrics["p50_us"].get<double>(), 50, 1);
  EXPECT_NEAR(metrics["p99_us"].get<double>(), 99, 2);
}

TEST(RunToJson, WithoutATierThereAreNoTierFigures) {
  const json run = report_document(1)["runs"][0];
  EXPECT_FALSE(run["metrics"].contains("tier_hit_ratio"));
  EXPECT_FALSE(run.contains("medium"));
  EXPECT_TRUE(run["refused"].empty());
}

TEST(Summarize, MedianSpreadAndRatiosWithinARound) {
  const json summary = report_document(3)["summary"];
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[0]["configuration"], "none");
  const json& ops = summary[1]["metrics"]["ops_per_second"];
  EXPECT_EQ(ops, (json{{"median", 4000.0}, {"min", 2000.0}, {"max", 6000.0}}));
  // Every round was twice its own first configuration, though rounds differ threefold.
  const json& ratio = summary[1]["ratio_to_first"]["ops_per_second"];
  EXPECT_EQ(ratio, (json{{"median", 2.0}, {"min", 2.0}, {"max", 2.0}}));
  EXPECT_EQ(summary[1]["ratio_to_first"]["block_reads_per_op"]["median"], 0.5);
  EXPECT_FALSE(summary[1]["ratio_to_first"].contains("tier_hit_ratio"));
  EXPECT_EQ(summary[1]["rounds"], 3);
}

TEST(Summarize, AnEvenNumberOfRoundsTakesTheMiddle) {
  const json summary = report_document(2)["summary"];
  EXPECT_EQ(summary[0]["metrics"]["ops_per_second"]["median"], 1500);
  EXPECT_TRUE(summarize(json::array()).empty());
}

TEST(Tables, HoldTheFiguresWithin100Columns) {
  const auto text = ycsb_tables(report_document());
  ASSERT_TRUE(text.ok()) << text.status();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (const char* part :
       {"YCSB C: 100% read; zipfian; 2 threads", "none", "paper", "4,000", "2.00", "0.250", "50.0",
        "120 KiB", "on emulated:optane", "Emulated:", "overhead 370,368", "no_space 21"}) {
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  }
}

TEST(Tables, ADocumentWithOtherThingsInItIsAnErrorNotACrash) {
  json document = report_document();
  document["summary"][0]["metrics"] = "none";
  const auto text = ycsb_tables(document);
  ASSERT_FALSE(text.ok());
  EXPECT_TRUE(is_invalid_argument(text.status()));
}

TEST(Html, IsSelfContainedAndKeepsChartJsLicence) {
  const auto html = report_html({report_document(), sample_calibration()});
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_TRUE(html->starts_with("<!DOCTYPE html>"));
  EXPECT_NE(html->find("Chart.js v"), std::string::npos);
  EXPECT_NE(html->find("Permission is hereby granted"), std::string::npos);
  for (const char* outside : {" src=", "<link", "@import", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(html->find(outside), std::string::npos) << outside;
  }
  for (const char* placeholder : {"@CSS@", "@DATA@", "@CHART_JS@", "@REPORT_JS@", "@NOTICE@"}) {
    EXPECT_EQ(html->find(placeholder), std::string::npos) << placeholder;
  }
}

TEST(Html, TheDataInItIsTheDocumentAndCannotEndItsElement) {
  const json document = report_document();
  const auto html = report_html({document});
  ASSERT_TRUE(html.ok());
  EXPECT_EQ(html->find("'a=</script>"), std::string::npos);
  const std::string open = R"(<script type="application/json" id="data">)";
  const size_t start = html->find(open) + open.size();
  const size_t end = html->find("</script>", start);
  EXPECT_EQ(json::parse(html->substr(start, end - start)), json::array({document}));
}

TEST(Html, EmulatedMediaAreStatedAndOthersAreNot) {
  EXPECT_NE(report_html({report_document()})->find("Emulated medium:"), std::string::npos);
  EXPECT_NE(report_html({sample_calibration()})->find("Emulated medium:"), std::string::npos);
  json real = report_document();
  real["configurations"][1]["emulated"] = false;
  EXPECT_EQ(report_html({real})->find("Emulated medium:"), std::string::npos);
}

TEST(Html, WhatIsNoResultIsNamed) {
  const auto message = [](const json& document) {
    return std::string(check_report_document(document).message());
  };
  EXPECT_NE(message(json(3)).find("not a JSON object"), std::string::npos);
  EXPECT_NE(message({{"kind", "poem"}})
                .find("kind 'poem'; allowed are ycsb, calibration, paper and replay"),
            std::string::npos);
  json newer = report_document();
  newer["schema"] = 2;
  EXPECT_NE(message(newer).find("schema 2; allowed is 1"), std::string::npos);
  json partial = report_document();
  partial.erase("summary");
  EXPECT_NE(message(partial).find("'summary' is missing"), std::string::npos);
  json odd = report_document();
  odd["runs"] = {1, 2};
  EXPECT_NE(message(odd).find("'runs' holds something else"), std::string::npos);
  EXPECT_TRUE(check_report_document(report_document()).ok());
  EXPECT_FALSE(report_html({report_document(), odd}).ok());
}

}  // namespace
}  // namespace nvcache
