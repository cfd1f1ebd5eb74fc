// Connections and files that come and go; configurations that are refused; the
// statistics files.
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

using std::chrono::steady_clock;

// Waits for what WiredTiger or the extension does sooner or later.
template <typename Condition>
[[nodiscard]] bool comes_true(const Condition& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

int64_t connection_statistic(WT_CONNECTION* connection, int key) {
  Session session(connection);
  WT_CURSOR* cursor = nullptr;
  EXPECT_WT_OK(session->open_cursor(session.get(), "statistics:", nullptr, nullptr, &cursor));
  cursor->set_key(cursor, key);
  EXPECT_WT_OK(cursor->search(cursor));
  const char* description = nullptr;
  const char* text = nullptr;
  int64_t value = 0;
  EXPECT_WT_OK(cursor->get_value(cursor, &description, &text, &value));
  EXPECT_WT_OK(cursor->close(cursor));
  return value;
}

TEST(LifecycleTest, ConnectionsClosedAndOpenedAgain) {
  TempDir dir;
  Database db(dir.file("db"));
  VersionedTables tables({.create = "allocation_size=512,leaf_page_max=4KB"}, test_seed());
  for (int round = 0; round < 3; ++round) {
    for (const NamedTier& tier : {all_tiers()[0], all_tiers()[4], all_tiers()[5]}) {
      ASSERT_WT_OK(db.open(tier_in(tier, dir.path()))) << db.messages();
      if (round == 0 && tier.name == dram_clock().name) tables.create(db.get());
      tables.verify(db.get());
      tables.run(db.get(), {.operations = 500});
      ASSERT_GOOD(tables) << tier.name << " " << db.messages();
      ASSERT_WT_OK(db.close());
      expect_served(db, false);
    }
    // Somebody else changes the files in between.
    ASSERT_WT_OK(db.open_stock()) << db.messages();
    tables.update(db.get(), 5);
    tables.verify(db.get());
    ASSERT_GOOD(tables);
    ASSERT_WT_OK(db.close());
  }
}

TEST(LifecycleTest, IdleFilesAreClosedAndOpenedAgain) {
  TempDir dir;
  Database db(dir.file("db"));
  const std::string sweep =
      "statistics=(fast),file_manager=(close_idle_time=1,close_scan_interval=1,"
      "close_handle_minimum=0)";
  ASSERT_WT_OK(db.open({.spec = "nvcache://?size=32MiB&admission=always&eviction=clock"}, sweep))
      << db.messages();
  VersionedTables tables(
      {.create = "allocation_size=512,leaf_page_max=4KB", .tables = 20, .keys = 1500}, test_seed());
  tables.create_run_verify(db.get(), {.operations = 1500});
  for (int round = 0; round < 2; ++round) {
    const int64_t before = connection_statistic(db.get(), WT_STAT_CONN_DH_SWEEP_REMOVE);
    ASSERT_TRUE(comes_true([&] {
      Session session(db.get());
      EXPECT_WT_OK(session->checkpoint(session.get(), nullptr));
      return connection_statistic(db.get(), WT_STAT_CONN_DH_SWEEP_REMOVE) >= before + 10;
    })) << "WiredTiger closed no idle files";
    tables.verify(db.get());
    tables.update(db.get(), 4);
    tables.verify(db.get());
    ASSERT_GOOD(tables) << db.messages();
  }
  ASSERT_WT_OK(db.close());
  expect_served(db, false);
}

TEST(LifecycleTest, StatisticsFilesAreWrittenAtIntervalsAndOnClose) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  Database db(dir.file("db"));
  const std::string prometheus = dir.file("m.prom");
  ASSERT_WT_OK(db.open({.spec = "nvcache://?size=8MiB&admission=always",
                        .more = "prometheus=\"" + prometheus + "\""}))
      << db.messages();
  VersionedTables tables({}, test_seed());
  tables.create_run_verify(db.get(), {.operations = 500});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_TRUE(comes_true([&] {
    const TierStats now = db.stats();
    return now.complete() && now.of_files("served_reads") > 0;
  })) << db.stats().text();
  const uint64_t early = db.stats().of_files("reads");
  tables.verify(db.get());
  ASSERT_WT_OK(db.close());
  const TierStats last = db.stats();
  EXPECT_GT(last.of_files("reads"), early);
  EXPECT_TRUE(last.has_cache());
  std::ifstream file(prometheus);
  std::stringstream text;
  text << file.rdbuf();
  for (const char* part : {"# HELP nvcache_", "# TYPE nvcache_", "nvcache_hits_total "}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << " is not in " << text.str();
  }
}

// WiredTiger's own way to write lists, for programs that cannot quote a specification.
TEST(LifecycleTest, ACacheWrittenAsAList) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(
      db.open({.more = "cache=(size=6MiB,medium=dram,admission=[second_touch,obp=[0.3,window]],"
                       "eviction=clock)"}))
      << db.messages();
  VersionedTables tables({}, test_seed());
  tables.create_run_verify(db.get(), {.operations = 500});
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  ASSERT_TRUE(db.stats().has_cache()) << db.stats().text();
  EXPECT_NE(db.stats().text().find("second_touch+obp(0.3,window"), std::string::npos)
      << db.stats().text();
}

TEST(LifecycleTest, DatabasesOfAProcessShareACacheInAFile) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  const Tier tier = tier_in(all_tiers()[5], dir.path());
  Database one(dir.file("one"));
  Database two(dir.file("two"));
  VersionedTables of_one({}, test_seed());
  VersionedTables of_two({}, test_seed() + 1);
  ASSERT_WT_OK(one.open(tier)) << one.messages();
  ASSERT_WT_OK(two.open(tier)) << two.messages();
  of_one.create(one.get());
  of_two.create(two.get());
  for (int round = 0; round < 3; ++round) {
    of_one.run(one.get(), {.operations = 500});
    of_two.run(two.get(), {.operations = 500});
  }
  of_one.verify(one.get());
  of_two.verify(two.get());
  // One goes, the other stays; then the last one goes, and the next opens the file anew at once.
  ASSERT_WT_OK(one.close());
  of_two.run(two.get(), {.operations = 500});
  of_two.verify(two.get());
  ASSERT_WT_OK(one.open(tier)) << one.messages();
  of_one.run(one.get(), {.operations = 500});
  of_one.verify(one.get());
  ASSERT_WT_OK(two.close());
  ASSERT_WT_OK(one.close());
  ASSERT_WT_OK(two.open(tier)) << two.messages();
  of_two.run(two.get(), {.operations = 500});
  of_two.verify(two.get());
  ASSERT_WT_OK(two.close());
  ASSERT_GOOD(of_one) << one.messages();
  ASSERT_GOOD(of_two) << two.messages();
  EXPECT_EQ(one.messages().find("without a cache"), std::string::npos) << one.messages();
  EXPECT_EQ(two.messages().find("without a cache"), std::string::npos) << two.messages();
  expect_served(one, false);
  expect_served(two, false);
}

TEST(LifecycleTest, AnotherCacheInTheFileOfADatabaseIsRefused) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  const Tier tier = tier_in(all_tiers()[5], dir.path());
  Tier other = tier;
  other.spec.replace(other.spec.find("6MiB"), 4, "7MiB");
  Database one(dir.file("one"));
  Database two(dir.file("two"));
  ASSERT_WT_OK(one.open(tier)) << one.messages();
  EXPECT_EQ(two.open(other), EINVAL);
  EXPECT_NE(two.messages().find("another database of this process has it open otherwise"),
            std::string::npos)
      << two.messages();
  ASSERT_WT_OK(one.close());
  ASSERT_WT_OK(two.open(other)) << two.messages();
  ASSERT_WT_OK(two.close());
}

// A configuration that is refused, and the words that its message must have.
struct Wrong {
  const char* name;
  Tier tier;
  std::vector<const char*> said;
};
std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.name; }

class WrongConfigTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongConfigTest, IsRefusedWithWhatIsAllowedAndHarmsNothing) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  const std::string home = dir.file("db");
  VersionedTables tables({.tables = 1, .keys = 1000}, test_seed());
  {
    Database db(home);
    ASSERT_WT_OK(db.open_stock()) << db.messages();
    tables.create(db.get());
    ASSERT_WT_OK(db.close());
  }
  Database refused(home);
  EXPECT_NE(refused.open(GetParam().tier), 0);
  for (const char* part : GetParam().said) {
    EXPECT_NE(refused.messages().find(part), std::string::npos)
        << "'" << part << "' is not in: " << refused.messages();
  }
  Database db(home);
  ASSERT_WT_OK(db.open(tier_in(dram_clock(), dir.path()))) << db.messages();
  tables.verify(db.get());
  tables.update(db.get());
  tables.verify(db.get());
  ASSERT_GOOD(tables) << db.messages();
}

INSTANTIATE_TEST_SUITE_P(
    Configs, WrongConfigTest,
    ::testing::Values(
        Wrong{
            "SpecKey", {.spec = "nvcache://?size=8MiB&admision=always"}, {"admision", "admission"}},
        Wrong{"NoSize", {.spec = "nvcache://?medium=dram"}, {"size"}},
        Wrong{"Medium", {.spec = "nvcache://?size=8MiB&medium=dimm"}, {"dimm", "dram, file:PATH"}},
        Wrong{"Policy", {.spec = "nvcache://?size=8MiB&eviction=lfu"}, {"lfu", "lfru"}},
        Wrong{"WarmRestart",
              {.spec = "nvcache://?size=20MiB&space=regions&restart=warm&keys=immutable"},
              {"restart: warm given", "allowed under WiredTiger", "cold"}},
        Wrong{"NotASpec", {.spec = "yes"}, {"yes", "nvcache://"}},
        Wrong{"ExtensionKey", {.more = "cash=1"}, {"cash", "cache, writes"}},
        Wrong{"Writes", {.writes = "sometimes"}, {"sometimes", "offer, update, skip"}},
        Wrong{"Interval", {.more = "stats_interval=soon"}, {"soon", "seconds"}},
        Wrong{"NegativeInterval", {.more = "stats_interval=-1"}, {"-1", "seconds"}}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(WrongConfigTest, LateLoadingIsRefusedAndSaysSo) {
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  TempDir dir;
  Database db(dir.file("db"));
  EXPECT_NE(db.open_as("create,extensions=[\"" + extension_path() + "\"]"), 0);
  EXPECT_NE(db.messages().find("early_load=true"), std::string::npos) << db.messages();
}

}  // namespace
}  // namespace nvcache::wt_test
