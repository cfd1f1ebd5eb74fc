// Each experiment's command has one name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "apps/command/exit_code.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/hybrid_cache/hybrid_cache_command.h"
#include "experiments/nvmcached/nvmcached_command.h"
#include "experiments/writes_hurt/writes_hurt_command.h"
#include "support/command_line.h"

namespace nvcache {
namespace {

struct Names {
  std::string name;
  std::vector<std::string> quick;  // options with which the command is done at once
};

class CommandNamesTest : public testing::TestWithParam<Names> {
 protected:
  CommandNamesTest() {
    add_writes_hurt_command(app_, "test");
    add_hybrid_cache_command(app_, "test");
    add_nvmcached_command(app_, "test");
  }

  std::string help_of(const std::string& name) {
    try {
      app_.parse("nvbench " + name + " --help", /*program_name_included=*/true);
    } catch (const CLI::CallForHelp&) {
      return app_.help();
    }
    ADD_FAILURE() << name << " --help went on";
    return "";
  }

  int run(const std::string& name) {
    std::vector<std::string> words{name};
    words.insert(words.end(), GetParam().quick.begin(), GetParam().quick.end());
    testing::internal::CaptureStdout();
    const int code = test::exit_code_of_line(app_, words);
    EXPECT_NE(testing::internal::GetCapturedStdout(), "");
    return code;
  }

  CLI::App app_;
};

TEST_P(CommandNamesTest, HelpNamesItAsUsersTypeIt) {
  const std::string help = help_of(GetParam().name);
  EXPECT_NE(help.find("nvcache bench " + GetParam().name), std::string::npos) << help;
}

TEST(EmulatedName, TheAliasBecomesTheWord) {
  EXPECT_EQ(emulated_name("modelled:flash,load=4"), "emulated:flash,load=4");
  EXPECT_EQ(emulated_name("emulated:flash"), "emulated:flash");
  EXPECT_EQ(emulated_name("disk"), "disk");
  EXPECT_TRUE(is_emulated("modelled:cxl"));
  EXPECT_FALSE(is_emulated("dram"));
}

TEST_P(CommandNamesTest, RunsByItsName) { EXPECT_EQ(run(GetParam().name), kExitOk); }

INSTANTIATE_TEST_SUITE_P(All, CommandNamesTest,
                         testing::Values(Names{"writes-hurt", {"--tables", "3"}},
                                         Names{"hybrid-cache", {"--tables", "4"}},
                                         Names{"nvmcached",
                                               {"--quick", "--figures", "5", "--traces", "APP",
                                                "--media", "modelled:dram", "--requests", "1000",
                                                "--size", "8MiB"}}),
                         [](const auto& with) {
                           std::string name = with.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace nvcache
