// The meaning of requests: memcached's semantics over any KvStore.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "apps/nvcached/service/metrics_table.h"
#include "apps/nvcached/service/stats_report.h"
#include "apps/nvcached/session_fixture.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Items, ExpireRelativeAbsoluteAndAtOnce) {
  SessionFixture fixture;
  fixture.ask("set relative 0 10 1\r\nx\r\n");
  fixture.ask("set absolute 0 " + std::to_string(fixture.now_s + 20) + " 1\r\nx\r\n");
  fixture.ask("set past 0 " + std::to_string(fixture.now_s - 1) + " 1\r\nx\r\n");
  fixture.ask("set never 0 0 1\r\nx\r\nset gone 0 -1 1\r\nx\r\n");
  const auto there = [&](std::string_view key) {
    return fixture.ask("mg " + std::string(key) + "\r\n") == "HD\r\n";
  };
  EXPECT_TRUE(there("relative"));
  EXPECT_TRUE(there("absolute"));
  EXPECT_FALSE(there("past"));
  EXPECT_FALSE(there("gone"));
  fixture.pass_time(10);
  EXPECT_TRUE(there("relative")) << "stored late in its second, it is not 10 s old";
  EXPECT_TRUE(there("absolute"));
  fixture.pass_time(1);
  EXPECT_FALSE(there("relative"));
  fixture.pass_time(9);
  EXPECT_FALSE(there("absolute"));
  EXPECT_TRUE(there("never"));
}

// Clients name times by the wall clock as it is now, which an administrator or NTP may have set
// since the start. Items that are there do not move.
TEST(Items, AbsoluteTimesFollowTheWallClock) {
  for (const int ahead_s : {-3600, 3600}) {
    SCOPED_TRACE(ahead_s);
    SessionFixture fixture;
    fixture.ask("set before 0 " + std::to_string(fixture.now_s + 20) + " 1\r\nx\r\n");
    fixture.ask("set relative 0 20 1\r\nx\r\n");
    fixture.wall_ahead_s = static_cast<uint32_t>(ahead_s);
    const uint32_t wall_s = fixture.now_s + fixture.wall_ahead_s;
    fixture.ask("set after 0 " + std::to_string(wall_s + 20) + " 1\r\nx\r\n");
    fixture.ask("set past 0 " + std::to_string(wall_s - 1) + " 1\r\nx\r\n");
    EXPECT_THAT(fixture.ask("stats\r\n"), HasSubstr("STAT time " + std::to_string(wall_s)));
    EXPECT_THAT(fixture.ask("lru_crawler metadump all\r\n"),
                HasSubstr("key=after exp=" + std::to_string(wall_s + 20)));
    EXPECT_EQ(fixture.ask("mg past\r\n"), "EN\r\n");
    fixture.pass_time(19);
    for (const char* key : {"before", "relative", "after"}) {
      EXPECT_EQ(fixture.ask(std::string("mg ") + key + "\r\n"), "HD\r\n") << key;
    }
    fixture.pass_time(2);
    for (const char* key : {"before", "relative", "after"}) {
      EXPECT_EQ(fixture.ask(std::string("mg ") + key + "\r\n"), "EN\r\n") << key;
    }
  }
}

TEST(Items, AnAbsoluteTimeMayBeAsLateAsCanBe) {
  SessionFixture fixture;
  fixture.wall_ahead_s = static_cast<uint32_t>(-3600);  // the store's clock is ahead
  for (const char* exptime : {"4294967296", "9223372036854775807"}) {
    EXPECT_EQ(fixture.ask(std::string("set late 0 ") + exptime + " 1\r\nx\r\n"), "STORED\r\n");
    fixture.pass_time(1000);
    EXPECT_EQ(fixture.ask("mg late\r\n"), "HD\r\n") << exptime;
  }
}

// The server reads its clock once a second, and an item may be stored just before it does.
TEST(Items, AnItemLivesAsLongAsAskedHoweverLateTheServersClockIs) {
  SessionFixture fixture;
  fixture.now_s += 1;  // without a tick
  EXPECT_EQ(fixture.ask("set a 0 1 1\r\nx\r\nmg a t\r\n"), "STORED\r\nHD t1\r\n");
  fixture.pass_time(1);
  EXPECT_EQ(fixture.ask("mg a t\r\n"), "HD t0\r\n");
  fixture.pass_time(1);
  EXPECT_EQ(fixture.ask("mg a t\r\n"), "EN\r\n");
}

TEST(ItemHints, AFetchNeverTakesAWinBack) {
  for (int round = 0; round < 200; ++round) {
    ItemHints hints(4);
    std::atomic<bool> over{false};
    std::thread fetcher([&] {
      for (uint32_t now_s = 1; !over; ++now_s) hints.fetched("key", now_s);
    });
    int wins = 0;
    for (int i = 0; i < 2000; ++i) wins += hints.win("key", 1) ? 1 : 0;
    over = true;
    fetcher.join();
    ASSERT_EQ(wins, 1) << "round " << round;
  }
}

TEST(Items, CompareAndSwap) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 1\r\nx\r\n");
  const std::string cas = std::to_string(fixture.store.get("a").meta.cas);
  EXPECT_EQ(fixture.ask("cas a 0 0 1 " + cas + "\r\ny\r\n"), "STORED\r\n");
  EXPECT_EQ(fixture.ask("cas a 0 0 1 " + cas + "\r\nz\r\n"), "EXISTS\r\n");
  EXPECT_EQ(fixture.ask("cas a 0 0 1 0\r\nz\r\n"), "EXISTS\r\n");
  EXPECT_EQ(fixture.ask("cas none 0 0 1 1\r\nz\r\n"), "NOT_FOUND\r\n");
  EXPECT_EQ(fixture.count(Count::kCasHits), 1u);
  EXPECT_EQ(fixture.count(Count::kCasBadval), 2u);
  EXPECT_EQ(fixture.count(Count::kCasMisses), 1u);
}

TEST(Items, CountingWrapsUpwardsAndStopsAtNought) {
  SessionFixture fixture;
  fixture.ask("set n 7 0 20\r\n18446744073709551615\r\n");
  EXPECT_EQ(fixture.ask("incr n 3\r\n"), "2\r\n");
  EXPECT_EQ(fixture.ask("decr n 3\r\n"), "0\r\n");
  EXPECT_EQ(fixture.ask("get n\r\n"), "VALUE n 7 1\r\n0\r\nEND\r\n");
  fixture.ask("set text 0 0 2\r\n1a\r\n");
  EXPECT_THAT(fixture.ask("incr text 1\r\n"), HasSubstr("non-numeric"));
}

TEST(Items, AppendingKeepsFlagsAndTimeAndRespectsTheLimit) {
  SessionFixture fixture;
  fixture.ask("set a 9 100 3\r\nabc\r\n");
  EXPECT_EQ(fixture.ask("append a 1 0 1\r\n>\r\nprepend a 1 0 1\r\n<\r\n"), "STORED\r\nSTORED\r\n");
  EXPECT_EQ(fixture.ask("mg a f t v\r\n"), "VA 5 f9 t100\r\n<abc>\r\n");
  const std::string half(600'000, 'x');
  fixture.ask("set big 0 0 600000\r\n" + half + "\r\n");
  EXPECT_EQ(fixture.ask("append big 0 0 600000\r\n" + half + "\r\n"), "NOT_STORED\r\n");
  EXPECT_EQ(fixture.ask("mg big s\r\n"), "HD s600000\r\n");
}

TEST(Items, AValueThatCouldNotBeStoredTakesTheOlderOneAway) {
  for (const KvOutcome outcome : {KvOutcome::kNoSpace, KvOutcome::kTooLarge}) {
    SessionFixture fixture;
    fixture.ask("set a 0 0 1\r\nx\r\n");
    fixture.store.refuse_puts(outcome);
    EXPECT_THAT(fixture.ask("set a 0 0 1\r\ny\r\n"), HasSubstr("SERVER_ERROR"));
    EXPECT_EQ(fixture.ask("get a\r\n"), "END\r\n");
  }
}

TEST(Items, AMediumThatFailedIsSaidInEveryProtocol) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 1\r\nx\r\nset n 0 0 1\r\n1\r\n");
  fixture.store.refuse_changes(KvOutcome::kMediumFailed);
  const std::string failed = "SERVER_ERROR medium failed\r\n";
  for (const std::string request :
       {"set a 0 0 1\r\ny\r\n", "add b 0 0 1\r\ny\r\n", "append a 0 0 1\r\ny\r\n", "delete a\r\n",
        "delete none\r\n", "incr n 1\r\n", "touch a 9\r\n", "ms a 1\r\ny\r\n", "md a\r\n",
        "ma n\r\n", "mg a T9\r\n"}) {
    EXPECT_EQ(fixture.ask(request), failed) << request;
  }
  EXPECT_EQ(fixture.ask("get n\r\n"), "VALUE n 0 1\r\n1\r\nEND\r\n") << "lookups go on";
}

TEST(Items, ManyClientsCountWithoutLosingOne) {
  SessionFixture fixture;
  fixture.ask("set n 0 0 1\r\n0\r\nset text 0 0 1\r\n.\r\n");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(fixture.service.items().arithmetic("n", {}).status, ItemStatus::kOk);
        StoreRequest append;
        append.mode = StoreMode::kAppend;
        EXPECT_EQ(fixture.service.items().store("text", "+", append).status, ItemStatus::kOk);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fixture.ask("get n\r\n"), "VALUE n 0 4\r\n2000\r\nEND\r\n");
  EXPECT_EQ(fixture.ask("mg text s\r\n"), "HD s2001\r\n");
}

TEST(Flush, NowAndLater) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 1\r\nx\r\n");
  EXPECT_EQ(fixture.ask("flush_all 5\r\nget a\r\n"), "OK\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
  fixture.pass_time(4);
  EXPECT_THAT(fixture.ask("get a\r\n"), HasSubstr("VALUE"));
  fixture.pass_time(1);
  EXPECT_EQ(fixture.ask("get a\r\n"), "END\r\n");
  EXPECT_EQ(fixture.ask("set a 0 0 1\r\nx\r\nflush_all\r\nget a\r\n"), "STORED\r\nOK\r\nEND\r\n");
  fixture.store.fail_clears(true);
  EXPECT_EQ(fixture.ask("set a 0 0 1\r\nx\r\nflush_all\r\n"),
            "STORED\r\nSERVER_ERROR medium failed\r\n");
  EXPECT_EQ(fixture.ask("flush_all 5\r\n"), "OK\r\n");
  fixture.pass_time(5);
  EXPECT_THAT(fixture.ask("get a\r\n"), HasSubstr("VALUE"));
  fixture.store.fail_clears(false);
  fixture.pass_time(1);
  EXPECT_EQ(fixture.ask("get a\r\n"), "END\r\n") << "tried again";
  Settings settings = SessionFixture::make_settings();
  settings.flush_enabled = false;
  SessionFixture guarded(settings);
  EXPECT_EQ(guarded.ask("set a 0 0 1\r\nx\r\nflush_all\r\nmg a\r\n"),
            "STORED\r\nCLIENT_ERROR flush_all not allowed\r\nHD\r\n");
}

TEST(Stats, CountWhatHappened) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 1\r\nx\r\nget a b\r\ntouch a 9\r\ntouch b 9\r\nincr b 1\r\ndelete b\r\n");
  const std::string stats = fixture.ask("stats\r\n");
  for (const std::string_view line :
       {"cmd_get 2", "cmd_set 1", "get_hits 1", "get_misses 1", "cmd_touch 2", "touch_hits 1",
        "touch_misses 1", "incr_misses 1", "delete_misses 1", "curr_items 1", "threads 4"}) {
    EXPECT_THAT(stats, HasSubstr("STAT " + std::string(line) + "\r\n"));
  }
  EXPECT_EQ(fixture.ask("stats reset\r\n"), "RESET\r\n");
  EXPECT_THAT(fixture.ask("stats\r\n"), HasSubstr("STAT cmd_get 0\r\n"));
  EXPECT_THAT(fixture.ask("stats settings\r\n"), HasSubstr("STAT item_size_max 1048576\r\n"));
  EXPECT_THAT(fixture.ask("stats items\r\n"), HasSubstr("STAT items:1:number 1\r\n"));
  EXPECT_THAT(fixture.ask("stats slabs\r\n"), HasSubstr("STAT active_slabs 1\r\n"));
}

TEST(Stats, CountTheValuesThatAStoreOfTheSameBatchCopies) {
  SessionFixture fixture;
  const std::string value(2 * Output::kPinFromBytes, 'v');
  const std::string size = std::to_string(value.size());
  EXPECT_EQ(fixture.ask("set big 0 0 " + size + "\r\n" + value + "\r\n"), "STORED\r\n");
  const std::string answer = "VALUE big 0 " + size + "\r\n" + value + "\r\nEND\r\n";
  EXPECT_EQ(fixture.ask("get big\r\n"), answer);
  EXPECT_EQ(fixture.count(Count::kCopiedBytes), 0u) << "nothing was stored behind it";
  EXPECT_EQ(fixture.ask("get big\r\nset a 0 0 1\r\nx\r\n"), answer + "STORED\r\n");
  EXPECT_EQ(fixture.count(Count::kCopiedBytes), value.size());
}

TEST(Session, TextClientsNeedThePasswordOfSaslToo) {
  const TempDir folder;
  Settings settings = SessionFixture::make_settings();
  settings.auth_file = folder.file("users");
  settings.sasl = true;
  std::ofstream(settings.auth_file) << "ann:one two\n";
  SessionFixture fixture(settings);
  ASSERT_TRUE(fixture.service.load_auth_file().ok());
  EXPECT_EQ(fixture.ask("get a\r\n"), "CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(fixture.ask("set a 0 0 11\r\nann one two\r\nget a\r\n"), "STORED\r\nEND\r\n");
}

TEST(Session, APasswordWithoutSaslClosesBinaryClients) {
  Settings settings = SessionFixture::make_settings();
  settings.auth_file = "/nonexistent/users";
  EXPECT_EQ(SessionFixture(settings).ask("\x80"), "<closed>");
}

TEST(Metrics, AreInThePrometheusFormat) {
  SessionFixture fixture;
  fixture.ask("set a 0 0 1\r\nx\r\nget a\r\n");
  const std::string text = prometheus_metrics(fixture.service);
  EXPECT_THAT(text, HasSubstr("# HELP nvcached_get_hits_total Lookups that found the key\n"
                              "# TYPE nvcached_get_hits_total counter\n"
                              "nvcached_get_hits_total 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE nvcached_items gauge\nnvcached_items 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Metrics, EveryRowShowsWhereItsNamesSay) {
  SessionFixture fixture;
  const std::string stats = fixture.ask("stats\r\n");
  const std::string text = prometheus_metrics(fixture.service);
  std::set<std::string> names;
  for (const MetricRow& row : metric_rows()) {
    EXPECT_TRUE(row.stat != nullptr || row.metric != nullptr);
    EXPECT_FALSE(std::string_view(row.help).empty());
    if (row.stat != nullptr) {
      EXPECT_TRUE(names.insert(row.stat).second) << row.stat;
      EXPECT_THAT(stats, HasSubstr("STAT " + std::string(row.stat) + " "));
    }
    if (row.metric == nullptr) continue;
    const std::string metric = row.metric;
    EXPECT_TRUE(names.insert("nvcached_" + metric).second) << metric;
    const bool histogram = row.kind == MetricKind::kHistogram;
    EXPECT_THAT(text, HasSubstr("\nnvcached_" + metric + (histogram ? "_count{" : " ")));
    EXPECT_EQ(metric.ends_with("_total"), row.kind == MetricKind::kCounter) << metric;
  }
}

TEST(Metrics, EveryCounterHasARow) {
  SessionFixture fixture;
  for (size_t i = 0; i < kCounts; ++i) fixture.counters.add(static_cast<Count>(i), 1000 + i);
  const std::string text = prometheus_metrics(fixture.service);
  for (size_t i = 0; i < kCounts; ++i) {
    EXPECT_THAT(text, HasSubstr("_total " + std::to_string(1000 + i) + "\n"));
  }
}

}  // namespace
}  // namespace nvcache::server
