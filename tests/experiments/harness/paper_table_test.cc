// The table of the papers' numbers: all of them are there, each once, each with a row that says
// where ours comes from; a wrong table is refused.
#include "experiments/harness/paper_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "experiments/reproduce/rows.h"
#include "kv_store/log/zone_survey.h"
#include "kv_store/write_cache/write_cache.h"

namespace nvcache::reproduce {
namespace {

using papers::paper_results_text;
using papers::parse_paper_results;
using papers::parse_statement;
using testing::HasSubstr;

constexpr std::string_view kHead = "id,paper,where,quantity,value,unit,condition\n";

std::vector<PaperResult> built_in() {
  const auto table = parse_paper_results(paper_results_text());
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? *table : std::vector<PaperResult>{};
}

std::string complaint(std::string_view lines) {
  const auto table = parse_paper_results(fmt::format("{}{}", kHead, lines));
  EXPECT_FALSE(table.ok());
  return table.ok() ? "" : std::string(table.status().message());
}

TEST(PaperTable, HasEachNumberOfThePapersOnce) {
  const auto table = built_in();
  EXPECT_EQ(table.size(), 95u);
  std::set<std::string> ids;
  std::map<std::string, int> papers;
  for (const PaperResult& result : table) {
    EXPECT_TRUE(ids.insert(result.id).second) << result.id;
    ++papers[result.paper];
  }
  EXPECT_EQ(papers[std::string(papers::kWritesHurt)], 34);
  EXPECT_EQ(papers[std::string(papers::kHybridCache)], 46);
  EXPECT_EQ(papers[std::string(papers::kNvmcached)], 15);
}

TEST(PaperTable, EachNumberHasOneRowAndEachRowANumber) {
  std::set<std::string> ids, rows;
  for (const PaperResult& result : built_in()) ids.insert(result.id);
  for (const Row& row : all_rows()) {
    EXPECT_TRUE(rows.insert(row.id).second) << "two rows for " << row.id;
    // A row that finds nothing has to say what would.
    if (row.basis != Basis::kTaken) {
      EXPECT_TRUE(!row.missing.empty() || !row.finders.empty()) << row.id;
    } else {
      EXPECT_FALSE(row.finders.empty()) << row.id;
      EXPECT_FALSE(row.about.empty()) << row.id;
    }
    if (row.basis == Basis::kFitted) {
      EXPECT_FALSE(row.about.empty()) << row.id;
    }
  }
  EXPECT_EQ(rows, ids);
}

TEST(PaperTable, GivesTheValueOfAnId) {
  EXPECT_EQ(papers::paper_value("dram-cache-32-256"), "12 / 200");
  EXPECT_EQ(papers::paper_number("tput-low"), 50);
  EXPECT_EQ(papers::paper_number("tco-64-0"), 0.72);
}

// Settings that no header of the store shows to an experiment.
TEST(PaperTable, SettingsAreThoseOfTheStore) {
  const Evidence nothing;
  std::map<std::string, double> ours;
  for (const Row& row : nvmcached_rows()) {
    if (row.basis != Basis::kTaken) continue;
    const auto finding = row.finders.at(0)(nothing);
    ASSERT_TRUE(finding) << row.id;
    ours[row.id] = finding->ours.parts.at(0).low;
  }
  EXPECT_EQ(ours["kv-write-mru"], KvWriteCache::kListLength);
  EXPECT_EQ(ours["kv-write-hits"], KvWriteCache::kHotWrites);
  EXPECT_EQ(ours["kv-hot-stable"], 100 * kKvStableShare);
}

// ---- Wrong tables ----

TEST(PaperTable, RefusesAnIdTwice) {
  EXPECT_THAT(complaint("a,nvcache-socc22,S1,q,1,%,\nb,nvcache-socc22,S1,q,1,%,\n"
                        "a,nvcache-socc22,S1,q,2,%,\n"),
              HasSubstr("line 4: a stands twice"));
}

TEST(PaperTable, RefusesFieldsTooFewOrTooMany) {
  EXPECT_THAT(complaint("a,nvcache-socc22,S1,q,1,%\n"), HasSubstr("6 fields; allowed are 7: id,"));
  EXPECT_THAT(complaint("a,nvcache-socc22,S1,q,1,%,x,y\n"), HasSubstr("8 fields"));
  EXPECT_THAT(complaint(",nvcache-socc22,S1,q,1,%,\n"), HasSubstr("no id"));
  EXPECT_THAT(complaint("a,nvcache-socc22,S1,,1,%,\n"), HasSubstr("no quantity"));
}

TEST(PaperTable, RefusesAnUnknownPaper) {
  EXPECT_THAT(complaint("a,fast25,S1,q,1,%,\n"),
              HasSubstr("paper 'fast25'; allowed are nvcache-socc22, hybrid-cache-atc21, "));
}

TEST(PaperTable, RefusesValuesThatAreNoNumbers) {
  for (const char* value : {"", "many", "1x", "2-1", "1-", "1/", "1//2", "nan", "inf"}) {
    EXPECT_THAT(complaint(fmt::format("a,nvcache-socc22,S1,q,{},%,\n", value)),
                HasSubstr("allowed are a number, LOW-HIGH"))
        << value;
  }
}

TEST(PaperTable, RefusesAnotherHeader) {
  const auto other = parse_paper_results("id,value\na,1\n");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("line 1: header 'id,value'"));
  EXPECT_FALSE(parse_paper_results("# nothing\n").ok());
}

// ---- Statements ----

TEST(Statement, UnderstandsRangesPartsAndClaims) {
  const Statement range = parse_statement("0.72-0.86", "ratio").value();
  EXPECT_EQ(range.parts[0].low, 0.72);
  EXPECT_EQ(range.parts[0].high, 0.86);
  const Statement parts = parse_statement("84.05/4.64/11.31", "%").value();
  ASSERT_EQ(parts.parts.size(), 3u);
  EXPECT_EQ(parts.parts[2].high, 11.31);
  EXPECT_EQ(parse_statement("40 / 100", "GB").value().parts[1].low, 100);
  EXPECT_EQ(parse_statement("3", "x (over)").value().claim, Claim::kAtLeast);
  EXPECT_EQ(parse_statement("1", "x (above)").value().claim, Claim::kAtLeast);
  EXPECT_EQ(parse_statement("45", "% (up to)").value().claim, Claim::kUpTo);
  EXPECT_EQ(parse_statement("0", "% (unchanged)").value().claim, Claim::kEquals);
  EXPECT_EQ(parse_statement("0.8", "GB/s (up to)").value().unit, "GB/s");
}

}  // namespace
}  // namespace nvcache::reproduce
