// A metric is a member, an enumerator and a row: CONTRIBUTING's recipe, on a struct of its own.
#include "base/metrics.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

struct Doors {
  uint64_t opened = 0;
  uint64_t slammed = 0;  // of `opened`
  uint64_t held_bytes = 0;
};

enum class DoorCount : size_t { kOpened, kSlammed, kCreaks, kFieldCount };

constexpr Metric<Doors, DoorCount> kDoorMetrics[] = {
    {"opened", "Doors opened", MetricKind::kCounter, &Doors::opened, DoorCount::kOpened},
    {"slammed", "Doors slammed", MetricKind::kCounter, &Doors::slammed, DoorCount::kSlammed},
    {"held_bytes", "Bytes of doors", MetricKind::kGauge, &Doors::held_bytes},
};
static_assert(each_has_a_row({DoorCount::kCreaks}, kDoorMetrics));
static_assert(!each_has_a_row<DoorCount>({}, kDoorMetrics), "kCreaks has no row");
static_assert(!each_has_a_row({DoorCount::kCreaks}, kDoorMetrics, kDoorMetrics), "two rows");

constexpr Metric<Doors, DoorCount> kGaugeOfACounter[] = {
    {"opened", "Doors opened", MetricKind::kGauge, &Doors::opened, DoorCount::kOpened},
};
static_assert(!each_has_a_row({DoorCount::kSlammed, DoorCount::kCreaks}, kGaugeOfACounter));

TEST(Metrics, ARowIsReadFromItsCounterAndWrittenInBothTexts) {
  StripedCounters<DoorCount> counters;
  counters.add(DoorCount::kOpened, 5);
  counters.add(DoorCount::kSlammed, 2);
  counters.add(DoorCount::kCreaks, 9);
  Doors doors{.held_bytes = 7};
  read_counters(kDoorMetrics, counters, &doors);
  EXPECT_EQ(doors.opened, 5u);
  EXPECT_EQ(doors.slammed, 2u);
  EXPECT_EQ(doors.held_bytes, 7u) << "no counter fills it";

  JsonText json(-1);
  json.begin_object();
  append_json(kDoorMetrics, doors, &json);
  json.end_object();
  EXPECT_EQ(json.take(), R"({"opened":5,"slammed":2,"held_bytes":7})");

  PrometheusText text("house_");
  const Labeled<Doors> all[] = {{.labels = "", .stats = &doors}};
  text.append<Doors>(kDoorMetrics, all);
  EXPECT_EQ(text.take(),
            "# HELP house_opened_total Doors opened\n# TYPE house_opened_total counter\n"
            "house_opened_total 5\n"
            "# HELP house_slammed_total Doors slammed\n# TYPE house_slammed_total counter\n"
            "house_slammed_total 2\n"
            "# HELP house_held_bytes Bytes of doors\n# TYPE house_held_bytes gauge\n"
            "house_held_bytes 7\n");
}

TEST(Metrics, AHistogramAddsUpItsSteps) {
  PrometheusText text("house_");
  text.family("wait_seconds", "Waits at a door", MetricKind::kHistogram);
  const double bounds[] = {0.5, 1};
  const uint64_t counts[] = {2, 0, 3};
  text.histogram("door=\"front\"", bounds, counts, 12.5);
  text.histogram("", bounds, counts, 0);
  EXPECT_EQ(text.take(),
            "# HELP house_wait_seconds Waits at a door\n# TYPE house_wait_seconds histogram\n"
            "house_wait_seconds_bucket{door=\"front\",le=\"0.5\"} 2\n"
            "house_wait_seconds_bucket{door=\"front\",le=\"1\"} 2\n"
            "house_wait_seconds_bucket{door=\"front\",le=\"+Inf\"} 5\n"
            "house_wait_seconds_sum{door=\"front\"} 12.5\n"
            "house_wait_seconds_count{door=\"front\"} 5\n"
            "house_wait_seconds_bucket{le=\"0.5\"} 2\nhouse_wait_seconds_bucket{le=\"1\"} 2\n"
            "house_wait_seconds_bucket{le=\"+Inf\"} 5\n"
            "house_wait_seconds_sum 0\nhouse_wait_seconds_count 5\n");
}

}  // namespace
}  // namespace nvcache
