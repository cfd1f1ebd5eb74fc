// `nvcache bench simulate` as users type it.
#include "experiments/simulate/simulate_command.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/command_line.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kSmall = {"simulate", "--scale", "2048", "--minutes", "2"};

std::vector<std::string> with(std::vector<std::string> words) {
  words.insert(words.begin(), kSmall.begin(), kSmall.end());
  return words;
}

int run_simulate(const std::vector<std::string>& words) {
  CLI::App app;
  add_simulate_command(app, "nvcache bench simulate");
  return test::exit_code_of_line(app, words);
}

std::string complaint_of(const std::vector<std::string>& words) {
  CLI::App app;
  add_simulate_command(app, "nvcache bench simulate");
  return test::complaint_of_line(app, words);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SimulateCommand, WritesTablesJsonAndAPage) {
  const TempDir folder;
  const std::string json_path = folder.path() + "/out.json";
  const std::string page_path = folder.path() + "/out.md";
  testing::internal::CaptureStdout();
  const int code =
      run_simulate(with({"--workload", "a", "--json", json_path, "--report", page_path}));
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, kExitOk);
  EXPECT_THAT(shown, HasSubstr("SIMULATED at 1/2048"));
  EXPECT_THAT(shown, HasSubstr("memory-mode"));
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  const nlohmann::json document = nlohmann::json::parse(text_of_file(json_path));
  EXPECT_EQ(document["simulated"], true);
  ASSERT_EQ(document["runs"].size(), 3u);
  EXPECT_EQ(document["runs"][0]["options"]["scale"], 2048);
  EXPECT_GT(document["runs"][0]["result"]["operations"], 0);
  EXPECT_THAT(text_of_file(page_path), HasSubstr("Every figure on this page is simulated"));
  EXPECT_THAT(text_of_file(page_path), HasSubstr("What is not modelled"));
}

TEST(SimulateCommand, MemcachedHasWorkloadsAndConfigurationsOfItsOwn) {
  testing::internal::CaptureStdout();
  const int code = run_simulate(with({"--engine", "memcached"}));
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, kExitOk);
  for (const char* name : {"SYS", "VAR", "mc-dram", "mc-nvm", "mc-nvlru", "nvmcached"}) {
    EXPECT_THAT(shown, HasSubstr(name));
  }
  EXPECT_THAT(complaint_of(with({"--engine", "memcached", "--config", "none"})),
              HasSubstr("allowed are mc-dram, mc-nvm, mc-nvlru, nvmcached"));
}

TEST(SimulateCommand, RocksdbHasWorkloadsConfigurationsAndColumnsOfItsOwn) {
  testing::internal::CaptureStdout();
  const int code = run_simulate(with({"--engine", "rocksdb"}));
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, kExitOk);
  for (const char* name : {"whatsapp", "64-0/dram-only", "32-256/dram-first", "x 64-0", "warm%"}) {
    EXPECT_THAT(shown, HasSubstr(name));
  }
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(SimulateCommand, WhatIsWrongIsNamedWithWhatIsAllowed) {
  EXPECT_THAT(complaint_of(with({"--engine", "oracle"})),
              HasSubstr("allowed are wiredtiger, memcached, rocksdb"));
  EXPECT_THAT(complaint_of(with({"--config", "magic"})), HasSubstr("memory-mode"));
  EXPECT_THAT(complaint_of(with({"--storage", "tape"})), HasSubstr("sata-flash"));
  EXPECT_THAT(complaint_of(with({"--medium", "tape"})), HasSubstr("optane"));
  EXPECT_THAT(complaint_of(with({"--workload", "f"})), HasSubstr("a, b, c, d, e"));
  EXPECT_THAT(complaint_of(with({"--nvram", "much"})), HasSubstr("--nvram"));
  EXPECT_THAT(complaint_of(with({"--json", "/nowhere/x.json"})), HasSubstr("--json"));
  EXPECT_EQ(run_simulate(with({"--speed", "9"})), kExitUsage);
}

TEST(SimulateCommandDeathTest, AnInterruptLeavesNothingBehind) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TempDir folder;
  const std::string path = folder.path() + "/out.json";
  EXPECT_EXIT(test::exit_by_interrupt(
                  path, folder.path(),
                  [&] {
                    const int code = run_simulate(
                        {"simulate", "--scale", "64", "--minutes", "100000", "--json", path});
                    return code == kExitInterrupted ? cancelled_error("") : unknown_error("");
                  }),
              testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace nvcache
