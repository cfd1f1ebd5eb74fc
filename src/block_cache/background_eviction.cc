#include "block_cache/background_eviction.h"

#include <algorithm>
#include <utility>

namespace nvcache {
namespace {

constexpr double kStartShare = 0.95;
constexpr double kStopShare = 0.90;

}  // namespace

std::unique_ptr<BackgroundEviction> BackgroundEviction::make(Shards shards, const SlabSpace& space,
                                                             Clock& clock, Cache cache) {
  const bool in_passes =
      std::ranges::any_of(shards, [](const auto& shard) { return shard->evicts_in_passes(); });
  if (!in_passes) return nullptr;
  return std::unique_ptr<BackgroundEviction>(
      new BackgroundEviction(shards, space, clock, std::move(cache)));
}

void BackgroundEviction::run_pass() {
  const double share = share_to_evict();
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->begin_pass(clock_.now_ns(), share);
    while (share > 0 && wants_more_room() && cache_.evict_one(*shard)) {
    }
  }
}

double BackgroundEviction::share_to_evict() const {
  const auto limit_bytes = static_cast<double>(space_.limit_bytes());
  const auto used_bytes = static_cast<double>(space_.used_bytes());
  return used_bytes > kStartShare * limit_bytes ? 1 - kStopShare * limit_bytes / used_bytes : 0;
}

bool BackgroundEviction::wants_more_room() const {
  const auto limit_bytes = static_cast<double>(space_.limit_bytes());
  return static_cast<double>(space_.used_bytes()) > kStopShare * limit_bytes && cache_.may_evict();
}

}  // namespace nvcache
