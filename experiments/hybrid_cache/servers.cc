#include "experiments/hybrid_cache/servers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/text.h"
#include "experiments/harness/paper_table.h"

namespace nvcache::hybrid_cache {
namespace {

using papers::paper_number;

constexpr Server kServers[] = {
    {"2P", 256, 0, 150, 0, 1.00},       {"64-0", 64, 0, 40, 0, 0.43},
    {"64-128", 64, 128, 40, 100, 0.50}, {"32-128", 32, 128, 12, 100, 0.46},
    {"32-256", 32, 256, 12, 200, 0.53},
};

constexpr Policy kPolicies[] = {
    {kDramOnly, "DRAM only", ""},
    {kScmOnly, "SCM only", "dram_first"},
    {kDramFirst, "DRAM first", "dram_first"},
    {"scm_first_2", "SCM first (2)", "scm_first(2)"},
    {"scm_first_6", "SCM first (6)", "scm_first(6)"},
    {"bidirectional_4", "Bidirectional (4)", "bidirectional(4)"},
};

// The caches are small: with more shards some would hold only a few dozen blocks.
constexpr int kShards = 4;

constexpr double kFlashGb = 2048;  // the device of Table 1

// Table 4 leaves a price open, that of a GB of DRAM. Its line goes through these two costs.
constexpr std::string_view kFittedCosts[] = {kBase, "32-256"};

// In KiB, which all caches take exactly.
std::string kib(double gb, uint64_t gb_bytes) {
  return fmt::format("{}KiB", static_cast<uint64_t>(gb * static_cast<double>(gb_bytes)) >> 10);
}

}  // namespace

std::span<const Server> servers() { return kServers; }

const Server& find_server(std::string_view name) {
  for (const Server& server : kServers) {
    if (server.name == name) return server;
  }
  std::abort();
}

std::span<const Policy> policies() { return kPolicies; }

StatusOr<const Policy*> find_policy(std::string_view name) {
  std::string names;
  for (const Policy& policy : kPolicies) {
    if (policy.name == name) return &policy;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", policy.name);
  }
  return invalid_argument("--policies: no policy {}; allowed are {}", name, names);
}

std::string cache_spec(const Options& options, const Server& server, const Policy& policy) {
  const std::string dram = kib(server.dram_cache_gb, options.gb_bytes);
  if (policy.spec.empty()) return fmt::format("lru:size={},shards={}", dram, kShards);
  return fmt::format("tiered://?policy={}&dram={}&shards={}&tier=(size={},medium={})", policy.spec,
                     policy.name == kScmOnly ? "0" : dram, kShards,
                     kib(server.scm_cache_gb, options.gb_bytes), options.medium);
}

double computed_cost(const Server& server) {
  if (server.name == kTwoSockets) return 1;
  const auto memory_gb = [](const Server& each) {  // of DRAM, for the same money
    return each.dram_gb + paper_number("cost-scm") * each.scm_gb;
  };
  const Server& one = find_server(kFittedCosts[0]);
  const Server& other = find_server(kFittedCosts[1]);
  const double cost_per_gb = (other.cost - one.cost) / (memory_gb(other) - memory_gb(one));
  return one.cost + cost_per_gb * (memory_gb(server) - memory_gb(one));
}

bool is_cost_fitted(const Server& server) {
  return std::ranges::find(kFittedCosts, server.name) != std::end(kFittedCosts);
}

double media_watts(const Server& server) {
  return 1e-3 *
         (paper_number("power-dram") * server.dram_gb + paper_number("power-scm") * server.scm_gb +
          paper_number("power-flash") * kFlashGb);
}

double media_cost_gb(const Server& server) {
  return server.dram_gb + paper_number("cost-scm") * server.scm_gb +
         paper_number("cost-flash") * kFlashGb;
}

}  // namespace nvcache::hybrid_cache
