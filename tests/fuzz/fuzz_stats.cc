// The statistics that `nvcache top` reads: whatever a file holds, the answer is a tree or an error,
// and what is shown of it steers no terminal.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/nvcache/stats_snapshot.h"
#include "apps/nvcache/top_figures.h"
#include "apps/nvcache/top_report.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const nvcache::StatusOr<nvcache::StatsSnapshot> snapshot = nvcache::parse_stats(text);
  if (!snapshot.ok()) {
    if (snapshot.status().message().empty()) std::abort();
    return 0;
  }
  nvcache::Watched watched("stats", /*drive_writes_bytes=*/1e15);
  for (const double seconds : {1.0, 2.0}) {
    watched.take({.snapshot = *snapshot, .written_seconds = seconds});
  }
  const nvcache::TopFigures figures = watched.figures(3);
  for (const std::string& line : nvcache::top_lines(figures)) {
    const std::string shown = nvcache::fitted(line, 80);
    if (shown.find('\033') != std::string::npos || shown.size() > 4 * size_t{80}) std::abort();
  }
  (void)nvcache::top_json(figures).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return 0;
}
