// The statistics that `nvcache top` reads: whatever a file holds or a server answers, it becomes a
// tree or an error, and what is shown of it steers no terminal.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "apps/nvcache/server_stats.h"
#include "apps/nvcache/stats_snapshot.h"
#include "apps/nvcache/top_figures.h"
#include "apps/nvcache/top_report.h"
#include "nlohmann/json.hpp"

namespace {

void show(const nvcache::StatsReading& reading) {
  nvcache::Watched watched("stats", /*drive_writes_bytes=*/1e15);
  for (const double seconds : {1.0, 2.0}) {
    nvcache::StatsReading at = reading;
    at.written_seconds = seconds;
    watched.take(std::move(at));
  }
  const nvcache::TopFigures figures = watched.figures(3);
  for (const std::string& line : nvcache::top_lines(figures)) {
    const std::string shown = nvcache::fitted(line, 80);
    if (shown.find('\033') != std::string::npos || shown.size() > 4 * size_t{80}) std::abort();
  }
  (void)nvcache::top_json(figures).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  nvcache::StatsReading reading;
  nvcache::StatusOr<nvcache::StatsSnapshot> snapshot = nvcache::parse_stats(text);
  if (!snapshot.ok() && snapshot.status().message().empty()) std::abort();
  if (snapshot.ok()) {
    reading.snapshot = *std::move(snapshot);
    show(reading);
  }
  // As if a server had answered with it.
  nvcache::StatusOr<nvcache::PrefixTable> prefixes = nvcache::parse_server_status(text);
  if (!prefixes.ok() && prefixes.status().message().empty()) std::abort();
  if (prefixes.ok()) {
    reading.snapshot = nvcache::StatsSnapshot();
    reading.snapshot.kind = nvcache::StatsKind::kServer;
    reading.snapshot.whole.numbers["cmd_get"] = 1;
    reading.prefixes = *std::move(prefixes);
    show(reading);
  }
  return 0;
}
