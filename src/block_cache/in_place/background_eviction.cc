#include "block_cache/in_place/background_eviction.h"

#include <algorithm>

namespace nvcache {
namespace {

constexpr double kStartShare = 0.95;
constexpr double kStopShare = 0.90;

}  // namespace

std::unique_ptr<BackgroundEviction> BackgroundEviction::make(ShardSet& shards,
                                                             AdmissionControl& admission,
                                                             const Space& space, Clock& clock) {
  if (!shards.evicts_in_passes()) return nullptr;
  return std::unique_ptr<BackgroundEviction>(
      new BackgroundEviction(shards, admission, space, clock));
}

void BackgroundEviction::run_pass() {
  const uint32_t refused_bytes = refused_bytes_.exchange(0, std::memory_order_relaxed);
  const double share = share_to_evict(refused_bytes);
  for (const std::unique_ptr<Shard>& shard : shards_.all()) {
    shard->begin_pass(clock_.now_ns(), share);
    while (share > 0 && wants_more_room(refused_bytes) && shards_.evict_one(*shard) != 0) {
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
  return (full || !space_.has_room(refused_bytes)) && admission_.may_evict();
}

}  // namespace nvcache
