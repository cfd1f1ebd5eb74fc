// `nvcache top`: statistics of real caches as it reads and reckons them.
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "apps/nvcache/stats_snapshot.h"
#include "apps/nvcache/top_figures.h"
#include "apps/nvcache/top_report.h"
#include "base/files.h"
#include "file_cache/file_block_cache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "nvcache/kv_store.h"
#include "support/block_cache_fixture.h"
#include "support/temp_dir.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kCacheSpec =
    "nvcache://?size=2MiB&admission=write_budget(1MiB/s)&eviction=lru&maintenance=0";
constexpr const char* kTieredSpec =
    "tiered://?dram=64KiB&metadata=free&shards=1&demote=foreground&"
    "tier=(size=1MiB,shards=1,maintenance=0)";

// Lookups of so many keys one after the other; what is missed is put.
void read_blocks(BlockCache& cache, uint64_t keys) {
  for (uint64_t i = 0; i < keys; ++i) {
    const BlockKey key = {.file = 1, .offset = i * 4096};
    const Lookup lookup = cache.lookup(key);
    if (!lookup.hit())
      (void)cache.put(key, test::make_block(key, 4096), Origin::kRead, lookup.token);
  }
}

StatsSnapshot parsed(const std::string& text) {
  StatusOr<StatsSnapshot> snapshot = parse_stats(text);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status() << "\n" << text;
  return snapshot.ok() ? *std::move(snapshot) : StatsSnapshot();
}

StatsReading at(double seconds, const std::string& text) {
  return {.snapshot = parsed(text), .prefixes = {}, .written_seconds = seconds};
}

// JSON and Prometheus text of one cache are read as the same numbers, but for derived ones.
void expect_same(StatsGroup json, const StatsGroup& prometheus) {
  json.numbers.erase("hit_ratio");
  for (const auto& [name, value] : json.numbers) {
    ASSERT_TRUE(prometheus.number(name)) << name;
    EXPECT_NEAR(*prometheus.number(name), value, std::abs(value) * 1e-9) << name;
  }
  EXPECT_EQ(json.refused, prometheus.refused);
  for (const auto& [name, text] : json.texts) EXPECT_EQ(prometheus.text(name), text) << name;
}

// Everything that the table of figures names is there.
void expect_shown(const PartFigures& part, bool reads) {
  EXPECT_TRUE(part.lookups.total) << part.name;
  EXPECT_TRUE(part.hits.total) << part.name;
  EXPECT_TRUE(part.inserts.total) << part.name;
  EXPECT_TRUE(part.evictions.total) << part.name;
  EXPECT_EQ(part.read_bytes.total.has_value(), reads) << part.name;
  EXPECT_TRUE(part.written_bytes.total) << part.name;
  EXPECT_TRUE(part.used_bytes && part.size_bytes) << part.name;
}

TopFigures figures_of(const std::string& text) {
  Watched watched("stats", 0);
  watched.take(at(100, text));
  return watched.figures(101);
}

TEST(TopStats, ABlockCacheIsReadFromBothTexts) {
  const auto cache = test::open(kCacheSpec);
  read_blocks(*cache, 400);
  read_blocks(*cache, 400);
  const Stats stats = cache->stats();
  const StatsSnapshot json = parsed(stats.to_json());
  EXPECT_EQ(json.kind, StatsKind::kBlockCache);
  EXPECT_EQ(json.whole.number("hits"), static_cast<double>(stats.hits));
  EXPECT_EQ(json.whole.text("eviction"), "lru");
  expect_same(json.whole, parsed(stats.to_prometheus()).whole);
  expect_shown(figures_of(stats.to_json()).whole, /*reads=*/true);
  EXPECT_NEAR(figures_of(stats.to_prometheus()).whole.hit_ratio.value_or(0), stats.hit_ratio(),
              1e-9);
}

TEST(TopStats, ATieredCacheIsReadFromBothTexts) {
  test::Engine engine(kTieredSpec);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t id = 1; id <= 100; ++id) {
      if (engine.get(id) == 0) engine.put(id);
    }
  }
  engine.cache->drain();
  const TieredStats stats = engine.cache->stats();
  ASSERT_GT(stats.tiers[1].hits, 0U);
  const StatsSnapshot json = parsed(stats.to_json());
  const StatsSnapshot prometheus = parsed(stats.to_prometheus());
  EXPECT_EQ(json.kind, StatsKind::kTieredCache);
  EXPECT_EQ(prometheus.kind, StatsKind::kTieredCache);
  ASSERT_EQ(json.tiers.size(), 2U);
  ASSERT_EQ(prometheus.tiers.size(), 2U);
  expect_same(json.whole, prometheus.whole);
  for (size_t i = 0; i < 2; ++i) {
    expect_same(json.tiers[i].tier, prometheus.tiers[i].tier);
    expect_same(json.tiers[i].cache, prometheus.tiers[i].cache);
  }
  const TopFigures figures = figures_of(stats.to_json());
  EXPECT_NEAR(figures.whole.hit_ratio.value_or(0), stats.hit_ratio(), 1e-9);
  expect_shown(figures.tiers[1], /*reads=*/true);
  EXPECT_DOUBLE_EQ(figures.tiers[1].hit_ratio.value_or(0),
                   static_cast<double>(stats.tiers[1].hits) /
                       static_cast<double>(stats.lookups - stats.tiers[0].hits));
}

TEST(TopStats, AStoreAndFilesAreRead) {
  const auto store = open_kv_store("nvkv://?size=1MiB");
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_FALSE((*store)->get("absent"));
  const std::string value = "value";
  (void)(*store)->put("there", std::as_bytes(std::span(value)), {});
  EXPECT_TRUE((*store)->get("there"));
  const KvStats stats = (*store)->stats();
  const StatsSnapshot json = parsed(stats.to_json());
  EXPECT_EQ(json.kind, StatsKind::kStore);
  const StatsSnapshot prometheus = parsed(stats.to_prometheus());
  EXPECT_EQ(prometheus.kind, StatsKind::kStore);
  expect_same(json.whole, prometheus.whole);
  expect_shown(figures_of(stats.to_json()).whole, /*reads=*/false);
  EXPECT_EQ(figures_of(stats.to_json()).whole.hit_ratio, 0.5);

  const auto cache = test::open(kCacheSpec);
  const std::string engine =
      "{\"format\": \"nvcache.wiredtiger/1\",\n\"cache\": " + cache->stats().to_json() +
      ",\n\"files\": " + FileStats().to_json() + "}\n";
  EXPECT_TRUE(parsed(engine).files.number("served_reads"));
  EXPECT_TRUE(parsed(engine).whole.number("hits"));
  const std::string without =
      "{\"format\": \"nvcache.wiredtiger/1\", \"cache\": null, \"files\": " +
      FileStats().to_json() + "}";
  EXPECT_THAT(top_lines(figures_of(without)), Contains(HasSubstr("no cache")));
}

TEST(TopStats, TheLastOfSeveralIsTaken) {
  const auto cache = test::open(kCacheSpec);
  const std::string before = cache->stats().to_json();
  read_blocks(*cache, 10);
  const StatsSnapshot snapshot = parsed(before + "\n" + cache->stats().to_json() + "\n" + "{\"cut");
  EXPECT_EQ(snapshot.documents, 2U);
  EXPECT_EQ(snapshot.whole.number("misses"), 10);
}

TEST(TopStats, NoPartOfATextIsTakenForTheWhole) {
  test::Engine engine(kTieredSpec);
  engine.put(1);
  const std::string json = engine.cache->stats().to_json();
  for (size_t bytes = 0; bytes < json.size(); ++bytes) {
    EXPECT_FALSE(parse_stats(json.substr(0, bytes)).ok()) << bytes;
  }
  const std::string text = engine.cache->stats().to_prometheus();
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    if (bytes > 0 && text[bytes - 1] == '\n') continue;  // Prometheus text has no end of its own
    EXPECT_FALSE(parse_stats(text.substr(0, bytes)).ok()) << bytes;
  }
}

TEST(TopStats, ErrorsSayWhatItIs) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "is empty"},
      {"{\"hits\": 1,", "half written"},
      {"{\"hits\": }", "no whole JSON"},
      {"{\"format\": \"nvcache.ycsb/1\"}", "of the format 'nvcache.ycsb/1'"},
      {"{\"a\": 1}", "no statistics of nvcache"},
      {"some words\n", "neither JSON nor Prometheus"},
      {"node_load1 3\n", "of no metric of nvcache"},
      {"nvcache_hits_total 3\nnvcache_misses_to", "half written"},
      {"nvcache_hits_total{tier=\"1", "neither"},
  };
  for (const auto& [text, message] : rows) {
    const auto snapshot = parse_stats(text);
    ASSERT_FALSE(snapshot.ok()) << text;
    EXPECT_THAT(std::string(snapshot.status().message()), HasSubstr(message));
  }
}

TEST(TopStats, LabelsOfOthersAndOddTiersAreLetPass) {
  const StatsSnapshot snapshot = parsed(
      "# HELP x y\nnvcache_hits_total{job=\"a\\\"b\",tier=\"1\"} 3 1700000000\n"
      "nvcache_hits_total{tier=\"99999999999999999999\"} 4\nnvcache_blocks NaN\n");
  ASSERT_EQ(snapshot.tiers.size(), 2U);
  EXPECT_EQ(snapshot.tiers[1].cache.number("hits"), 3);
  EXPECT_EQ(snapshot.whole.number("hits"), 4);
  EXPECT_FALSE(snapshot.whole.number("blocks"));
}

TEST(TopFigures, RatesAreThoseBetweenTwoReadings) {
  const auto cache = test::open(kCacheSpec);
  read_blocks(*cache, 100);
  Watched watched("stats", /*drive_writes_bytes=*/1e12);
  watched.take(at(100, cache->stats().to_json()));
  EXPECT_FALSE(watched.figures(100).interval_seconds);
  read_blocks(*cache, 100);
  watched.take(at(110, cache->stats().to_json()));
  watched.take(at(110, cache->stats().to_json()));  // not written since
  const TopFigures figures = watched.figures(115);
  EXPECT_EQ(figures.interval_seconds, 10);
  EXPECT_EQ(figures.age_seconds, 5);
  EXPECT_EQ(figures.whole.hit_ratio, 0.5);
  EXPECT_EQ(figures.whole.hit_ratio_now, 1);
  EXPECT_EQ(figures.whole.lookups.per_second, 10);
  EXPECT_EQ(figures.whole.budget_bytes_per_second, 1 << 20);
  EXPECT_EQ(figures.whole.written_bytes.per_second, 0);
  EXPECT_FALSE(figures.whole.days_left) << "nothing was written";
}

TEST(TopFigures, DaysAreWhatMayBeWrittenByWhatIs) {
  const auto cache = test::open("nvcache://?size=2MiB&admission=always&eviction=lru");
  Watched watched("stats", /*drive_writes_bytes=*/4096 * 100.0 * 86400);
  watched.take(at(100, cache->stats().to_json()));
  read_blocks(*cache, 100);
  watched.take(at(110, cache->stats().to_json()));
  EXPECT_EQ(watched.figures(110).whole.mean_written_per_second, 40960);
  EXPECT_EQ(watched.figures(110).whole.days_left, 10);
  watched.take(at(120, cache->stats().to_json()));
  EXPECT_EQ(watched.figures(120).whole.days_left, 20);
  EXPECT_THAT(top_lines(watched.figures(120)),
              Contains(HasSubstr("the drive lasts 20 days at 20.0 KiB/s")));
}

TEST(TopFigures, ARestartIsSeenAndBeginsAnew) {
  const auto old = test::open(kCacheSpec);
  read_blocks(*old, 100);
  read_blocks(*old, 100);
  Watched watched("stats", 0);
  watched.take(at(100, old->stats().to_json()));
  const auto next = test::open(kCacheSpec);
  read_blocks(*next, 50);
  watched.take(at(110, next->stats().to_json()));
  EXPECT_FALSE(watched.figures(110).interval_seconds);
  EXPECT_THAT(watched.figures(110).notes, Contains(HasSubstr("hits before: 50.0%")));
  read_blocks(*next, 50);
  watched.take(at(120, next->stats().to_json()));
  EXPECT_EQ(watched.figures(120).whole.lookups.per_second, 5);
}

TEST(TopFigures, WhatIsNotWellIsNoted) {
  Stats stats;
  stats.failed = 1;
  stats.set_aside_bytes = 1 << 20;
  stats.recovering = 1;
  stats.recovered_blocks = 12;
  stats.damaged_blocks = 3;
  EXPECT_THAT(figures_of(stats.to_json()).whole.notes,
              AllOf(Contains(HasSubstr("MEDIUM OFF")), Contains(HasSubstr("1.00 MiB set aside")),
                    Contains(HasSubstr("coming back after a restart: 12 blocks")),
                    Contains(HasSubstr("3 blocks were damaged"))));
  EXPECT_THAT(figures_of(Stats().to_json()).whole.notes, testing::IsEmpty());
  KvStats store;
  store.failed = true;
  store.file_lost = true;
  EXPECT_THAT(figures_of(store.to_json()).whole.notes,
              AllOf(Contains(HasSubstr("MEDIUM FAILED")), Contains(HasSubstr("FILE LOST"))));
  TieredStats tiered;
  tiered.tiers.resize(2);
  tiered.tiers[1].problem = "no space left";
  EXPECT_THAT(figures_of(tiered.to_json()).tiers[1].notes, Contains("NOT OPEN: no space left"));
}

TEST(TopFigures, TheBudgetIsReadFromThePolicy) {
  for (const char* const rate : {"1MiB/s", "0.5DWPD", "500GB/day"}) {
    const auto cache = test::open(fmt::format(
        "nvcache://?size=2MiB&eviction=lru&admission=no_write_allocate+write_budget({})", rate));
    EXPECT_TRUE(figures_of(cache->stats().to_json()).whole.budget_bytes_per_second) << rate;
  }
  EXPECT_EQ(budget_in("always", 1e9), std::nullopt);
  EXPECT_EQ(budget_in("write_budget(2DWPD,burst:1MiB)", 86400), 2);
  EXPECT_EQ(budget_in("write_budget(", 1e9), std::nullopt);
}

TEST(TopServer, QuantilesAreThoseOfTheSteps) {
  const double inf = std::numeric_limits<double>::infinity();
  const LatencySteps steps = {.up_to = {{1, 50}, {2, 100}, {5, 100}, {inf, 100}}};
  EXPECT_EQ(quantile_seconds(steps, 0.25), 0.5);
  EXPECT_EQ(quantile_seconds(steps, 0.5), 1);
  EXPECT_EQ(quantile_seconds(steps, 0.75), 1.5);
  EXPECT_EQ(quantile_seconds(steps, 1), 2);
  EXPECT_EQ(quantile_seconds(since(steps, steps), 0.5), std::nullopt);
  EXPECT_EQ(quantile_seconds(LatencySteps(), 0.5), std::nullopt);
  const LatencySteps later = {.up_to = {{1, 50}, {2, 100}, {5, 100}, {inf, 104}}};
  EXPECT_EQ(quantile_seconds(since(later, steps), 0.5), inf);
}

TEST(TopServer, LatenciesOfEachCommandAreRead) {
  const auto text = [](int gets) {
    return fmt::format(
        "nvcached_cmd_get_total {0}\nnvcached_get_hits_total {0}\n"
        "nvcached_request_seconds_bucket{{command=\"get\",le=\"0.001\"}} {0}\n"
        "nvcached_request_seconds_bucket{{command=\"get\",le=\"+Inf\"}} {0}\n"
        "nvcached_request_seconds_sum{{command=\"get\"}} 1\n"
        "nvcached_request_seconds_bucket{{command=\"set\",le=\"2\"}} 10\n"
        "nvcached_request_seconds_bucket{{command=\"set\",le=\"\"}} x10\n",
        gets);
  };
  EXPECT_FALSE(parse_stats(text(1)).ok()) << "a value is no number";
  const auto good = [&](int gets) { return text(gets).substr(0, text(gets).rfind("nvcached_")); };
  Watched watched("stats", 0);
  watched.take(at(100, good(1000)));
  EXPECT_THAT(top_lines(watched.figures(100)),
              AllOf(Contains("    gets: half within 500 us, 99% within 990 us, since the start"),
                    Contains("    sets: half within 1 s, since the start")));
  watched.take(at(110, good(1150)));
  EXPECT_THAT(top_lines(watched.figures(110)),
              AllOf(Contains("    gets: half within 500 us, 99% within 990 us"),
                    Contains("    sets: half within 1 s, since the start")));
}

TEST(TopServer, PrefixesAreReadFromTheStatus) {
  StatsReading reading = at(100, "nvcached_cmd_get_total 4\nnvcached_get_hits_total 3\n");
  const StatusOr<PrefixTable> table = parse_server_status(
      R"({"state":"serving","prefixes":{"samples":200,"top":[7,{"prefix":"user","samples":90,
          "hits":30,"misses":10},{"prefix":"a\u001b[2J","samples":"many"}]}})");
  ASSERT_TRUE(table.ok()) << table.status();
  reading.prefixes = *table;
  Watched watched("stats", 0);
  watched.take(reading);
  EXPECT_THAT(top_lines(watched.figures(100)), Contains("     45.0%   75.0%  user"));
  EXPECT_EQ(top_json(watched.figures(100))["prefixes"].size(), 2U);
  for (const char* const text : {"{}", R"({"prefixes":[]})", R"({"prefixes":{"top":{}}})"}) {
    EXPECT_TRUE(parse_server_status(text).ok()) << text;
  }
  EXPECT_FALSE(parse_server_status("[").ok());
  EXPECT_FALSE(parse_server_status("").ok());
}

TEST(TopReport, LinesFitAndCannotSteerATerminal) {
  EXPECT_EQ(fitted("a\033[2Jb\n", 10), "a?[2Jb?");
  EXPECT_EQ(fitted("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xA4\xC3\xB6");
  Stats stats;
  stats.medium = "file:\033]0;x\007\xFF";
  // JSON of the figures stands whatever the texts hold.
  EXPECT_NO_THROW((void)top_json(figures_of(stats.to_prometheus()))
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace
}  // namespace nvcache
