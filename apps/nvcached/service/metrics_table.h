// The metrics of nvcached, one row each: `stats` and the Prometheus text derive from the same rows.
// A new metric is a new row (and, where a thread counts it, a new Count).
//
// A row has up to two names because memcached's clients and Prometheus each have their own rules.
// Constant table; thread-safe. Costs one sum over the threads and one KvStats for each snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "apps/nvcached/service/service.h"
#include "base/metrics.h"

namespace nvcache::server {

// The figures that the rows read: taken once, so that the rows of one report agree.
struct MetricSnapshot {
  MetricSnapshot(Service& of, const Totals& totals_of)
      : service(of), totals(totals_of), kv(of.items().kv().stats()) {}

  Service& service;
  Totals totals;
  KvStats kv;
};

// A histogram has the latencies.
using MetricValue = std::variant<uint64_t, double, std::string, LatencyTable>;

struct MetricRow {
  const char* stat = nullptr;    // name in `stats`; null: not there
  const char* metric = nullptr;  // name in Prometheus, behind "nvcached_"; null: not there
  // The kind of the metric. A counter only grows, from the start of the server (in `stats`, from
  // its reset). Says nothing of a row that is in `stats` alone: that may be a text.
  MetricKind kind = MetricKind::kGauge;
  const char* help = nullptr;
  MetricValue (*value)(const MetricSnapshot& snapshot) = nullptr;
  bool charted = false;  // a chart of the page shows its last hour; it has a `metric`
};

// In the order in which memcached reports them; nvcached's own come last.
std::span<const MetricRow> metric_rows();

}  // namespace nvcache::server
