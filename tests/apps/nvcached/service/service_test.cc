// The counts that all connections share.
#include "apps/nvcached/service/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "apps/nvcached/service/stats_report.h"
#include "apps/nvcached/session_fixture.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

// Two `stats reset` at once took the same counts away twice: then totals were below zero.
TEST(Service, ResetsAtOnceTakeEachCountOnce) {
  SessionFixture fixture;
  std::atomic<bool> stop{false};
  std::vector<std::thread> resetting;
  for (int i = 0; i < 3; ++i) {
    resetting.emplace_back([&] {
      while (!stop) fixture.service.reset_totals();
    });
  }
  constexpr uint64_t kAsked = 20'000;
  uint64_t most = 0;
  for (uint64_t i = 0; i < kAsked; ++i) {
    fixture.counters.add(Count::kGetHits);
    most = std::max(most, fixture.count(Count::kGetHits));
  }
  stop = true;
  for (std::thread& each : resetting) each.join();
  EXPECT_LE(most, kAsked);
  fixture.service.reset_totals();
  EXPECT_EQ(fixture.count(Count::kGetHits), 0u);
}

// Any client may send `stats reset`. A monitor takes a counter that falls for a restart.
TEST(Service, AResetLeavesWhatMonitorsCount) {
  SessionFixture fixture;
  fixture.ask("get a\r\nget a\r\n");
  EXPECT_EQ(fixture.ask("stats reset\r\n"), "RESET\r\n");
  fixture.ask("get a\r\n");
  EXPECT_NE(fixture.ask("stats\r\n").find("STAT get_misses 1\r\n"), std::string::npos);
  EXPECT_NE(prometheus_metrics(fixture.service).find("\nnvcached_get_misses_total 3\n"),
            std::string::npos);
}

// A binary client's key may hold anything.
TEST(Service, AKeyForgesNoLineOfStatistics) {
  SessionFixture fixture;
  const std::string key = "a\r\nEND\r\nb c:d";
  fixture.service.set_detail(true);
  fixture.service.count_detail(key, KeyUse::kSet);
  EXPECT_EQ(fixture.ask("stats detail dump\r\n"),
            "PREFIX a%0D%0AEND%0D%0Ab%20c get 0 hit 0 set 1 del 0\r\nEND\r\n");
  ASSERT_EQ(fixture.service.items().store(key, "x", {}).status, ItemStatus::kOk);
  EXPECT_EQ(fixture.ask("stats cachedump 1 0\r\n"),
            "ITEM a%0D%0AEND%0D%0Ab%20c:d [1 b; 0 s]\r\nEND\r\n");
}

TEST(Service, AFileOfPasswordsMayBeginWithAByteOrderMark) {
  const TempDir directory;
  Settings settings = SessionFixture::make_settings();
  settings.auth_file = directory.path() + "/users";
  std::ofstream(settings.auth_file, std::ios::binary) << "\xef\xbb\xbfone:secret\r\ntwo:other\r\n";
  SessionFixture fixture(settings);
  ASSERT_TRUE(fixture.service.load_auth_file().ok());
  EXPECT_TRUE(fixture.service.authenticate("one", "secret"));
  EXPECT_TRUE(fixture.service.authenticate("two", "other"));
  EXPECT_FALSE(fixture.service.authenticate("\xef\xbb\xbfone", "secret"));
}

TEST(Service, TellsWithinTenSecondsThatTheDataFileIsLostOrThereAgain) {
  SessionFixture fixture;
  EXPECT_TRUE(fixture.service.new_warnings().empty());
  for (const bool lost : {true, false, true}) {
    fixture.store.set_file("/data/store", lost);
    EXPECT_TRUE(fixture.service.new_warnings().empty()) << "it looked just before";
    fixture.pass_time(10);
    const std::vector<std::string> warnings = fixture.service.new_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].starts_with(lost ? "the data file /data/store is not there any more"
                                           : "the data file /data/store is there again"),
              true)
        << warnings[0];
    EXPECT_NE(fixture.ask("stats\r\n")
                  .find(lost ? "STAT store_file_lost 1\r\n" : "STAT store_file_lost 0\r\n"),
              std::string::npos);
    fixture.pass_time(10);
    EXPECT_TRUE(fixture.service.new_warnings().empty()) << "once each";
  }
}

}  // namespace
}  // namespace nvcache::server
