// Operations that change files under the cache: compact, salvage, alter, rename, drop and create
// again, truncate, bulk load. The data is verified before, which fills the cache, and after.
#include <filesystem>
#include <string>

#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

const TableShape kSmallBlocks = {.create = "allocation_size=512,leaf_page_max=4KB", .keys = 12000};

// Buffered and direct reads of the data files.
class MaintenanceTest : public ::testing::TestWithParam<const char*> {
 protected:
  MaintenanceTest() : db_(dir_.file("db")) {}
  void SetUp() override { ASSERT_WT_OK(db_.open(small_tier(), GetParam())) << db_.messages(); }

  // For 12 MB of data beside 5 MB of WiredTiger's cache. With 2 MB a run once hung: its four
  // threads waited for WiredTiger's eviction for ever.
  static Tier small_tier() {
    return {.spec = "nvcache://?size=4MiB&admission=always&eviction=clock"};
  }
  // Loads and reads, so that much of the tables lies in the cache.
  void warm(VersionedTables& tables, uint32_t remove_percent = 3) {
    tables.create_run_verify(db_.get(), {.operations = 800, .remove_percent = remove_percent});
    ASSERT_GOOD(tables) << db_.messages();
  }
  void verify_and_close(VersionedTables& tables) {
    tables.verify(db_.get());
    tables.verify(db_.get());
    ASSERT_GOOD(tables) << db_.messages();
    ASSERT_WT_OK(db_.close());
    expect_served(db_);
    ASSERT_WT_OK(db_.open_stock()) << db_.messages();
    tables.verify(db_.get());
    ASSERT_GOOD(tables) << "read by stock WiredTiger: " << db_.messages();
  }
  // Operations on a whole table are refused while its pages are dirty or in use.
  template <typename Operation>
  [[nodiscard]] int when_not_busy(const Operation& operation) {
    Session session(db_.get());
    int result = EBUSY;
    for (int i = 0; i < 100 && result == EBUSY; ++i) {
      EXPECT_WT_OK(session->checkpoint(session.get(), nullptr));
      result = operation(session.get());
    }
    return result;
  }
  uint64_t file_bytes(const std::string& name) const {
    return std::filesystem::file_size(db_.home() + "/" + name + ".wt");
  }
  [[nodiscard]] int truncate(VersionedTables& tables, uint32_t table, uint64_t first,
                             uint64_t last) {
    Session session(db_.get());
    WT_CURSOR* from = nullptr;
    WT_CURSOR* to = nullptr;
    for (WT_CURSOR** cursor : {&from, &to}) {
      EXPECT_WT_OK(
          session->open_cursor(session.get(), tables.uri(table).c_str(), nullptr, nullptr, cursor));
    }
    from->set_key(from, first);
    to->set_key(to, last);
    const int result = session->truncate(session.get(), nullptr, from, to, nullptr);
    tables.forget(table, static_cast<uint32_t>(first), static_cast<uint32_t>(last));
    return result;
  }

  TempDir dir_;
  Database db_;
};

TEST_P(MaintenanceTest, Compact) {
  VersionedTables tables(kSmallBlocks, test_seed());
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  ASSERT_WT_OK(truncate(tables, 0, 1000, 11000));
  const uint64_t before = file_bytes("t0");
  ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
    return session->compact(session, tables.uri(0).c_str(), "free_space_target=1MB");
  }));
  EXPECT_LT(file_bytes("t0"), before) << "compact did nothing";
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, CompactUnderLoad) {
  VersionedTables tables(kSmallBlocks, test_seed() + 1);
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  ASSERT_WT_OK(truncate(tables, 0, 1000, 11000));
  ASSERT_WT_OK(truncate(tables, 1, 0, 8000));
  tables.run(
      db_.get(),
      {.operations = 1200, .at_step = [&](int step) {
         Session session(db_.get());
         const int result =
             session->compact(session.get(), tables.uri(step % 2).c_str(), "free_space_target=1MB");
         // Under load it may give up; what it moved must be right.
         EXPECT_TRUE(result == 0 || result == EBUSY || result == WT_ROLLBACK || result == ETIMEDOUT)
             << wiredtiger_strerror(result);
       }});
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, VerifyAndSalvage) {
  VersionedTables tables(kSmallBlocks, test_seed() + 2);
  // Salvage may bring removed keys back, so none is.
  ASSERT_NO_FATAL_FAILURE(warm(tables, /*remove_percent=*/0));
  ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
    return session->verify(session, tables.uri(0).c_str(), nullptr);
  }));
  for (uint32_t table = 0; table < 2; ++table) {
    ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
      return session->salvage(session, tables.uri(table).c_str(), "force");
    }));
  }
  ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
    return session->verify(session, tables.uri(1).c_str(), nullptr);
  }));
  tables.run(db_.get(), {.operations = 1000});
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, Alter) {
  VersionedTables tables(kSmallBlocks, test_seed() + 3);
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
    return session->alter(session, tables.uri(0).c_str(),
                          "access_pattern_hint=random,cache_resident=false,app_metadata=\"x\"");
  }));
  tables.run(db_.get(), {.operations = 1000});
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, RenamedAndTheOldNameUsedAgain) {
  VersionedTables tables(kSmallBlocks, test_seed() + 4);
  VersionedTables renamed(kSmallBlocks, test_seed() + 4, "renamed");
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  for (uint32_t table = 0; table < 2; ++table) {
    ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
      return session->rename(session, tables.uri(table).c_str(), renamed.uri(table).c_str(),
                             nullptr);
    }));
  }
  renamed = tables.snapshot("renamed");
  renamed.verify(db_.get());
  ASSERT_GOOD(renamed) << db_.messages();

  // The same keys with other values of about the same size at the same places.
  VersionedTables others(kSmallBlocks, test_seed() + 5);
  ASSERT_NO_FATAL_FAILURE(warm(others));
  renamed.run(db_.get(), {.operations = 1000});
  renamed.verify(db_.get());
  ASSERT_GOOD(renamed) << db_.messages();
  verify_and_close(others);
}

TEST_P(MaintenanceTest, DroppedAndCreatedAgainWithOtherData) {
  for (uint64_t round = 0; round < 2; ++round) {
    VersionedTables tables(kSmallBlocks, test_seed() + 10 + round);
    ASSERT_NO_FATAL_FAILURE(warm(tables));
    for (uint32_t table = 0; table < 2; ++table) {
      ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
        return session->drop(session, tables.uri(table).c_str(), nullptr);
      }));
    }
  }
  VersionedTables tables(kSmallBlocks, test_seed() + 20);
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, Truncate) {
  VersionedTables tables(kSmallBlocks, test_seed() + 6);
  ASSERT_NO_FATAL_FAILURE(warm(tables));
  ASSERT_WT_OK(truncate(tables, 0, 2000, 9000));
  ASSERT_WT_OK(when_not_busy([&](WT_SESSION* session) {
    return session->truncate(session, tables.uri(1).c_str(), nullptr, nullptr, nullptr);
  }));
  tables.forget(1, 0, kSmallBlocks.keys - 1);
  tables.verify(db_.get());
  tables.run(db_.get(), {.operations = 1000});
  tables.update(db_.get(), 3);
  verify_and_close(tables);
}

TEST_P(MaintenanceTest, BulkLoad) {
  VersionedTables tables(kSmallBlocks, test_seed() + 7);
  tables.create_in_bulk(db_.get());
  tables.verify(db_.get());
  tables.run(db_.get(), {.operations = 1000});
  verify_and_close(tables);
}

INSTANTIATE_TEST_SUITE_P(Io, MaintenanceTest,
                         ::testing::Values("cache_size=5MB", "cache_size=5MB,direct_io=[data]"),
                         [](const auto& io) {
                           return std::string(io.param).ends_with("5MB") ? "Buffered" : "Direct";
                         });

}  // namespace
}  // namespace nvcache::wt_test
