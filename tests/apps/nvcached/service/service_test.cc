// What all connections share: their counts.
#include "apps/nvcached/service/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "apps/nvcached/session_fixture.h"

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
