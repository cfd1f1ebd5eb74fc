// `nvcache bench flink` and `kafka-streams` without Java: command lines, what is missing, what a
// program printed, and the arithmetic of the table. nvbench_java_test.py runs the programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "CLI/CLI.hpp"
#include "experiments/java/java_command.h"
#include "experiments/java/java_program.h"
#include "experiments/java/java_result.h"
#include "experiments/java/java_tools.h"
#include "nlohmann/json.hpp"
#include "support/command_line.h"
#include "support/temp_dir.h"

namespace nvcache::java {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string complaint_of(const std::vector<std::string>& words) {
  CLI::App app;
  add_java_commands(app, "test");
  return test::complaint_of_line(app, words);
}

TEST(JavaCommandTest, RefusesWrongCommandLines) {
  for (const char* command : {"flink", "kafka-streams"}) {
    EXPECT_THAT(complaint_of({command, "--cases", "huge"}),
                AllOf(HasSubstr("huge"), HasSubstr("larger and fits"), HasSubstr(command)));
    EXPECT_THAT(complaint_of({command, "--cases", "fits,fits"}), HasSubstr("twice"));
    EXPECT_THAT(complaint_of({command, "--pairs", "0"}), HasSubstr("--pairs"));
    EXPECT_THAT(complaint_of({command, "--events", "none"}), HasSubstr("--events"));
    EXPECT_THAT(complaint_of({command, "--json", "/nonexistent/out.json"}), HasSubstr("--json"));
  }
}

TEST(JavaCommandTest, ShowsExamples) {
  CLI::App app{"", "nvbench"};
  add_java_commands(app, "test");
  EXPECT_THROW(app.parse("nvcache bench flink --help", true), CLI::CallForHelp);
  EXPECT_THAT(app.help(), AllOf(HasSubstr("nvcache bench flink --quick"),
                                HasSubstr("tiered://?tier=(name=shared,size=512MiB)")));
}

TEST(JavaProgramTest, TakesTheSizesThatAreGiven) {
  Options options;
  options.cases = {"fits", "larger"};
  options.divisor = 10;
  options.keys = 500;
  auto cases = chosen_cases(flink(), options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 2u);
  const Case& fits = flink().cases[1];
  EXPECT_EQ(cases->front().name, "fits");
  EXPECT_EQ(cases->front().keys, 500u);
  EXPECT_EQ(cases->front().warm, fits.warm / 10);
  EXPECT_EQ(cases->front().events, fits.events / 10);
  options.warm = 7;
  options.events = 9;
  cases = chosen_cases(kafka_streams(), options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_EQ(cases->back().warm, 7u);
  EXPECT_EQ(cases->back().events, 9u);
}

TEST(JavaProgramTest, BringsItsSources) {
  const TempDir folder;
  ASSERT_TRUE(write_sources(folder.path()).ok());
  for (const Program* program : {&flink(), &kafka_streams()}) {
    std::ifstream file(folder.file(program->main_class + ".java"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr("public final class " + program->main_class + " {"));
  }
}

// A JDK that is none, and jars that are none.
class JavaToolsTest : public testing::Test {
 protected:
  JavaToolsTest() {
    make("jdk/bin/java");
    make("jdk/bin/javac");
    make("jars/" + flink().jar);
    make("jars/" + flink().jar_folder + "/b.jar");
    make("jars/" + flink().jar_folder + "/a.jar");
    make("library.so");
    options_.jars = folder_.file("jars");
    options_.library = folder_.file("library.so");
    ::setenv("JAVA_HOME", folder_.file("jdk").c_str(), 1);
    ::setenv("PATH", "/nonexistent", 1);
  }
  ~JavaToolsTest() override {
    home_.empty() ? ::unsetenv("JAVA_HOME") : ::setenv("JAVA_HOME", home_.c_str(), 1);
    ::setenv("PATH", path_.c_str(), 1);
  }

  static std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }
  void make(const std::string& name) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::string complaint() const {
    const auto tools = find_tools(flink(), options_);
    EXPECT_TRUE(is_failed_precondition(tools.status())) << tools.status();
    return std::string(tools.status().message());
  }

  const std::string home_ = variable("JAVA_HOME");
  const std::string path_ = variable("PATH");
  const TempDir folder_;
  Options options_;
};

TEST_F(JavaToolsTest, FindsThem) {
  const auto tools = find_tools(flink(), options_);
  ASSERT_TRUE(tools.ok()) << tools.status();
  EXPECT_EQ(tools->java, folder_.file("jdk/bin/java"));
  EXPECT_EQ(tools->javac, folder_.file("jdk/bin/javac"));
  EXPECT_EQ(tools->library, folder_.file("library.so"));
  const std::string jars = folder_.file("jars/" + flink().jar_folder);
  EXPECT_EQ(tools->classpath,
            jars + "/a.jar:" + jars + "/b.jar:" + folder_.file("jars/" + flink().jar));
}

TEST_F(JavaToolsTest, LooksOnThePathToo) {
  ::unsetenv("JAVA_HOME");
  ::setenv("PATH", ("/nonexistent::" + folder_.file("jdk/bin")).c_str(), 1);
  const auto tools = find_tools(flink(), options_);
  ASSERT_TRUE(tools.ok()) << tools.status();
  EXPECT_EQ(tools->java, folder_.file("jdk/bin/java"));
}

TEST_F(JavaToolsTest, SaysWhatIsMissingAndHowToGetIt) {
  std::filesystem::remove(folder_.file("library.so"));
  EXPECT_THAT(complaint(), AllOf(HasSubstr("libnvcache_jvm.so"), HasSubstr("library.so"),
                                 HasSubstr("--library"), HasSubstr("script/rocksdb_jni")));
  std::filesystem::remove_all(folder_.file("jars/" + flink().jar_folder));
  EXPECT_THAT(complaint(), AllOf(HasSubstr(flink().jar_folder), HasSubstr("--jars"),
                                 HasSubstr("script/rocksdb_jni gets")));
  options_.jars = "/nonexistent";
  EXPECT_THAT(complaint(), HasSubstr("/nonexistent/" + flink().jar));
  std::filesystem::remove(folder_.file("jdk/bin/javac"));
  EXPECT_THAT(complaint(), AllOf(HasSubstr("no javac"), HasSubstr("script/setup --for jvm")));
}

std::string printed(const std::string& digest, int events) {
  return "sent.first=12\nreads.first=7\ndigest.first=" + digest +
         "\nfirst.ns=5\nmeasured.events=" + std::to_string(events) +
         "\nmeasured.ns=2000000000\nmeasured.read_calls=40\nmeasured.read_bytes=4096\n"
         "measured.device_bytes=512\ndone\n";
}

TEST(JavaResultTest, ReadsWhatAProgramPrinted) {
  const auto outcome = parse_outcome("a line of the JVM\n" + printed("-9", 100));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->sent, ElementsAre(Pair("digest.first", "-9"), Pair("sent.first", "12")));
  const json metrics = metrics_json(*outcome);
  EXPECT_EQ(metrics, json({{"events_per_second", 50.0},
                           {"seconds", 2.0},
                           {"read_calls", 40},
                           {"read_bytes", 4096},
                           {"device_read_bytes", 512}}));
}

TEST(JavaResultTest, RefusesARunThatSaysTooLittle) {
  const std::string whole = printed("1", 100);
  const auto complaint = [](const std::string& text) {
    const Status status = parse_outcome(text).status();
    EXPECT_TRUE(is_internal(status)) << text;
    return std::string(status.message());
  };
  EXPECT_THAT(complaint(""), HasSubstr("did not get to its end"));
  EXPECT_THAT(complaint(whole.substr(0, whole.size() - 5)), HasSubstr("did not get to its end"));
  EXPECT_THAT(complaint("done\n"), HasSubstr("no digest"));
  EXPECT_THAT(complaint("digest=1\ndone\n"), HasSubstr("measured.events"));
  EXPECT_THAT(complaint("measured.ns=x\n" + whole), HasSubstr("measured.ns=x"));
  EXPECT_THAT(complaint(printed("1", 0)), HasSubstr("no events"));
}

TEST(JavaResultTest, FindsWhatDiffers) {
  const Outcome one = *parse_outcome(printed("1", 100));
  Outcome other = *parse_outcome(printed("1", 200));
  EXPECT_TRUE(check_equal(one, other).ok());
  other.sent["digest.first"] = "2";
  const Status differs = check_equal(one, other);
  EXPECT_TRUE(is_data_loss(differs));
  EXPECT_EQ(differs.message(), "digest.first is 2, not 1");
  other.sent = one.sent;
  other.sent["digest.second"] = "3";
  EXPECT_THAT(std::string(check_equal(one, other).message()), HasSubstr("digest.second"));
  EXPECT_THAT(std::string(check_equal(other, one).message()), HasSubstr("digest.second"));
}

TEST(JavaResultTest, AddsUpWhatTiersBelowTheFirstServed) {
  EXPECT_EQ(parse_lower_hits(R"({"tiers": [{"hits": 9}, {"hits": 3}, {"hits": 4}]})").value(), 7u);
  for (const char* wrong :
       {"", "{}", R"({"tiers": [{}, {}]})", R"({"tiers": [{}, {"hits": "x"}]})"}) {
    EXPECT_TRUE(is_internal(parse_lower_hits(wrong).status())) << wrong;
  }
}

json run_of(const char* configuration, int pair, double rate, double calls) {
  json run = {{"case", "larger"},
              {"configuration", configuration},
              {"pair", pair},
              {"metrics",
               {{"events_per_second", rate},
                {"seconds", 10},
                {"read_calls", calls},
                {"read_bytes", calls * (1 << 20)},
                {"device_read_bytes", 0}}}};
  if (std::string(configuration) == kWith) run["metrics"]["lower_hits"] = 1000 * pair;
  return run;
}

json java_document() {
  json runs = json::array();
  // A machine that gets faster must not change the pairs.
  for (int pair = 1; pair <= 3; ++pair) {
    runs.push_back(run_of(kWithout, pair, 1000 * pair, 5000));
    runs.push_back(run_of(kWith, pair, 2000 * pair + 10 * pair * pair, 250));
  }
  const json larger = {
      {"name", "larger"}, {"dram", "16 MiB"}, {"keys", 200000}, {"events", 600000}};
  return {{"kind", "java"},
          {"program", "Flink"},
          {"setup",
           {{"pairs", 3},
            {"tiered", "tiered://?tier=(size=1GiB,medium=emulated:cxl)"},
            {"emulated", true},
            {"cases", json::array({larger})}}},
          {"runs", runs},
          {"summary", summarize(runs)}};
}

TEST(JavaResultTest, ComparesTheRunsOfEachPair) {
  const json document = java_document();
  ASSERT_EQ(document["summary"].size(), 1u);
  const json& metrics = document["summary"][0]["metrics"];
  EXPECT_EQ(metrics["events_per_second"]["none"],
            json({{"median", 2000.0}, {"min", 1000.0}, {"max", 3000.0}}));
  EXPECT_EQ(metrics["events_per_second"]["nvcache"]["median"], 4040.0);
  EXPECT_DOUBLE_EQ(metrics["events_per_second"]["ratio"]["min"], 2.01);
  EXPECT_DOUBLE_EQ(metrics["events_per_second"]["ratio"]["median"], 2.02);
  EXPECT_DOUBLE_EQ(metrics["events_per_second"]["ratio"]["max"], 2.03);
  EXPECT_DOUBLE_EQ(metrics["read_calls"]["ratio"]["median"], 0.05);
  EXPECT_EQ(metrics["device_read_bytes"]["ratio"], nullptr) << "of nothing";
  EXPECT_EQ(metrics["lower_hits"]["none"], nullptr);
  EXPECT_EQ(metrics["lower_hits"]["nvcache"]["max"], 3000.0);
}

TEST(JavaResultTest, PrintsATable) {
  const auto text = java_tables(java_document());
  ASSERT_TRUE(text.ok()) << text.status();
  for (const char* words :
       {"larger: 200000 keys of 400 characters; 16 MiB", "600000 events", "2000 [1000..3000]",
        "4040 [2010..6090]", "2.020 [2.010..2.030]", "0.050\n", "NVCACHE_TIERED=tiered://?tier=(",
        "3 pairs of runs of Flink", "EMULATED"}) {
    EXPECT_THAT(*text, HasSubstr(words));
  }
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_TRUE(is_invalid_argument(java_tables(json::object()).status()));
}

}  // namespace
}  // namespace nvcache::java
