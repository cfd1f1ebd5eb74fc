// Help texts as the manual page and the shells have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/manual/render.h"
#include "apps/manual/shell_text.h"
#include "apps/manual/text.h"

namespace nvcache::manual {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Page page_with(const Option& option) {
  Page page;
  page.program.name = "tool";
  page.program.summary = "does it";
  page.program.options = {option};
  return page;
}

std::string rendered(const Page& page, std::string_view form) {
  const auto text = render(page, form);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

TEST(ManualText, ASentenceBeginsWithACapitalUnlessItsFirstWordIsAName) {
  EXPECT_EQ(sentence("size of the\nstore (64)"), "Size of the store (64).");
  EXPECT_EQ(sentence("host:port, or a name"), "Host:port, or a name.");
  EXPECT_EQ(sentence("-vv prints more"), "-vv prints more.");
  EXPECT_EQ(sentence("TCP port?"), "TCP port?");
  EXPECT_EQ(sentence(""), "");
}

TEST(ManualText, WhatStandsBesideACompletionEndsBeforeTheDetails) {
  EXPECT_EQ(brief("print more; -vv prints every command"), "print more");
  EXPECT_EQ(brief("size of the store (64)"), "size of the store");
  EXPECT_EQ(brief("addresses to\nlisten on"), "addresses to listen on");
}

TEST(ManualText, IndentedLinesStayAndOthersAreFilled) {
  const auto blocks = blocks_of("One\nparagraph.\nExamples:\n  tool a\n\n    tool b\n\nAnother.\n");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].text, "One paragraph. Examples:");
  EXPECT_TRUE(blocks[1].is_verbatim);
  EXPECT_EQ(blocks[1].text, "tool a\n\n  tool b");
  EXPECT_EQ(blocks[2].text, "Another.");
  EXPECT_EQ(blocks_of("Words.\nExit codes: 0 done").size(), 2u);
}

TEST(ManualText, AValueThatStandsForOthersHasAFixedPart) {
  EXPECT_EQ(fixed_part("file:FILE"), "file:");
  EXPECT_EQ(fixed_part("emulated:optane"), "emulated:optane");
  EXPECT_EQ(fixed_part("dram"), "dram");
  EXPECT_EQ(completes_behind("file:FILE"), Completes::kFiles);
  EXPECT_EQ(completes_behind("emulated:PROFILE"), Completes::kNothing);
}

TEST(ManualPage, NoTextBecomesARequestOfRoff) {
  const std::string page = rendered(page_with({.letter = 'x',
                                               .word = "odd",
                                               .argument = "",
                                               .help = ".TH 'quoted' \\fB - `-q`",
                                               .more = "",
                                               .fallback = "",
                                               .values = {},
                                               .items = {},
                                               .group = ""}),
                                    "man");
  EXPECT_THAT(page, HasSubstr("\\fB\\-x\\fR, \\fB\\-\\-odd\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\\&.TH \\(aqquoted\\(aq \\efB \\- \\fB\\-q\\fR.\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n.TH \\(aq")));
}

TEST(ManualPage, AFormThatIsNotThereIsNamed) {
  const auto text = render(page_with({}), "info");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("'info' given; allowed: man, bash"));
  for (const std::string_view form : forms()) EXPECT_NE(rendered(page_with({}), form), "");
}

TEST(ManualShells, QuotesEndWhereTheyBegin) {
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(with_program("_PROG of PROG", "tool"), "_tool of tool");
}

TEST(ManualShells, AnItemThatTakesAValueEndsInAnEqualsSign) {
  Option option;
  option.items = {{"key", "FILE", "a key"}, {"fast", "", "fast"}, {"tuning", "", ""}};
  EXPECT_THAT(words_of(option), ElementsAre("key=", "fast"));
}

}  // namespace
}  // namespace nvcache::manual
