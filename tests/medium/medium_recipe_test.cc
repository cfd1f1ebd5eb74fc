// A medium is its two sources, a row and its parser's name in table.h, its test, and its lines in
// the guide: CONTRIBUTING's recipe. Nothing else names a medium, or asks which one it is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/table.h"
#include "support/checkout.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of src, by their paths below it.
std::vector<std::string> sources() {
  const fs::path root = fs::path(checkout_folder()) / "src";
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string end = entry.path().extension();
    if (end == ".cc" || end == ".h") names.push_back(fs::relative(entry.path(), root));
  }
  EXPECT_GT(names.size(), 100u);
  return names;
}

// Without comments: they may say what they like.
std::string code_of(const std::string& source) {
  static const std::regex comment("//[^\n]*");
  const std::string text = contents_of(fs::path(checkout_folder()) / "src" / source);
  return std::regex_replace(text, comment, "");
}

// The specifications in the guide's table of media, and whether they can hold a store.
std::map<std::string, bool> media_in_the_guide() {
  std::map<std::string, bool> media;
  std::ifstream page(checkout_folder() + "/docs/guide/configuration.md");
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) in_table = false;
    if (line.starts_with("| medium | what |")) in_table = true;
    constexpr std::string_view kCell = "| `";
    if (!in_table || !line.starts_with(kCell)) continue;
    media.emplace(line.substr(kCell.size(), line.find('`', kCell.size()) - kCell.size()),
                  line.ends_with(" yes |"));
  }
  return media;
}

TEST(MediumRecipe, TheGuideHasEachRowWithItsOptionsAndNoOther) {
  const std::map<std::string, bool> media = media_in_the_guide();
  for (const MediumRow& row : kMedia) {
    const std::string plain = fmt::format("{}{}", row.prefix, row.place);
    ASSERT_TRUE(media.contains(plain)) << plain;
    EXPECT_EQ(media.at(plain), row.holds_store) << plain;
    for (const std::string_view option : row.options) {
      const std::string name = fmt::format(",{}=", split_once(option, '=').first);
      if (row.prefix == "file:") continue;  // io=mmap is the default: io=direct alone is shown
      EXPECT_TRUE(std::ranges::any_of(media,
                                      [&](const auto& each) {
                                        return each.first.starts_with(plain) &&
                                               each.first.find(name) != each.first.npos;
                                      }))
          << plain << name;
    }
  }
  for (const auto& [each, holds_store] : media) {
    EXPECT_NE(find_medium_row(each), nullptr) << each;
  }
}

TEST(MediumRecipe, ExamplesWorkAndShowEveryOption) {
  for (const MediumRow& row : kMedia) {
    std::string examples;
    for (const std::string_view example : row.examples) {
      EXPECT_EQ(check_medium(example), ok_status()) << example;
      EXPECT_EQ(find_medium_row(example), &row) << example;
      EXPECT_EQ(place_of_medium(example).empty(),
                example.find("PATH") == example.npos && example.find("DEVICE") == example.npos)
          << example;
      examples += fmt::format("{} ", example);
    }
    for (const std::string_view option : row.options) {
      const auto name = split_once(option, '=').first;
      EXPECT_TRUE(is_medium_option(name)) << option;
      EXPECT_THAT(examples, testing::HasSubstr(fmt::format(",{}=", name)));
    }
    EXPECT_THAT(media_help(), testing::HasSubstr(usage_of(row)));
    EXPECT_THAT(allowed_media(), testing::HasSubstr(usage_of(row)));
  }
}

TEST(MediumRecipe, OnlyItsOwnFilesAndTheTableNameAMedium) {
  for (const std::string& source : sources()) {
    if (source.starts_with("medium/")) continue;
    const std::string code = code_of(source);
    for (const MediumRow& row : kMedia) {
      for (const std::string_view name : {row.prefix, row.alias}) {
        if (!name.ends_with(':')) continue;  // "dram" is a tiered cache's setting, too
        EXPECT_EQ(code.find(fmt::format("\"{}", name)), code.npos) << source << ": " << name;
      }
    }
    EXPECT_EQ(code.find("traits().name =="), code.npos) << source << " asks which medium it is";
    EXPECT_EQ(code.find("traits.name !="), code.npos) << source << " asks which medium it is";
  }
}

// The smallest one with a name of its own: three files of src.
TEST(MediumRecipe, AMediumTouchesThreeSources) {
  std::set<std::string> touched;
  for (const std::string& source : sources()) {
    const std::string code = code_of(source);
    if (code.find("numa") != code.npos || code.find("Numa") != code.npos) touched.insert(source);
  }
  EXPECT_THAT(touched, testing::ElementsAre("medium/numa.cc", "medium/numa.h", "medium/table.h"));
}

}  // namespace
}  // namespace nvcache
