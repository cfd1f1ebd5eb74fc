// The statistics that a program wrote, as one tree, whatever text they came as: JSON of a block
// cache, a tiered cache, a key-value store or WiredTiger's extension; Prometheus text of these or
// of nvcached.
//
// Names are those of nvcache/stats.h and its siblings, without prefix and `_total`; nvcached's are
// those of its Prometheus text. Nothing here knows which names there are: a new metric is read,
// too. The texts come from outside: whatever they hold, the answer is a tree or an error.
// Stateless; costs one pass over the text.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nvcache/server_stats.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The statistics of one cache, tier, store or server.
struct StatsGroup {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, double, std::less<>> refused;     // by reason
  std::map<std::string, std::string, std::less<>> texts;  // "medium", "admission", ...

  std::optional<double> number(std::string_view name) const;
  std::string text(std::string_view name) const;  // empty if there is none
  bool empty() const { return numbers.empty() && texts.empty(); }
};

// A tier of a tiered cache, and the block cache in it, which the first tier has not.
struct StatsTier {
  StatsGroup tier;
  StatsGroup cache;
};

enum class StatsKind { kBlockCache, kTieredCache, kStore, kServer };
std::string_view name_of(StatsKind kind);  // "tiered cache"

struct StatsSnapshot {
  StatsKind kind = StatsKind::kBlockCache;
  StatsGroup
      whole;  // the block cache, the store or the server; of a tiered cache what is no tier's
  std::vector<StatsTier> tiers;                   // of a tiered cache
  StatsGroup files;                               // of WiredTiger's extension
  std::map<std::string, LatencySteps> latencies;  // of nvcached, by command
  size_t documents = 1;  // JSON objects in the text: the last one was taken
};

// FAILED_PRECONDITION if it holds other things; DATA_LOSS if it ends too early, as a file does that
// is being written. The messages do not name the file.
[[nodiscard]] StatusOr<StatsSnapshot> parse_stats(std::string_view text);

}  // namespace nvcache
