#include "block_cache/background_eviction.h"

#include <algorithm>
#include <utility>

namespace nvcache {
namespace {

constexpr double kStartShare = 0.95;
constexpr double kStopShare = 0.90;

}  // namespace

std::unique_ptr<BackgroundEviction> BackgroundEviction::make(Shards shards, const Space& space,
                                                             Clock& clock, Cache cache) {
  const bool in_passes =
      std::ranges::any_of(shards, [](const auto& shard) { return shard->evicts_in_passes(); });
  if (!in_passes) return nullptr;
  return std::unique_ptr<BackgroundEviction>(
      new BackgroundEviction(shards, space, clock, std::move(cache)));
}

void BackgroundEviction::run_pass() {
  const uint32_t refused_bytes = refused_bytes_.exchange(0, std::memory_order_relaxed);
  const double share = share_to_evict(refused_bytes);
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->begin_pass(clock_.now_ns(), share);
    while (share > 0 && wants_more_room(refused_bytes) && cache_.evict_one(*shard)) {
    }
  }
}

double BackgroundEviction::share_to_evict(uint32_t refused_bytes) const {
  const auto limit_bytes = static_cast<double>(space_.limit_bytes());
  const auto used_bytes = static_cast<double>(space_.used_bytes());
  const double for_space =
      used_bytes > kStartShare * limit_bytes ? 1 - kStopShare * limit_bytes / used_bytes : 0;
  const double for_a_run = space_.has_room(refused_bytes) ? 0 : kStartShare - kStopShare;
  return std::max(for_space, for_a_run);
}

bool BackgroundEviction::wants_more_room(uint32_t refused_bytes) const {
  const auto limit_bytes = static_cast<double>(space_.limit_bytes());
  const bool full = static_cast<double>(space_.used_bytes()) > kStopShare * limit_bytes;
  return (full || !space_.has_room(refused_bytes)) && cache_.may_evict();
}

}  // namespace nvcache
