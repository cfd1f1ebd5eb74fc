// Reads of the past: checkpoint cursors, and backups copied from outside while the
// database goes on.
#include <filesystem>
#include <string>

#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

class PastTest : public ::testing::TestWithParam<NamedTier> {
 protected:
  PastTest() : db_(dir_.file("db")) {}
  void SetUp() override {
    ASSERT_WT_OK(db_.open(tier_in(GetParam(), dir_.path()))) << db_.messages();
  }
  TempDir dir_;
  Database db_;
};

TEST_P(PastTest, CheckpointCursorsReadWhatWas) {
  VersionedTables tables({.create = "allocation_size=512,leaf_page_max=4KB"}, test_seed());
  tables.create(db_.get());
  for (int round = 0; round < 3; ++round) {
    {
      // Takes the place of the one with the same name.
      Session session(db_.get());
      ASSERT_WT_OK(session->checkpoint(session.get(), "name=past"));
    }
    VersionedTables past = tables.snapshot();
    tables.run(db_.get(), {.operations = 1500,
                           .at_step = [&](int) { past.verify(db_.get(), "checkpoint=past"); }});
    past.verify(db_.get(), "checkpoint=past");
    ASSERT_GOOD(past) << db_.messages();
    tables.verify(db_.get());
    ASSERT_GOOD(tables) << db_.messages();
  }
  ASSERT_WT_OK(db_.close());
  expect_served(db_, GetParam().evicts);
}

// Copies what a backup cursor names, as a backup program would: without WiredTiger.
void copy_files(WT_CURSOR* backup, const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  int result = 0;
  int files = 0;
  while ((result = backup->next(backup)) == 0) {
    const char* name = nullptr;
    ASSERT_WT_OK(backup->get_key(backup, &name));
    std::filesystem::copy_file(from + "/" + name, to + "/" + name);
    ++files;
  }
  ASSERT_EQ(result, WT_NOTFOUND);
  ASSERT_GT(files, 4);
}

TEST_P(PastTest, ABackupHasWhatWasCheckpointed) {
  VersionedTables tables({.create = "allocation_size=512,leaf_page_max=4KB"}, test_seed());
  tables.create(db_.get());
  tables.run(db_.get(), {.operations = 1500});
  Session session(db_.get());
  ASSERT_WT_OK(session->checkpoint(session.get(), nullptr));
  VersionedTables past = tables.snapshot();
  WT_CURSOR* backup = nullptr;
  ASSERT_WT_OK(session->open_cursor(session.get(), "backup:", nullptr, nullptr, &backup));
  const std::string copy = dir_.file("copy");
  tables.run(db_.get(), {.operations = 2000, .at_step = [&](int step) {
                           if (step == 2) copy_files(backup, db_.home(), copy);
                         }});
  ASSERT_WT_OK(backup->close(backup));
  tables.verify(db_.get());
  ASSERT_GOOD(tables) << db_.messages();

  Database copied(copy);
  ASSERT_WT_OK(copied.open_stock()) << copied.messages();
  past.verify(copied.get());
  ASSERT_GOOD(past) << copied.messages();
  ASSERT_WT_OK(copied.close());
  // And with the extension, beside the connection that is open.
  ASSERT_WT_OK(copied.open(tier_in(dram_clock(), dir_.path()))) << copied.messages();
  past.verify(copied.get());
  past.run(copied.get(), {.operations = 500});
  past.verify(copied.get());
  ASSERT_GOOD(past) << copied.messages();
  ASSERT_WT_OK(copied.close());
  expect_served(copied);
  tables.verify(db_.get());
  ASSERT_GOOD(tables) << db_.messages();
}

INSTANTIATE_TEST_SUITE_P(Tiers, PastTest,
                         ::testing::Values(all_tiers()[0], all_tiers()[3], all_tiers()[5],
                                           all_tiers()[6]),
                         [](const auto& tier) { return tier.param.name; });

}  // namespace
}  // namespace nvcache::wt_test
