#include "apps/nvcache/tier_replay.h"

#include <array>
#include <cstring>
#include <iterator>
#include <queue>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr size_t kBlockBytes = 512;
constexpr uint64_t kBlocksAFile = 1 << 20;  // as an engine has files

BlockKey block_key(uint64_t key) {
  return {.file = 1 + key / kBlocksAFile, .offset = key % kBlocksAFile * kBlockBytes};
}

// The settings of a specification, for policies that are named alone.
std::string settings_of(const std::string& spec) {
  constexpr std::string_view kScheme = "nvcache://?";
  if (spec.starts_with(kScheme)) return spec.substr(kScheme.size());
  if (spec.find('=') != std::string::npos) return spec;
  const size_t plus = spec.rfind('+');
  if (plus == std::string::npos) return spec;
  return fmt::format("admission={}&eviction={}", spec.substr(0, plus), spec.substr(plus + 1));
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

absl::StatusOr<std::unique_ptr<TierReplay>> TierReplay::open(const std::string& settings,
                                                             uint64_t blocks) {
  std::string rest = settings_of(settings);
  if (rest.starts_with("size=") || rest.find("&size=") != std::string::npos) {
    return invalid_argument("--spec '{}': names a size; allowed: --tier does that", settings);
  }
  std::string spec = fmt::format("nvcache://?size={}", blocks * kBlockBytes);
  if (!rest.starts_with("medium=") && rest.find("&medium=") == std::string::npos) {
    spec += "&medium=dram";
  }
  if (!rest.empty()) spec += "&" + rest;
  absl::StatusOr<std::unique_ptr<BlockCache>> cache = open_block_cache(spec);
  if (!cache.ok()) {
    return absl::Status(cache.status().code(), fmt::format("--spec '{}': {}", settings,
                                                           message_of(cache.status())));
  }
  return std::unique_ptr<TierReplay>(new TierReplay(*std::move(cache)));
}

absl::Status TierReplay::run(std::span<const Access> lookups) {
  std::array<std::byte, kBlockBytes> bytes{};
  for (const Access& access : lookups) {
    ++result_.lookups;
    const Lookup found = cache_->lookup(block_key(access.key));
    if (!found.hit()) {
      std::memcpy(bytes.data(), &access.key, sizeof access.key);
      const BlockKey key = block_key(access.key);
      if (cache_->put(key, bytes, Origin::kRead, found.token).admitted()) {
        ++result_.inserts;
        result_.written_bytes += access.size_bytes;
      }
      continue;
    }
    ++result_.hits;
    if (std::memcmp(found.pin.bytes().data(), &access.key, sizeof access.key) != 0) {
      return absl::DataLossError(
          fmt::format("lookup {}: the bytes of another key", result_.lookups));
    }
  }
  return absl::OkStatus();
}

ReplayResult replay_optimal(std::span<const Access> lookups, uint64_t blocks) {
  constexpr uint64_t kNever = ~uint64_t{0};
  std::vector<uint64_t> next_use(lookups.size());
  {
    absl::flat_hash_map<uint64_t, uint64_t> seen;
    for (size_t i = lookups.size(); i-- > 0;) {
      const auto [at, first] = seen.try_emplace(lookups[i].key, kNever);
      next_use[i] = first ? kNever : at->second;
      at->second = i;
    }
  }
  // Resident keys by their next use. An entry of the queue is outdated once its key was used again.
  absl::flat_hash_map<uint64_t, uint64_t> resident;
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
