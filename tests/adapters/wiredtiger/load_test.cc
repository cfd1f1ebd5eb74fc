// Data under concurrent load with checkpoints and eviction: every read is compared.
#include <string>

#include "fmt/format.h"
#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

class TierTest : public ::testing::TestWithParam<NamedTier> {};

TEST_P(TierTest, DataIsRightUnderLoad) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open(tier_in(GetParam(), dir.path()))) << db.messages();
  VersionedTables tables({.create = "allocation_size=512,leaf_page_max=4KB"}, test_seed());
  tables.create_run_verify(db.get(), {});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  expect_served(db, GetParam().evicts);
}
INSTANTIATE_TEST_SUITE_P(Tiers, TierTest, ::testing::ValuesIn(all_tiers()),
                         [](const auto& tier) { return tier.param.name; });

struct Format {
  const char* name;
  TableShape shape;
  const char* connection = "";
  std::string extension = {};
};
std::ostream& operator<<(std::ostream& out, const Format& format) { return out << format.name; }

class FormatTest : public ::testing::TestWithParam<Format> {};

TEST_P(FormatTest, DataIsRightUnderLoad) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(
      db.open(tier_in(dram_clock(), dir.path()), GetParam().connection, GetParam().extension))
      << db.messages();
  VersionedTables tables(GetParam().shape, test_seed() + 1);
  tables.create_run_verify(db.get(), {.operations = 4000});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  expect_served(db);
}

const TableShape kOverflow = {
    .create = "allocation_size=512,leaf_page_max=4KB,leaf_value_max=1KB,memory_page_max=1MB",
    .keys = 4000,
    .long_value_bytes = 60000};

INSTANTIATE_TEST_SUITE_P(
    Formats, FormatTest,
    ::testing::Values(
        Format{"Allocation4K", {.create = "allocation_size=4KB,leaf_page_max=16KB"}},
        Format{"ManyTables",
               {.create = "allocation_size=512,leaf_page_max=4KB", .tables = 40, .keys = 600}},
        Format{"Overflow", kOverflow}, Format{"OverflowDirectIo", kOverflow, "direct_io=[data]"},
        Format{"Snappy",
               {.create = "allocation_size=512,leaf_page_max=8KB,block_compressor=snappy",
                .keys = 20000},
               "",
               fmt::format("\"{}\"", kSnappyExtension)},
        Format{
            "DirectIo512", {.create = "allocation_size=512,leaf_page_max=4KB"}, "direct_io=[data]"},
        Format{"DirectIo4K",
               {.create = "allocation_size=4KB,leaf_page_max=8KB"},
               "direct_io=[data,checkpoint]"},
        Format{"Logged", {}, "log=(enabled,file_max=1MB),transaction_sync=(enabled=false)"},
        Format{"FirstFitNoChecksum",
               // Without WiredTiger's checksums an old block is not an error: only this
               // comparison sees it.
               {.create = "allocation_size=512,leaf_page_max=4KB,block_allocation=first,"
                          "checksum=off"}}),
    [](const auto& format) { return format.param.name; });

// Pass-through: nothing is cached, everything is counted.
class PassThroughTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PassThroughTest, OnlyCounts) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open({.spec = GetParam()})) << db.messages();
  VersionedTables tables({}, test_seed());
  tables.create_run_verify(db.get(), {.operations = 2000});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db.stats();
  ASSERT_TRUE(stats.complete()) << stats.text();
  EXPECT_FALSE(stats.has_cache()) << stats.text();
  EXPECT_GT(stats.of_files("reads"), 1000u);
  EXPECT_EQ(stats.of_files("reads"), stats.of_files("disk_reads"));
  EXPECT_EQ(stats.of_files("served_reads"), 0u);
  EXPECT_EQ(stats.of_files("offers"), 0u);
  EXPECT_GT(stats.of_files("written_bytes"), 10'000'000u);
}
INSTANTIATE_TEST_SUITE_P(Specs, PassThroughTest, ::testing::Values("", "nvcache://?size=0"),
                         [](const auto& spec) {
                           return *spec.param == 0 ? "NoCache" : "SizeZero";
                         });

// The comparison itself must notice a wrong version, a lost key and a damaged value.
TEST(VersionedTablesTest, NoticesWhatIsWrong) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open_stock()) << db.messages();
  VersionedTables tables({.keys = 100}, test_seed());
  tables.create(db.get());
  VersionedTables before = tables.snapshot();
  tables.update(db.get(), 7);
  before.verify(db.get());
  EXPECT_NE(before.problem().find("version 2 and not 1"), std::string::npos) << before.problem();
  VersionedTables fewer = tables.snapshot();
  fewer.forget(1, 20, 20);
  fewer.verify(db.get());
  EXPECT_NE(fewer.problem().find("t1 key 20"), std::string::npos) << fewer.problem();
  tables.verify(db.get());
  ASSERT_GOOD(tables);

  std::string damaged = tables.value(0, 5, 1);
  damaged.back() = static_cast<char>(~damaged.back());
  WT_ITEM item{};
  item.data = damaged.data();
  item.size = damaged.size();
  EXPECT_EQ(tables.version_in(0, 5, item), 0u);
}

}  // namespace
}  // namespace nvcache::wt_test
