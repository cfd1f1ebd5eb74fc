// The prefixes of a thread's keys, and how long its requests took.
#include "apps/nvcached/service/prefix_sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "apps/nvcached/service/counters.h"
#include "apps/nvcached/service/status_report.h"
#include "apps/nvcached/session_fixture.h"
#include "nlohmann/json.hpp"

namespace nvcache::server {
namespace {

PrefixTotals totals_of(const PrefixSketch& sketch) {
  PrefixTotals totals;
  sketch.add_to(totals);
  return totals;
}

TEST(PrefixSketch, CountsWhatClientsDo) {
  PrefixSketch sketch;
  for (const KeyUse use :
       {KeyUse::kHit, KeyUse::kHit, KeyUse::kMiss, KeyUse::kSet, KeyUse::kDelete}) {
    sketch.add("user", use);
  }
  sketch.add("", KeyUse::kHit);
  const PrefixTotals totals = totals_of(sketch);
  EXPECT_EQ(totals.samples, 6u);
  EXPECT_EQ(totals.without_prefix, 1u);
  ASSERT_EQ(totals.prefixes.size(), 1u);
  const PrefixCounts& user = totals.prefixes.at("user");
  EXPECT_EQ(user.samples, 5u);
  EXPECT_EQ(user.hits, 2u);
  EXPECT_EQ(user.misses, 1u);
  EXPECT_EQ(user.sets, 1u);
  EXPECT_EQ(user.deletes, 1u);
  EXPECT_EQ(user.error, 0u);
}

// The promise of Space-Saving: what has more than 1/64 of the samples is there, and no count is
// below the true one, or above it by more than its error.
TEST(PrefixSketch, KeepsWhatIsFrequentAmongManyPrefixes) {
  PrefixSketch sketch;
  constexpr uint64_t kRounds = 600;
  for (uint64_t i = 0; i < kRounds; ++i) {
    for (int k = 0; k < 4; ++k) sketch.add("often", KeyUse::kHit);
    sketch.add("seldom", KeyUse::kSet);
    for (int k = 0; k < 20; ++k) {
      sketch.add("once" + std::to_string(i) + "." + std::to_string(k), KeyUse::kMiss);
    }
  }
  const PrefixTotals totals = totals_of(sketch);
  EXPECT_EQ(totals.prefixes.size(), PrefixSketch::kMost);
  EXPECT_EQ(totals.samples, 25 * kRounds);
  for (const auto& [prefix, count] :
       {std::pair("often", 4 * kRounds), std::pair("seldom", kRounds)}) {
    ASSERT_TRUE(totals.prefixes.contains(prefix));
    const PrefixCounts& counts = totals.prefixes.at(prefix);
    EXPECT_GE(counts.samples, count) << prefix;
    EXPECT_LE(counts.samples - counts.error, count) << prefix;
    EXPECT_LE(counts.error, totals.samples / PrefixSketch::kMost) << prefix;
  }
}

TEST(PrefixSketch, ForgetsOldTimes) {
  PrefixSketch sketch;
  for (uint64_t i = 0; i < PrefixSketch::kAge - 1; ++i) sketch.add("old", KeyUse::kHit);
  for (uint64_t i = 0; i < 3 * PrefixSketch::kAge; ++i) sketch.add("new", KeyUse::kHit);
  const PrefixTotals totals = totals_of(sketch);
  EXPECT_LT(totals.samples, PrefixSketch::kAge);
  EXPECT_LT(totals.prefixes.at("old").samples, totals.samples / 10);
  EXPECT_GT(totals.prefixes.at("new").samples, totals.samples * 8 / 10);
}

TEST(PrefixSketch, CutsLongPrefixes) {
  PrefixSketch sketch;
  sketch.add(std::string(250, 'x'), KeyUse::kHit);
  sketch.add(std::string(200, 'x'), KeyUse::kHit);
  const PrefixTotals totals = totals_of(sketch);
  ASSERT_EQ(totals.prefixes.size(), 1u);
  EXPECT_EQ(totals.prefixes.begin()->first, std::string(PrefixSketch::kMostBytes, 'x'));
}

TEST(Samples, AreOneKeyIn64WhateverTheOrder) {
  Counters counters;
  constexpr int kRounds = 64'000;
  uint64_t of_each[2] = {};
  for (int i = 0; i < kRounds; ++i) {
    for (uint64_t& kind : of_each) {
      if (!counters.is_sample()) continue;
      counters.await_next_sample();
      ++kind;
    }
  }
  // 1000 each on average. By turns one of them would have all, or none.
  for (const uint64_t kind : of_each) {
    EXPECT_GT(kind, 850u);
    EXPECT_LT(kind, 1150u);
  }
}

TEST(Latency, LiesInTheStepOfItsBound) {
  LatencyCounts counts;
  for (const uint64_t ns : {uint64_t{0}, uint64_t{100}, uint64_t{101}, uint64_t{1'000'000'000},
                            uint64_t{1'000'000'001}}) {
    counts.add(ns);
  }
  LatencyTotals totals;
  counts.add_to(totals);
  EXPECT_EQ(totals.counts.front(), 2u);
  EXPECT_EQ(totals.counts[1], 1u);
  EXPECT_EQ(totals.counts[kLatencyBoundsNs.size() - 1], 1u);
  EXPECT_EQ(totals.counts.back(), 1u);
  EXPECT_EQ(totals.sum_ns, 2'000'000'202u);
  EXPECT_TRUE(std::is_sorted(kLatencyBoundsNs.begin(), kLatencyBoundsNs.end()));
}

uint64_t timed(const Service& service, Timed what) {
  const auto counts = service.latencies()[static_cast<size_t>(what)].counts;
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

// A value that comes in many parts is one request, and is timed once, when it is there.
TEST(Latency, IsThatOfWholeRequests) {
  SessionFixture fixture;
  for (int i = 0; i < 64; ++i) fixture.ask("get a\r\n");
  ASSERT_EQ(timed(fixture.service, Timed::kGet), 0u);
  const std::string_view parts[] = {"set a 0 0 6\r\n", "xx", "xx", "xx", "\r\n"};
  EXPECT_EQ(fixture.ask_in_parts(parts), "STORED\r\n");
  EXPECT_EQ(timed(fixture.service, Timed::kSet), 1u);
  EXPECT_EQ(timed(fixture.service, Timed::kGet), 0u);
}

TEST(StatusJson, KeepsAnHour) {
  SessionFixture fixture;
  StatusHistory history;
  uint64_t now_ms = 1000;
  for (int seconds = 0; seconds < 2 * 3600; ++seconds, now_ms += 1000) {
    history.look(fixture.service, now_ms);
  }
  const nlohmann::json json = nlohmann::json::parse(history.to_json());
  const auto& points = json.at("points");
  ASSERT_EQ(points.size(), StatusHistory::kMostPoints);
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_EQ(points[i].at("at_ms").get<uint64_t>() - points[i - 1].at("at_ms").get<uint64_t>(),
              StatusHistory::kBetweenMs);
  }
}

TEST(StatusJson, EscapesKeys) {
  SessionFixture fixture;
  const std::string hostile = "</script>\"\\\r\n\x01\xff";
  for (int i = 0; i < 200; ++i) {
    fixture.service.sample_prefix(hostile + ":1", KeyUse::kHit, fixture.counters);
  }
  const std::string text = status_json(fixture.service, 1);
  for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("prefixes").at("top").at(0).at("prefix"), "</script>\"\\\r\n\x01\xef\xbf\xbd");
}

}  // namespace
}  // namespace nvcache::server
