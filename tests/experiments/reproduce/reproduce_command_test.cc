// `nvcache bench reproduce`: it writes the page and the JSON, refuses what it does not know, and
// leaves nothing when it is interrupted.
#include "experiments/reproduce/reproduce_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/command/exit_code.h"
#include "apps/command/interrupt.h"
#include "experiments/reproduce/reproduce_run.h"
#include "support/command_line.h"
#include "support/reproduce_documents.h"
#include "support/temp_dir.h"

namespace nvcache::reproduce {
namespace {

using testing::HasSubstr;

class ReproduceCommand : public testing::Test {
 protected:
  ReproduceCommand() { add_reproduce_command(app_, "nvcache bench reproduce"); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name)) << text;
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_.file(name)).rdbuf();
    return text.str();
  }
  std::string complaint(std::vector<std::string> words) {
    words.insert(words.begin(), {"reproduce", "--no-runs"});
    CLI::App app;
    add_reproduce_command(app, "test");
    return test::complaint_of_line(app, words);
  }

  CLI::App app_;
  TempDir folder_;
};

TEST_F(ReproduceCommand, WritesThePageAndTheJson) {
  std::filesystem::create_directory(folder_.file("results"));
  write("results/kv.json", kv_document().dump());
  write("results/other.json",
        json{{"kind", "calibration"}, {"schema", 1}, {"points", json::array()}}.dump());
  testing::internal::CaptureStdout();
  EXPECT_EQ(
      test::exit_code_of_line(app_, {"reproduce", "--no-runs", "--results", folder_.file("results"),
                                     "--output", folder_.file("page.md"), "--json",
                                     folder_.file("all.json"), "--html", folder_.file("all.html")}),
      kExitOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("of 95 direction right"));
  EXPECT_THAT(read("page.md"), HasSubstr("| kv-real |"));
  const json document = json::parse(read("all.json"));
  EXPECT_EQ(document["results"].size(), 95u);
  EXPECT_EQ(document["setup"]["ignored"], json{"other.json"});
  EXPECT_THAT(read("all.html"), HasSubstr("kv-real"));
}

TEST_F(ReproduceCommand, ReadsTheRunsOfAnEarlierComparison) {
  Evidence evidence;
  evidence.add("the small run of this command", kv_document(), /*own=*/true);
  evidence.add("another.json", hybrid_document());
  Options options;
  options.command = "test";
  const auto& table = papers::paper_results();
  write("earlier.json", compare(table, all_rows(), evidence, options).value().dump());
  Evidence again;
  ASSERT_TRUE(again.add_folder(folder_.path()).ok());
  ASSERT_EQ(again.documents().size(), 1u);
  EXPECT_TRUE(again.has(kKvFormat));
}

TEST_F(ReproduceCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(complaint({"--only", "mongodb"}),
              HasSubstr("--only mongodb: allowed are memory-mode, writes-hurt, hybrid-cache, nvm"));
  EXPECT_THAT(complaint({"--results", folder_.file("nowhere")}), HasSubstr("nowhere"));
  EXPECT_THAT(complaint({"--results", folder_.path()}), HasSubstr("no *.json there"));
  EXPECT_THAT(complaint({"--output", folder_.file("no/page.md")}), HasSubstr("--output"));
  write("bad.json", "{");
  EXPECT_THAT(complaint({"--results", folder_.path()}), HasSubstr("bad.json: is not JSON"));
  write("bad.json", R"({"kind": "cake"})");
  EXPECT_THAT(complaint({"--results", folder_.path()}), HasSubstr("kind 'cake'; allowed are"));
  json document = kv_document();
  document["runs"][0].erase("metrics");
  write("bad.json", document.dump());
  EXPECT_THAT(complaint({"--results", folder_.path()}),
              HasSubstr("has not the form of its format"));
}

TEST_F(ReproduceCommand, HelpHasExamplesAndNames) {
  try {
    app_.parse("nvcache bench reproduce --help", /*program_name_included=*/true);
    FAIL();
  } catch (const CLI::CallForHelp&) {
    EXPECT_THAT(app_.help(), HasSubstr("--results results --output reproduce.md"));
    EXPECT_THAT(app_.help(), HasSubstr("memory-mode,writes-hurt,hybrid-cache,nvmcached"));
  }
}

// In a child process: the flag of an interrupt stays set.
TEST_F(ReproduceCommand, AnInterruptLeavesNothing) {
  const std::string page = folder_.file("page.md"), all = folder_.file("all.json");
  EXPECT_EXIT(
      {
        watch_for_interrupt();
        ::raise(SIGINT);
        const int code = test::exit_code_of_line(
            app_, {"reproduce", "--no-runs", "--output", page, "--json", all});
        const bool left = std::filesystem::exists(page) || std::filesystem::exists(all);
        std::_Exit(left ? 99 : code);
      },
      testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace nvcache::reproduce
