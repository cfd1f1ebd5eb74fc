// wtperf, WiredTiger's load generator: where it is, and what it says about a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

// Where WiredTiger's parts are.
struct Tools {
  std::string wtperf;
  std::string extension;  // libnvcache_wiredtiger.so; empty: run without
  std::string snappy;     // libwiredtiger_snappy.so; empty if there is none
};

// Looks beside the binary, in its build tree, in the installed tree and where WiredTiger
// was found when this was built. `wtperf` and `extension` are used as they are if not
// empty; "none" as the extension means none. FAILED_PRECONDITION says what was tried.
[[nodiscard]] StatusOr<Tools> find_tools(const std::string& wtperf, const std::string& extension);

// The result of a run, from wtperf's test.stat.
struct WtperfResult {
  double seconds = 0;                      // measured
  std::map<std::string, uint64_t> counts;  // by type: "read", "insert", "checkpoint", ...
  std::vector<double> series;              // operations in each second

  uint64_t count(const std::string& type) const;  // 0 of a type that there is not
  double ops_per_second(const std::string& type) const;
};

// INTERNAL if `text` is not that of a run that was completed.
[[nodiscard]] StatusOr<WtperfResult> parse_wtperf_stat(std::string_view text);

}  // namespace nvcache::writes_hurt
