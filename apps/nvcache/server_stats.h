// The figures of nvcached beside its counters: how long requests took, and which prefixes of keys
// they asked for. Both are samples of the requests. Stateless.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache {

// A histogram of Prometheus: how many requests took a step's seconds at most. The last step is
// without bound, so that it has all of them.
struct LatencySteps {
  std::map<double, double> up_to;

  double samples() const { return up_to.empty() ? 0 : up_to.rbegin()->second; }
};

// Those of `now` that are not in `before`.
LatencySteps since(const LatencySteps& now, const LatencySteps& before);

// The seconds that a share of the requests, 0 to 1, took at most: within a step, evenly spread.
// Infinity beyond the last bound. Nothing without requests.
std::optional<double> quantile_seconds(const LatencySteps& steps, double share);

// One prefix of keys, such as "user" of "user:17".
struct PrefixSamples {
  std::string prefix;
  double samples = 0;
  double hits = 0;
  double misses = 0;
};

struct PrefixTable {
  double samples = 0;               // of all requests, with a prefix or without
  std::vector<PrefixSamples> most;  // the most frequent first
};

// /status.json of nvcached's metrics port. Its text comes from outside: fields that are missing or
// of another kind are passed over. UNAVAILABLE while the server starts: the message says what it
// does and how far it is.
[[nodiscard]] StatusOr<PrefixTable> parse_server_status(std::string_view text);

}  // namespace nvcache
