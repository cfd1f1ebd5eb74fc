// The DRAM that a full cache takes per block is what docs/ARCHITECTURE.md says, for every eviction
// policy and three sizes of blocks.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/eviction/table.h"
#include "support/block_cache_fixture.h"
#include "support/checkout.h"

namespace nvcache {
namespace {

using test::make_block;

constexpr uint64_t kCacheBytes = uint64_t{256} << 20;
constexpr uint32_t kKiB[] = {4, 16, 28};
constexpr char kHeader[] = "| eviction | 4 KiB | 16 KiB | 28 KiB |";
// The page has whole bytes, and the tables of s3fifo, tinylfu and auto grow in steps.
constexpr double kSlack = 1.5;

// The page's figures: for each policy, bytes per block of 4, 16 and 28 KiB.
std::map<std::string, std::vector<double>> documented() {
  std::map<std::string, std::vector<double>> figures;
  std::ifstream page(checkout_folder() + "/docs/ARCHITECTURE.md");
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line == kHeader) in_table = true;
    if (!line.starts_with("|")) in_table = false;
    if (!in_table || !line.starts_with("| `")) continue;
    // | `name` | figure | ...
    std::istringstream cells(line);
    std::string name, cell;
    std::getline(std::getline(cells, name, '`'), name, '`');
    std::getline(cells, cell, '|');
    std::vector<double>& row = figures[name];
    while (std::getline(cells, cell, '|')) {
      EXPECT_TRUE(std::istringstream(cell) >> row.emplace_back()) << line;
    }
  }
  return figures;
}

double bytes_per_block(const EvictionRow& eviction, uint32_t block_bytes,
                       const std::string& settings) {
  const auto cache = test::open(
      "nvcache://?size=256MiB&maintenance=0&eviction=" + std::string(eviction.example) + settings);
  const std::vector<std::byte> block = make_block({1, 1}, block_bytes);
  // A little more than fits; twice, for second_touch.
  for (uint64_t i = 0; i < kCacheBytes / block_bytes * 101 / 100; ++i) {
    for (int n = 0; n < 2; ++n) cache->put({1, i}, block, Origin::kRead);
  }
  const Stats stats = cache->stats();
  EXPECT_GT(stats.blocks, kCacheBytes / block_bytes * 95 / 100);
  return static_cast<double>(stats.metadata_bytes) / static_cast<double>(stats.blocks);
}

// A page without its line breaks.
std::string text_of(const std::string& page) {
  std::ifstream file(checkout_folder() + "/docs/" + page);
  std::string text;
  for (std::string word; file >> word;) text += word + " ";
  return text;
}

class MetadataBudget : public testing::TestWithParam<EvictionRow> {};

INSTANTIATE_TEST_SUITE_P(Policies, MetadataBudget, testing::ValuesIn(kEvictionPolicies),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(MetadataBudget, IsWhatTheDocumentationSays) {
  const std::vector<double> figures = documented()[std::string(GetParam().name)];
  ASSERT_EQ(figures.size(), std::size(kKiB)) << "no row in docs/ARCHITECTURE.md";
  for (size_t i = 0; i < std::size(kKiB); ++i) {
    const double bytes =
        bytes_per_block(GetParam(), kKiB[i] << 10, "&admission=always&verify=always");
    RecordProperty("bytes_at_" + std::to_string(kKiB[i]) + "_KiB", std::to_string(bytes));
    EXPECT_LE(bytes, figures[i]) << kKiB[i] << " KiB";
    EXPECT_GE(bytes, figures[i] - kSlack) << kKiB[i] << " KiB";
  }
}

// The guides repeat the figures of the default, `auto`.
TEST(MetadataBudgetPages, GuidesSayTheFiguresOfTheDefault) {
  const std::vector<double> figures = documented()["auto"];
  ASSERT_EQ(figures.size(), std::size(kKiB));
  const std::string small = std::to_string(static_cast<int>(figures.front()));
  const std::string large = std::to_string(static_cast<int>(figures.back()));
  EXPECT_THAT(
      text_of("guide/c_and_cpp.md"),
      testing::HasSubstr("at most " + small + " bytes of DRAM per block of 4 KiB by default, " +
                         large + " per block of 28 KiB"));
  EXPECT_THAT(
      text_of("guide/rocksdb.md"),
      testing::HasSubstr("at most " + small + " bytes for each cached block of 4 KiB by default"));
  EXPECT_THAT(
      text_of("guide/wiredtiger.md"),
      testing::HasSubstr("at most " + large + " bytes for each cached block of 28 KiB by default"));
}

TEST_P(MetadataBudget, GhostsTakeTwoBytesMoreAndNoChecksumsFourLess) {
  const double verified = bytes_per_block(GetParam(), 4096, "&admission=always&verify=always");
  EXPECT_NEAR(bytes_per_block(GetParam(), 4096, "&admission=second_touch&verify=always"),
              verified + 2, 0.1);
  EXPECT_NEAR(bytes_per_block(GetParam(), 4096, "&admission=always&verify=never"), verified - 4,
              0.1);
}

}  // namespace
}  // namespace nvcache
