// The servers of Table 4 of *Hybrid Cache*, the policies of section 6.1, and the
// caches that stand for them. Stateless.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiments/hybrid_cache/hybrid_cache_run.h"
#include "nvcache/status_or.h"

namespace nvcache::hybrid_cache {

// A column of Table 4; GB and costs as printed there.
struct Server {
  std::string_view name;  // "32-256": GB of DRAM and SCM; "2P"
  double dram_gb = 0;
  double scm_gb = 0;
  double dram_cache_gb = 0;
  double scm_cache_gb = 0;
  double cost = 0;  // relative to 2P
};

inline constexpr std::string_view kBase = "64-0";  // what others are compared with
inline constexpr std::string_view kTwoSockets = "2P";

std::span<const Server> servers();  // 2P first
const Server& find_server(std::string_view name);

struct Policy {
  std::string_view name;   // "dram_first"
  std::string_view label;  // as *Hybrid Cache* calls it
  std::string_view spec;   // of tiered://?policy=; empty: stock RocksDB, DRAM alone
};

inline constexpr std::string_view kDramOnly = "dram_only";
inline constexpr std::string_view kScmOnly = "scm_only";
inline constexpr std::string_view kDramFirst = "dram_first";

std::span<const Policy> policies();
// INVALID_ARGUMENT names those that there are.
[[nodiscard]] StatusOr<const Policy*> find_policy(std::string_view name);

// The specification of a server's block cache under a policy: lru:... or tiered://...
std::string cache_spec(const Options& options, const Server& server, const Policy& policy);

// Returns a server's cost relative to 2P by the prices of its modules: SCM at 0.38 of DRAM's
// price a GB (Table 1). The price that the paper leaves open is fitted to two of Table 4's costs,
// those of 64-0 and 32-256; the other two follow.
double computed_cost(const Server& server);
bool is_cost_fitted(const Server& server);

// By Table 1, of its DRAM, SCM and one flash device: their power, and how many GB of DRAM cost as
// much as they do.
double media_watts(const Server& server);
double media_cost_gb(const Server& server);

}  // namespace nvcache::hybrid_cache
