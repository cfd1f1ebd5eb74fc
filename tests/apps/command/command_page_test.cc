// The parts of the manual page that come from a command line of CLI11.
#include "apps/command/command_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvcache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CommandPage : public testing::Test {
 protected:
  const manual::Option* find(const std::string& word) {
    for (const manual::Option& option : page_.program.options) {
      if (option.word == word) return &option;
    }
    ADD_FAILURE() << "no option " << word;
    return nullptr;
  }
  void make(const PageFacts& facts = {}) { page_ = command_page(app_, facts); }

  CLI::App app_{"tool: does it", "tool"};
  manual::Page page_;
  int number_ = 8;
  std::string text_;
  std::vector<std::string> texts_{"a", "b"};
  bool flag_ = false;
};

TEST_F(CommandPage, AnOptionHasItsTypeRangeAndDefault) {
  app_.add_option("-n,--number", number_, "How many")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  app_.add_flag("--loud", flag_, "Tell more");
  make();
  const manual::Option* number = find("number");
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number->letter, 'n');
  EXPECT_EQ(number->argument, "N");
  EXPECT_EQ(number->fallback, "8");
  EXPECT_EQ(number->more, "Allowed: 1 to 16.");
  EXPECT_THAT(number->values, IsEmpty());
  EXPECT_EQ(find("loud")->argument, "");
  EXPECT_EQ(find("help")->letter, 'h');
}

TEST_F(CommandPage, AllowedValuesComeFromTheTypeOrItsCheck) {
  app_.add_option("--engine", text_, "Engine")->check(CLI::IsMember({"fast", "slow"}));
  app_.add_option("--medium", text_, "Medium")
      ->type_name(choices(std::vector<std::string>{"dram", "file:PATH"}));
  app_.add_option("--figures", texts_, "Figures")->delimiter(',')->type_name("{1,2}");
  app_.add_option("--json", text_, "Result")->type_name("FILE");
  make();
  EXPECT_THAT(find("engine")->values, ElementsAre("fast", "slow"));
  EXPECT_EQ(find("engine")->argument, "ENGINE");
  EXPECT_THAT(find("medium")->values, ElementsAre("dram", "file:PATH"));
  EXPECT_TRUE(find("figures")->is_list);
  EXPECT_FALSE(find("engine")->is_list);
  EXPECT_EQ(find("json")->argument, "FILE");
}

TEST_F(CommandPage, AnArgumentKeepsItsNameUnlessItsTypeCompletesMore) {
  app_.add_option("trace", texts_, "Traces")->required();
  app_.add_option("--spec", texts_, "Specifications");
  make();
  ASSERT_EQ(page_.program.arguments.size(), 1u);
  EXPECT_EQ(page_.program.arguments[0].argument, "TRACE");
  EXPECT_TRUE(page_.program.arguments[0].is_required);
  EXPECT_TRUE(page_.program.arguments[0].repeats);
  app_.get_option("trace")->type_name("FILE");
  make();
  EXPECT_EQ(page_.program.arguments[0].argument, "FILE");
}

TEST_F(CommandPage, AFooterBecomesSections) {
  app_.footer(
      "Examples:\n  tool --loud\n\nMore to know.\nExit codes: 0 done; 2 wrong, or odd; 3 no.");
  make({.name = "",
        .synopsis = {},
        .about = "About.",
        .sections = {},
        .see_also = {},
        .forwarded = {}});
  EXPECT_EQ(page_.program.summary, "does it");
  EXPECT_EQ(page_.program.text, "About.\n\nMore to know.\n\n");
  ASSERT_EQ(page_.sections.size(), 2u);
  EXPECT_EQ(page_.sections[0].text, "  tool --loud\n");
  ASSERT_EQ(page_.sections[1].entries.size(), 3u);
  EXPECT_EQ(page_.sections[1].entries[1].term, "2");
  EXPECT_EQ(page_.sections[1].entries[1].text, "Wrong, or odd.");
}

TEST_F(CommandPage, ACommandOfAnotherProgramHasNoOptionsHere) {
  app_.add_subcommand("bench", "Measure");
  CLI::App* own = app_.add_subcommand("show", "Show");
  own->alias("list");
  own->add_option("--json", text_, "Result");
  make({.name = "",
        .synopsis = {},
        .about = "",
        .sections = {},
        .see_also = {},
        .forwarded = {{"bench", "other", ""}}});
  ASSERT_EQ(page_.program.commands.size(), 2u);
  EXPECT_EQ(page_.program.commands[0].runs, "other");
  EXPECT_THAT(page_.program.commands[0].options, IsEmpty());
  EXPECT_THAT(page_.program.commands[1].aliases, ElementsAre("list"));
  EXPECT_EQ(page_.program.commands[1].options.size(), 2u);  // and --help
}

TEST_F(CommandPage, GenerateEndsTheProgram) {
  add_generate_option(app_, {});
  app_.require_subcommand(1);
  app_.add_subcommand("show", "Show");
  testing::internal::CaptureStdout();
  EXPECT_THROW(app_.parse("--generate=bash"), CLI::RuntimeError);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("complete -F _tool tool"));
  EXPECT_THROW(app_.parse("--generate=info"), CLI::ValidationError);
}

}  // namespace
}  // namespace nvcache
