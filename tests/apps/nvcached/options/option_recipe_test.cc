// An option of nvcached is a field and a row, and the guide's line if it is nvcached's own:
// CONTRIBUTING's recipe. Help and guide agree with what the rows do.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "apps/nvcached/options/nvcached_options.h"
#include "apps/nvcached/options/option_table.h"
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

}  // namespace
}  // namespace nvcache::server
