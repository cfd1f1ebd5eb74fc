// The JSON that the page of the metrics port polls: the rows of metrics_table.h, the prefixes that
// most keys have, and an hour of the rows that charts show. Names and help are the rows' own.
//
// Keys come from clients: a prefix is text like any other here, and JsonText escapes it.
// Thread-safe but for StatusHistory, which one thread uses. May throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "apps/nvcached/service/service.h"

namespace nvcache::server {

// The status of a server that serves: all rows, each with its names, kind, help and value; the
// bounds of latencies; the top prefixes.
std::string status_json(Service& service, uint64_t now_ms);

// The work of a server before it serves. `done` of `all` are counted in `unit`; `all` is 0 while no
// end is known.
struct StartProgress {
  std::string doing;
  std::string unit;
  uint64_t done = 0;
  uint64_t all = 0;
};
std::string start_json(const StartProgress& progress, uint64_t seconds);

// The rows that charts show (MetricRow::charted), as they were every 20 seconds in the last hour.
// Costs a text of some 500 bytes a point, and nothing unless look() is called.
class StatusHistory {
 public:
  static constexpr uint64_t kBetweenMs = 20'000;
  static constexpr size_t kMostPoints = 180;

  // Call it once a second: it notes a point when one is due.
  void look(Service& service, uint64_t now_ms);
  std::string to_json() const;

 private:
  uint64_t next_ms_ = 0;
  std::deque<std::string> points_;
};

}  // namespace nvcache::server
