// `nvcache bench writes-hurt`: what wtperf says, the tables and wrong command lines. No
// WiredTiger is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "CLI/CLI.hpp"
#include "apps/command/exit_code.h"
#include "apps/report/figure_tables.h"
#include "apps/report/html.h"
#include "experiments/writes_hurt/workloads.h"
#include "experiments/writes_hurt/writes_hurt_command.h"
#include "experiments/writes_hurt/writes_hurt_run.h"
#include "experiments/writes_hurt/wtperf.h"
#include "nlohmann/json.hpp"
#include "support/command_line.h"

namespace nvcache::writes_hurt {
namespace {

using figures::cell_text;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As wtperf of WiredTiger 11.3.1 writes it. (tidy: wider because it is recorded)
constexpr char kStat[] =
    R"(Starting workload #1: 1 threads, inserts=1, modifies=0, reads=0, truncate=0, updates=0, throttle=0
222006 inserts, 0 modifies, 2854 reads, 0 truncates, 2397 updates, 0 backups, 1 checkpoints, 0 flush_tiers, 0 scans in 1 secs (2 total secs)
237740 inserts, 0 modifies, 3408 reads, 0 truncates, 2777 updates, 0 backups, 0 checkpoints, 0 flush_tiers, 0 scans in 1 secs (3 total secs)
Executed 895371 insert operations (97%) 223842 ops/sec
Executed 0 modify operations (0%) 0 ops/sec
Executed 11397 read operations (1%) 2849 ops/sec
Executed 0 truncate operations (0%) 0 ops/sec
Executed 9392 update operations (1%) 2348 ops/sec
Executed 0 backup operations
Executed 3 checkpoint operations
Executed 0 flush_tier operations
Executed 7 scan operations
Run completed: 4 seconds
)";

TEST(PaperWtperfTest, ReadsWhatARunDid) {
  const auto result = parse_wtperf_stat(kStat);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->seconds, 4);
  EXPECT_DOUBLE_EQ(result->ops_per_second("read"), 11397 / 4.0);
  EXPECT_DOUBLE_EQ(result->ops_per_second("insert"), 895371 / 4.0);
  EXPECT_DOUBLE_EQ(result->ops_per_second("modify"), 0);
  EXPECT_DOUBLE_EQ(result->ops_per_second("nothing"), 0);
  EXPECT_EQ(result->count("checkpoint"), 3u);
  EXPECT_EQ(result->count("scan"), 7u);
  EXPECT_THAT(result->series, ElementsAre(222006 + 2854 + 2397, 237740 + 3408 + 2777));
}

TEST(PaperWtperfTest, RefusesARunThatWasCutShort) {
  const std::string text = kStat;
  EXPECT_FALSE(parse_wtperf_stat(text.substr(0, text.find("Run completed"))).ok());
  EXPECT_FALSE(parse_wtperf_stat(text.substr(text.find("Executed 11397"))).ok());
  EXPECT_FALSE(parse_wtperf_stat("").ok());
}

TEST(PaperWtperfTest, NamesWhatIsNotFound) {
  const auto tools = find_tools("/nonexistent/wtperf", "");
  EXPECT_TRUE(is_failed_precondition(tools.status()));
  EXPECT_THAT(std::string(tools.status().message()), HasSubstr("/nonexistent/wtperf"));
  const auto extension = find_tools("/bin/sh", "/nonexistent/extension.so");
  EXPECT_THAT(std::string(extension.status().message()), HasSubstr("/nonexistent/extension.so"));
  EXPECT_TRUE(find_tools("/bin/sh", "none").ok());
}

json run_of(const char* variant, const char* configuration, int round, double reads, double hits,
            double inserts) {
  json run = {{"workload", "evict-btree"},
              {"variant", variant},
              {"configuration", configuration},
              {"round", round},
              {"seconds", 4},
              {"ops", {{"read", reads}}},
              {"database_bytes", 480 << 20},
              {"cache", nullptr},
              {"files", {{"written_bytes", 1 << 20}, {"admitted_bytes", 2 << 20}}}};
  if (inserts > 0) {
    run["cache"] = {{"hits", hits},
                    {"misses", 100 - hits},
                    {"inserts", inserts},
                    {"removals", inserts / 4},
                    {"erases", inserts / 4}};
  }
  return run;
}

// tidy: longer because it is a table, run by run.
json paper_document() {
  json runs = json::array();
  for (int round = 1; round <= 3; ++round) {
    const double none = 1000 * round;  // a machine that gets faster must not change the pairs
    runs.push_back(run_of("small", "none", round, none, 0, 0));
    runs.push_back(run_of("small", "alloc-read-write", round, none * 0.25, 50, 400));
    runs.push_back(run_of("small", "bypass+obp", round, none * (0.98 + 0.01 * round), 50, 0));
    runs.push_back(run_of("large", "none", round, none, 0, 0));
    runs.push_back(run_of("large", "nvcache", round, none * 2.5, 97, 100));
    runs.push_back(run_of("large", "eager", round, none, 48, 1000));
    runs.push_back(run_of("large", "eager-lru", round, none * 2, 40, 1000));
    runs.push_back(run_of("large", "no-eviction", round, none * 3, 44, 100));
  }
  runs.push_back({{"workload", "evict-btree"},
                  {"variant", "large"},
                  {"configuration", "wt-dram"},
                  {"round", 1},
                  {"error", "killed by signal 6 <b>"}});
  json document = {
      {"kind", "paper"},
      {"schema", 1},
      {"format", "nvcache.paper/1"},
      {"command", "nvcache ..."},
      {"configurations",
       {{{"name", "nvcache"},
         {"what", "w"},
         {"spec", "s"},
         {"medium", "emulated:optane"},
         {"emulated", true}}}},
      {"databases", {{{"workload", "evict-btree"}, {"variant", "large"}, {"bytes", 480 << 20}}}},
      {"runs", runs},
      {"setup",
       {{"engine", "wiredtiger"},
        {"figures", {4, 5, 6, 7, 8}},
        {"tables", {1, 2, 3, 4}},
        {"medium", "emulated:optane"},
        {"emulated", true},
        {"rounds", 3},
        {"seconds", 4},
        {"warmup_seconds", 2},
        {"ycsb_seconds", 3},
        {"ycsb_warmup_seconds", 3},
        {"size_factor", 256},
        {"time_factor", 60},
        {"thread_factor", 4},
        {"notes", {"Memory Mode: not run"}}}}};
  for (const char* configuration : {"none", "nvcache-64", "open-cas-64"}) {
    json metrics = {
        {"ops_per_second", configuration[0] == 'n' && configuration[1] == 'o' ? 100.0 : 200.0}};
    if (configuration != std::string("none")) {
      metrics["tier_hit_ratio"] = 0.5;
      metrics["tier_written_bytes"] = configuration[0] == 'o' ? 1000.0 : 100.0;
    }
    document["runs"].push_back({{"workload", "c"},
                                {"variant", "dram-32"},
                                {"configuration", configuration},
                                {"round", 1},
                                {"metrics", metrics}});
  }
  document["runs"].push_back({{"workload", "c"},
                              {"variant", "split-96"},
                              {"configuration", "none"},
                              {"round", 1},
                              {"metrics", {{"ops_per_second", 100.0}}}});
  document["runs"].push_back({{"workload", "c"},
                              {"variant", "split-32"},
                              {"configuration", "nvcache-64"},
                              {"round", 1},
                              {"metrics", {{"ops_per_second", 100.0}, {"tier_hit_ratio", 0.9}}}});
  document["figures"] = make_figures(document);
  return document;
}

const json& figure(const json& document, const std::string& id) {
  for (const json& figure : document["figures"]) {
    if (figure["id"] == id) return figure;
  }
  static const json none;
  return none;
}

TEST(PaperFiguresTest, ComparesWithinTheRound) {
  const json document = paper_document();
  const json loss = figure(document, "Figure 4")["rows"][0];
  EXPECT_EQ(loss["label"], "evict-btree.READ");
  EXPECT_DOUBLE_EQ(loss["cells"][0]["median"], 75);
  EXPECT_DOUBLE_EQ(loss["cells"][0]["max"], 75);
  EXPECT_NEAR(loss["cells"][1]["median"].get<double>(), 0, 1e-9);
  EXPECT_NEAR(loss["cells"][1]["max"].get<double>(), 1, 1e-9);
  EXPECT_DOUBLE_EQ(figure(document, "Figure 5")["rows"][0]["cells"][0]["median"], 25);
  EXPECT_DOUBLE_EQ(figure(document, "Figure 6")["rows"][0]["cells"][0]["median"], 2.5);
  const json& table1_rows = figure(document, "Table 1")["rows"];
  ASSERT_EQ(table1_rows.size(), 2u);
  EXPECT_DOUBLE_EQ(table1_rows[0]["cells"][4]["median"], 3);
  EXPECT_EQ(table1_rows[0]["cells"][1]["paper"], "48");
  EXPECT_EQ(table1_rows[1]["label"], "evict-btree, LRU");
  EXPECT_DOUBLE_EQ(table1_rows[1]["cells"][1]["median"], 40);
  EXPECT_DOUBLE_EQ(table1_rows[1]["cells"][4]["median"], 1.5);
  EXPECT_FALSE(table1_rows[1]["cells"][1].contains("paper")) << "*Writes Hurt* has no LRU";
}

TEST(PaperFiguresTest, YcsbAndCosts) {
  const json document = paper_document();
  const json seven = figure(document, "Figure 7")["rows"][0];
  EXPECT_EQ(seven["label"], "YCSB-C 64 GB");
  EXPECT_DOUBLE_EQ(seven["cells"][1]["median"], 2);
  EXPECT_DOUBLE_EQ(seven["cells"][4]["median"], 10);
  const json eight = figure(document, "Figure 8a")["rows"][0];
  EXPECT_NEAR(eight["cells"][3]["median"].get<double>(), 100 / 0.5867 - 100, 0.1);
  EXPECT_EQ(figure(document, "Table 4")["rows"].size(), 5u);
}

TEST(PaperTablesTest, FitATerminalAndSayWhatMatters) {
  const json document = paper_document();
  const auto text = figures::figure_tables(document);
  ASSERT_TRUE(text.ok()) << text.status();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(*text, HasSubstr("EMULATED"));
  EXPECT_THAT(*text, HasSubstr("Memory Mode: not run"));
  EXPECT_THAT(*text, HasSubstr("2000 [1000..3000] | 61699"));
  EXPECT_THAT(*text, HasSubstr("50% read, 50% update"));
  EXPECT_THAT(*text, HasSubstr("FAILED: evict-btree large wt-dram round 1: killed by signal 6"));
  EXPECT_FALSE(figures::figure_tables(json::object()).ok());
}

TEST(PaperTablesTest, CellsSayTheSpreadOnlyIfThereIsOne) {
  EXPECT_EQ(cell_text({{"median", 1.2}, {"min", 1.1}, {"max", 1.3}}, 1), "1.2 [1.1..1.3]");
  EXPECT_EQ(cell_text({{"median", 1.2}, {"min", 1.2}, {"max", 1.2}, {"paper", "3"}}, 1), "1.2 | 3");
  EXPECT_EQ(cell_text({{"median", -0.001}, {"min", 0}, {"max", 0}}, 1), "0.0");
  EXPECT_EQ(cell_text(json(), 1), "-");
  EXPECT_EQ(cell_text({{"paper", "91"}}, 1), "- | 91");
}

TEST(PaperReportTest, IsOnePageWithTheData) {
  const auto html = report_html({paper_document()});
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_THAT(*html, HasSubstr("Emulated medium"));
  EXPECT_THAT(*html, HasSubstr("nvcache.paper/1"));
  EXPECT_THAT(*html, Not(HasSubstr("signal 6 <b>")));
  json broken = paper_document();
  broken.erase("figures");
  EXPECT_FALSE(report_html({broken}).ok());
}

int exit_code_for(std::vector<std::string> words) {
  CLI::App app;
  add_writes_hurt_command(app, "nvcache bench writes-hurt");
  words.insert(words.begin(), "writes-hurt");
  return test::exit_code_of_line(app, words);
}

TEST(WritesHurtCommandTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(exit_code_for({"--figures", "3"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--tables", "5"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--workloads", "evict"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--configurations", "wt-tape"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--engine", "leveldb", "--tables", "4"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--engine", "rocksdb", "--figures", "4"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--keep-db", "--tables", "4"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--medium", "tape", "--tables", "4"}), kExitUsage);
  EXPECT_EQ(exit_code_for({"--json", "/nonexistent/x.json", "--tables", "4"}), kExitUsage);
}

TEST(WritesHurtCommandTest, TablesThatNeedNoRunsComeAtOnce) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(exit_code_for({"--tables", "3,4"}), kExitOk);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("Table 3"));
  EXPECT_THAT(text, HasSubstr("0.59"));
}

}  // namespace
}  // namespace nvcache::writes_hurt
