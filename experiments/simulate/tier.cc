#include "experiments/simulate/tier.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "block_cache/api/config.h"
#include "block_cache/face/block_cache_impl.h"
#include "experiments/simulate/engine_model.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kSectorBytes = 4096;
constexpr uint64_t kMaintenanceNs = 1'000'000'000;  // "wakes up once a second": *Writes Hurt*, 3.1

BlockKey key_of(uint32_t block) { return {.file = 1, .offset = block}; }

// The bytes that are put for each block: nobody looks into them.
ByteView no_bytes() {
  static const std::vector<std::byte> zeros(kBlockBytes);
  return {zeros.data(), zeros.size()};
}

std::string replace(std::string text, std::string_view what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string specification(const Options& options, const ConfigurationRow& row, uint64_t bytes) {
  const std::string dram = std::to_string(options.dram_bytes / options.scale);
  const std::string window = fmt::format("{:.6f}", row.lfru_window_seconds / options.scale);
  return fmt::format(
      "nvcache://?size={}&space=in_place&verify=never&maintenance=0&admission={}&eviction={}",
      bytes, replace(std::string(row.admission), "{dram}", dram),
      replace(std::string(row.eviction), "{lfru}", window));
}

}  // namespace

Tier::Tier(const ConfigurationRow& row, std::unique_ptr<EventClock> clock, uint32_t scale)
    : row_(row), clock_(std::move(clock)), maintenance_interval_ns_(kMaintenanceNs / scale) {}

StatusOr<std::unique_ptr<Tier>> Tier::open(const Options& options, const ConfigurationRow& row) {
  std::unique_ptr<Tier> tier(new Tier(row, std::make_unique<EventClock>(), options.scale));
  const double usable = static_cast<double>(options.tier_bytes) * row.usable_share;
  const uint64_t bytes =
      static_cast<uint64_t>(usable) / options.scale / kSectorBytes * kSectorBytes;
  const StatusOr<Config> config = parse_config(specification(options, row, bytes));
  if (!config.ok()) return config.status();
  StatusOr<std::unique_ptr<PhantomMedium>> medium =
      PhantomMedium::open(bytes, *find_profile(options.medium), *tier->clock_);
  if (!medium.ok()) return medium.status();
  tier->medium_ = medium->get();
  StatusOr<std::unique_ptr<BlockCacheImpl>> cache =
      BlockCacheImpl::make(*config, *std::move(medium), *tier->clock_);
  if (!cache.ok()) return cache.status();
  tier->maintain_ = [cache = cache->get()] { cache->maintain(); };
  tier->cache_ = *std::move(cache);
  tier->cache_->set_dataset_size(options.dataset_bytes / options.scale);
  return tier;
}

Tier::Found Tier::look_up(uint64_t now_ns, uint32_t block) {
  clock_->begin_event(now_ns);
  const Lookup lookup = cache_->lookup(key_of(block));
  ++counts_.lookups;
  if (lookup.hit()) ++counts_.hits;
  return {.hit = lookup.hit(), .done_ns = clock_->now_ns(), .token = lookup.token};
}

uint64_t Tier::offer_read(uint64_t now_ns, uint32_t block, MissToken token) {
  return put(now_ns, block, Origin::kRead, token);
}

uint64_t Tier::on_written(uint64_t now_ns, uint32_t block) {
  if (row_.offers_writes) {
    // Nobody has told of blocks that are overwritten there.
    if (!row_.erases_freed) cache_->erase(key_of(block));
    return put(now_ns, block, Origin::kWrite, {});
  }
  if (in_engine()) return now_ns;
  // Write-around: "writes data to the flash device if and only if that block already exists in the
  // cache" (*Writes Hurt*, section 4.1.1).
  if (!cache_->contains(key_of(block))) return now_ns;
  cache_->erase(key_of(block));
  return put(now_ns, block, Origin::kWrite, {});
}

uint64_t Tier::on_freed(uint64_t now_ns, uint32_t block) {
  if (!row_.erases_freed) return now_ns;
  clock_->begin_event(now_ns);
  if (cache_->erase(key_of(block)) && row_.removal_writes_bytes > 0) {
    medium_->write_aside(row_.removal_writes_bytes);
  }
  return clock_->now_ns();
}

uint64_t Tier::put(uint64_t now_ns, uint32_t block, Origin origin, MissToken token) {
  clock_->begin_event(now_ns);
  cache_->put(key_of(block), no_bytes(), origin, token);
  return clock_->now_ns();
}

void Tier::maintain(uint64_t now_ns) {
  clock_->begin_event(now_ns);
  maintain_();
}

void Tier::count(Result* result) const {
  const Stats stats = cache_->stats();
  result->tier_lookups = counts_.lookups;
  result->tier_hits = counts_.hits;
  result->tier_hit_ratio = stats.hit_ratio();
  result->tier_inserts = stats.inserts;
  result->tier_removals = stats.removals;
  result->tier_used_share =
      static_cast<double>(stats.used_bytes) / static_cast<double>(stats.size_bytes);
  result->nvram_read_bytes = medium_->read_bytes();
  result->nvram_written_bytes = medium_->written_bytes();
}

}  // namespace nvcache::simulate
