#include "apps/nvcache/tier_replay.h"

#include <chrono>
#include <cstring>
#include <iterator>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "block_cache/api/config.h"
#include "block_cache/face/open_config.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kHeadBytes = 1 << 20;    // of a medium of regions
constexpr uint64_t kBlocksAFile = 1 << 20;  // as an engine has files

BlockKey block_key(uint64_t key) {
  return {.file = 1 + key / kBlocksAFile, .offset = key % kBlocksAFile * kSectorBytes};
}

// A specification, its settings alone, or an admission and an eviction policy.
StatusOr<Given<Config>> read_replayed(const std::string& text) {
  constexpr std::string_view kScheme = "nvcache://?";
  const size_t plus = text.rfind('+');
  if (text.starts_with(kScheme) || text.find('=') != std::string::npos ||
      plus == std::string::npos) {
    return read_config(text.starts_with(kScheme) ? text : std::string(kScheme) + text);
  }
  Given<Config> given;
  for (const std::string& policy :
       {"admission=" + text.substr(0, plus), "eviction=" + text.substr(plus + 1)}) {
    if (Status status = read_config_setting(policy, &given); !status.ok()) return status;
  }
  return given;
}

// Of --spec.
Status bad_spec(const std::string& text, const Status& problem) {
  return Status(problem.code(), fmt::format("--spec '{}': {}", text, problem.message()));
}

}  // namespace

bool LruKeys::lookup(uint64_t key) {
  if (blocks_ == 0) return false;
  if (const auto found = at_.find(key); found != at_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return true;
  }
  if (order_.size() == blocks_) {
    at_.erase(order_.back());
    order_.splice(order_.begin(), order_, std::prev(order_.end()));
    order_.front() = key;
  } else {
    order_.push_front(key);
  }
  at_[key] = order_.begin();
  return false;
}

StatusOr<std::unique_ptr<TierReplay>> TierReplay::open(const std::string& settings, uint64_t blocks,
                                                       uint32_t block_bytes) {
  StatusOr<Given<Config>> given = read_replayed(settings);
  if (!given.ok()) return bad_spec(settings, given.status());
  if (given->has<&Config::size_bytes>()) {
    return invalid_argument("--spec '{}': names a size; allowed: --tier does that", settings);
  }
  const uint64_t head_bytes = given->values.space == SpaceKind::kRegions ? kHeadBytes : 0;
  given->set_default<&Config::size_bytes>(blocks * block_bytes + head_bytes);
  const StatusOr<Config> config = complete_config(*std::move(given));
  if (!config.ok()) return bad_spec(settings, config.status());
  StatusOr<std::unique_ptr<BlockCache>> cache = open_block_cache(*config);
  if (!cache.ok()) return bad_spec(settings, cache.status());
  return std::unique_ptr<TierReplay>(new TierReplay(*std::move(cache), block_bytes));
}

// Regions are emptied by a thread of the cache: the trace must not run away from it. A second is
// more than any region takes; then a policy lets nothing go.
void TierReplay::wait_for_room() const {
  constexpr uint64_t kSpareRegions = 2;
  for (int attempt = 0; attempt < 100'000; ++attempt) {
    const Stats now = cache_->stats();
    if (now.free_regions >= kSpareRegions && now.pending_bytes <= now.buffer_bytes / 2) return;
    std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
}

void TierReplay::count_rewritten() {
  const uint64_t rewritten = cache_->stats().rewritten_blocks;
  const uint64_t more = rewritten - std::exchange(rewritten_, rewritten);
  if (result_.inserts == 0) return;
  // A block that was inserted is one of mean size.
  result_.written_bytes += more * (result_.written_bytes / result_.inserts);
  result_.inserts += more;
}

Status TierReplay::run(std::span<const Access> lookups) {
  constexpr uint64_t kOffersARound = 8;
  uint64_t offers = 0;
  std::vector<std::byte> bytes(block_bytes_);
  for (const Access& access : lookups) {
    ++result_.lookups;
    const Lookup found = cache_->lookup(block_key(access.key));
    if (!found.hit()) {
      std::memcpy(bytes.data(), &access.key, sizeof access.key);
      const BlockKey key = block_key(access.key);
      if (in_regions_ && ++offers % kOffersARound == 0) wait_for_room();
      if (cache_->put(key, bytes, Origin::kRead, found.token).admitted()) {
        ++result_.inserts;
        result_.written_bytes += access.size_bytes;
      }
      continue;
    }
    ++result_.hits;
    if (std::memcmp(found.pin.bytes().data(), &access.key, sizeof access.key) != 0) {
      return data_loss_error(fmt::format("lookup {}: the bytes of another key", result_.lookups));
    }
  }
  if (in_regions_) count_rewritten();
  return ok_status();
}

ReplayResult replay_optimal(std::span<const Access> lookups, uint64_t blocks) {
  constexpr uint64_t kNever = ~uint64_t{0};
  std::vector<uint64_t> next_use(lookups.size());
  {
    std::unordered_map<uint64_t, uint64_t> seen;
    for (size_t i = lookups.size(); i-- > 0;) {
      const auto [at, first] = seen.try_emplace(lookups[i].key, kNever);
      next_use[i] = first ? kNever : at->second;
      at->second = i;
    }
  }
  // Resident keys by their next use. An entry of the queue is outdated once its key was used again.
  std::unordered_map<uint64_t, uint64_t> resident;
  std::priority_queue<std::pair<uint64_t, uint64_t>> latest;
  ReplayResult result{.lookups = lookups.size()};
  for (size_t i = 0; i < lookups.size(); ++i) {
    const uint64_t key = lookups[i].key;
    const auto at = resident.find(key);
    if (at != resident.end()) {
      ++result.hits;
      at->second = next_use[i];
    } else if (next_use[i] == kNever) {
      continue;
    } else {
      while (!latest.empty()) {
        const auto found = resident.find(latest.top().second);
        if (found != resident.end() && found->second == latest.top().first) break;
        latest.pop();
      }
      if (resident.size() == blocks) {
        if (latest.empty() || latest.top().first <= next_use[i]) continue;
        resident.erase(latest.top().second);
        latest.pop();
      }
      ++result.inserts;
      result.written_bytes += lookups[i].size_bytes;
      resident[key] = next_use[i];
    }
    latest.emplace(next_use[i], key);
  }
  return result;
}

}  // namespace nvcache
