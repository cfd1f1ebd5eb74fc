// An option of nvcached is a field and a row, and the guide's line if it is nvcached's own:
// CONTRIBUTING's recipe. Help, guide and manual page agree with what the rows do.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "apps/manual/text.h"
#include "apps/nvcached/options/nvcached_options.h"
#include "apps/nvcached/options/nvcached_page.h"
#include "apps/nvcached/options/option_table.h"
#include "apps/nvcached/options/store_specification.h"
#include "base/text.h"
#include "support/checkout.h"

namespace nvcache::server {
namespace {

// "64" of "size of the store in megabytes (64)"; empty if the default is no number.
std::string default_in(const char* help) {
  static const std::regex number(R"(\(([0-9]\w*)[,;:)])");
  std::cmatch found;
  return help != nullptr && std::regex_search(help, found, number) ? found[1].str() : "";
}

void expect_default(const std::vector<std::string>& arguments) {
  const auto given = parse_options(arguments);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->settings, parse_options({})->settings) << arguments[0] << " " << arguments[1];
}

TEST(OptionRecipe, TheHelpNamesTheDefaultThatHolds) {
  size_t defaults = 0;
  for (const OptionRow& row : option_rows()) {
    const std::string value = default_in(row.help);
    if (value.empty() || row.argument == nullptr) continue;
    expect_default({row.name(), value});
    ++defaults;
  }
  for (const ExtendedRow& row : extended_rows()) {
    const std::string value = default_in(row.help);
    if (value.empty()) continue;
    expect_default({"-o", fmt::format("{}={}", row.word, value)});
    ++defaults;
  }
  EXPECT_GE(defaults, 14u) << "the pattern no longer finds them";
}

// The words of the table of options that memcached does not have.
std::set<std::string> own_options_in_the_guide() {
  std::set<std::string> options;
  std::ifstream page(checkout_folder() + "/docs/guide/nvcached.md");
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) in_table = false;
    if (line.starts_with("| option |")) in_table = true;
    constexpr std::string_view kCell = "| `--";
    if (!in_table || !line.starts_with(kCell)) continue;
    const size_t end = line.find_first_of("=`", kCell.size());
    options.insert(line.substr(kCell.size(), end - kCell.size()));
  }
  return options;
}

TEST(OptionRecipe, TheGuideListsEachOptionOfNvcachedAlone) {
  std::set<std::string> options;
  for (const OptionRow& row : option_rows()) {
    if (row.kind == OptionKind::kOwn) options.insert(row.word);
  }
  EXPECT_EQ(own_options_in_the_guide(), options);
}

// The store is not made of a value that it refuses.
bool is_taken(const OptionRow& row, const std::string& value) {
  const auto options = parse_options({row.name(), value});
  if (!options.ok()) return false;
  Options complete = *options;
  if (complete.medium.empty()) complete.medium = "dram";
  return store_specification_of(complete).ok();
}

TEST(OptionRecipe, CompletionsOfferWhatIsAllowed) {
  size_t lists = 0;
  for (const manual::Option& option : nvcached_page().program.options) {
    if (option.values.empty()) continue;
    ++lists;
    const auto row =
        std::find_if(option_rows().begin(), option_rows().end(), [&option](const OptionRow& each) {
          return each.word != nullptr && option.word == each.word;
        });
    ASSERT_NE(row, option_rows().end()) << option.word;
    for (const std::string& value : option.values) {
      const std::string fixed = manual::fixed_part(value);
      const bool is_path = manual::completes_behind(value) == manual::Completes::kFiles;
      const char* const behind = fixed == value ? "" : is_path ? "/tmp/x" : "optane";
      EXPECT_TRUE(is_taken(*row, fixed + behind)) << option.word << " " << fixed << behind;
    }
    // A medium is refused when it is opened: OptionTable.TheHelpNamesMediaThatTheStoreOpens.
    EXPECT_EQ(is_taken(*row, "nonsense:"), option.word == "medium") << option.word;
  }
  EXPECT_GE(lists, 4u);
}

TEST(OptionRecipe, ThePageHasEachRowAndItem) {
  const manual::Page page = nvcached_page();
  EXPECT_EQ(page.program.options.size(), option_rows().size());
  for (const manual::Option& option : page.program.options) {
    EXPECT_FALSE(option.help.empty()) << option.word;
    EXPECT_FALSE(option.group.empty()) << option.word;
    const size_t items = option.letter == 'o' ? extended_rows().size() : 0;
    EXPECT_EQ(option.items.size(), items) << option.word;
  }
}

}  // namespace
}  // namespace nvcache::server
