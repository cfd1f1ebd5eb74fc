// The tables of policies agree with themselves and with the documentation.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/verdict.h"
#include "policy/admission/table.h"
#include "policy/eviction/table.h"
#include "policy/placement/table.h"
#include "support/checkout.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

// configuration.md, in any folder of docs/.
fs::path configuration_page() {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(checkout_folder()) / "docs")) {
    std::string name = entry.path().filename().string();
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name == "configuration.md") return entry.path();
  }
  return {};
}

// The first policy's name in each row of each Markdown table that has "policy" over its first
// column: "lfru" of "| `lfru`, `lfru(SECONDS)` | ... |".
std::set<std::string> documented_policies(const fs::path& page) {
  std::set<std::string> names;
  std::ifstream file(page);
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("|")) in_table = false;
    if (line.starts_with("| policy |")) in_table = true;
    constexpr std::string_view kCell = "| `";
    if (!in_table || !line.starts_with(kCell)) continue;
    names.insert(line.substr(kCell.size(), line.find_first_of("`(", kCell.size()) - kCell.size()));
  }
  return names;
}

template <typename Table>
void add_names(const Table& table, std::vector<std::string>* names) {
  for (const auto& row : table) names->emplace_back(row.name);
}

std::vector<std::string> names_of_all_rows() {
  std::vector<std::string> names;
  add_names(kAdmissionPolicies, &names);
  add_names(kEvictionPolicies, &names);
  add_names(kPlacementPolicies, &names);
  return names;
}

TEST(PolicyTables, TheDocumentationListsEachPolicyAndNoOther) {
  const fs::path page = configuration_page();
  ASSERT_FALSE(page.empty()) << "no CONFIGURATION.md below " << checkout_folder() << "/docs";
  const std::vector<std::string> rows = names_of_all_rows();
  const std::set<std::string> documented = documented_policies(page);
  EXPECT_EQ(documented, std::set<std::string>(rows.begin(), rows.end())) << page;
}

TEST(PolicyTables, NamesAreUnique) {
  const std::vector<std::string> rows = names_of_all_rows();
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), rows.size());
}

// What `make` says of a name that no table has.
template <typename Table, typename Make>
void expect_rows_are_whole(const Table& table, Make&& make) {
  const std::string refusal(make("no_such_policy").status().message());
  for (const auto& row : table) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(row.usage.starts_with(row.name)) << row.usage;
    EXPECT_TRUE(row.example.starts_with(row.name)) << row.example;
    EXPECT_TRUE(make(row.example).ok()) << row.example;
    EXPECT_NE(refusal.find(row.usage), std::string::npos) << refusal;
    const std::string bad(row.name);
    const Status status = make(bad + "(1,2,3,4,5)").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(PolicyTables, EachRowHasAnExampleThatWorksAndErrorsListIt) {
  expect_rows_are_whole(kAdmissionPolicies,
                        [](std::string_view spec) { return make_admission(spec, {}); });
  expect_rows_are_whole(kEvictionPolicies,
                        [](std::string_view spec) { return make_eviction(spec, {}); });
  expect_rows_are_whole(kPlacementPolicies,
                        [](std::string_view spec) { return make_placement(spec); });
}

TEST(Verdict, EveryReasonOfARefusalIsExplained) {
  std::set<std::string> explained;
  std::ifstream page(configuration_page());
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) in_table = false;
    if (line.starts_with("| reason |")) in_table = true;
    if (!in_table) continue;
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    for (size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
      const size_t end = cell.find('`', at + 1);
      explained.insert(cell.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  std::set<std::string> reasons;
  for (size_t i = 1; i < kReasonCount; ++i) {
    reasons.emplace(reason_name(static_cast<Reason>(i)));
  }
  EXPECT_EQ(explained, reasons);
  EXPECT_EQ(reasons.size(), kReasonCount - 1) << "two reasons have one name";
}

// The numbers are the C interface's: one that comes in between moves these.
TEST(Verdict, ANewReasonComesLast) {
  EXPECT_EQ(reason_name(Reason{0}), "admitted");
  EXPECT_EQ(reason_name(Reason{1}), "small_dataset");
  EXPECT_EQ(reason_name(Reason{14}), "outside_policy");
  EXPECT_EQ(reason_name(Reason{kReasonCount}), "unknown");
}

}  // namespace
}  // namespace nvcache
