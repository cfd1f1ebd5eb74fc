// The real TieredCache as the block cache of a simulation.
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "experiments/simulate/block_tiers.h"
#include "experiments/simulate/event_clock.h"
#include "experiments/simulate/phantom_medium.h"
#include "experiments/simulate/rocksdb_configurations.h"
#include "nvcache/tiered_cache.h"
#include "tiered_cache/tiered_cache_impl.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::simulate {
namespace {

constexpr size_t kBlockKeyBytes = 16;
constexpr uint64_t kTierGrainBytes = 4096;
constexpr int kShards = 4;  // the caches are small: with more some would hold few blocks

// Objects are labels: what block it is, and not 0, which is no object.
constexpr int kVersionShift = 40;
uint64_t label_of(const BlockName& block) {
  return (uint64_t{block.version} << kVersionShift | block.number) + 1;
}
Object object_of(uint64_t label) {
  return {.value = reinterpret_cast<void*>(label),
          .kind = {.word = 0, .movable = true},
          .charge_bytes = kRocksdbBlockBytes};
}
uint64_t label_of(const Object& object) { return reinterpret_cast<uintptr_t>(object.value); }

// A saved block is its label, and bytes that nobody looks at.
class LabelCodec final : public ObjectCodec {
 public:
  size_t saved_bytes(const Object&) override { return kRocksdbBlockBytes; }
  bool save(const Object& object, MutableBytes into) override {
    const uint64_t label = label_of(object);
    std::memcpy(into.data(), &label, sizeof(label));
    return true;
  }
  void destroy(std::string_view, const Object&) override {}
};

class TieredBlocks final : public BlockTiers {
 public:
  explicit TieredBlocks(const Options& options)
      : profile_(*find_profile(options.medium)),
        copies_(row_of(options).kind == BlockCacheKind::kCopied),
        client_writes_(options.page_cache_bytes == 0 ||
                       row_of(options).policy.starts_with("scm_first")) {
    const auto config = parse_tiered_config(specification(options));
    NVCACHE_ASSERT(config.ok());
    auto cache = TieredCacheImpl::make(
        *config, std::make_shared<LabelCodec>(), clock_,
        [this](const Config& tier, Clock&) { return open_phantom(tier.size_bytes); });
    NVCACHE_ASSERT(cache.ok());
    cache_ = *std::move(cache);
  }

  Found look_up(uint64_t now_ns, const BlockName& block, double) override {
    clock_.begin_event(now_ns);
    bool lower = false;
    const auto make = [&](ByteView saved, Object* made) {
      lower = true;
      *made = object_of(phantom_->label_of(saved));
      return true;
    };
    const MakeObject maker(make);
    TieredCache::Handle* const handle = cache_->lookup(key_of(block), &maker);
    ++lookups_;
    if (handle != nullptr) {
      NVCACHE_ASSERT(label_of(cache_->object(handle)) == label_of(block));
      ++(lower ? lower_hits_ : first_hits_);
      // It was promoted: the rest of it was read, too.
      if (lower && !copies_ && handle->is_resident()) {
        phantom_->read_aside(kRocksdbBlockBytes - kIntervalBytes - kBlockEndBytes);
      }
      cache_->release(handle);
    }
    take_owed();
    return {.hit = handle != nullptr,
            .in_first_tier = handle != nullptr && !lower,
            .done_ns = clock_.now_ns()};
  }

  uint64_t insert(uint64_t now_ns, const BlockName& block) override {
    clock_.begin_event(now_ns);
    const uint64_t owed_before = owed_;
    // An object that finds no room is not in the cache: a miss to come.
    (void)cache_->insert(key_of(block), object_of(label_of(block)), Priority::kLow, nullptr);
    take_owed();
    uint64_t done_ns = clock_.now_ns();
    while (client_writes_ && owed_ > owed_before) done_ns = write_owed(done_ns);
    return done_ns;
  }

  uint64_t owed_blocks() const override { return owed_; }
  uint64_t write_owed(uint64_t now_ns) override {
    if (owed_ == 0) return now_ns;
    --owed_;
    clock_.begin_event(now_ns);
    phantom_->write_aside(kRocksdbBlockBytes);
    return clock_.now_ns();
  }

  void count(Result* result) const override {
    result->page_lookups = lookups_;
    result->page_hits = first_hits_;
    if (phantom_ == nullptr) return;
    const TieredStats stats = cache_->stats();
    const TierStats& tier = stats.tiers.back();
    result->tier_lookups = lookups_ - first_hits_;
    result->tier_hits = lower_hits_;
    result->tier_hit_ratio =
        result->tier_lookups == 0
            ? 0
            : static_cast<double>(lower_hits_) / static_cast<double>(result->tier_lookups);
    result->tier_inserts = tier.inserts + tier.demoted_in;
    result->tier_removals = result->tier_inserts - tier.blocks;
    result->tier_used_share =
        static_cast<double>(tier.used_bytes) / static_cast<double>(tier.size_bytes);
    result->nvram_read_bytes = phantom_->read_bytes();
    result->nvram_written_bytes = phantom_->written_bytes();
  }

 private:
  static const RocksdbConfiguration& row_of(const Options& options) {
    return *find_rocksdb_configuration(options.configuration);
  }

  static std::string specification(const Options& options) {
    const auto scaled = [&](uint64_t bytes) {
      return bytes / options.scale / kTierGrainBytes * kTierGrainBytes;
    };
    std::string spec =
        fmt::format("tiered://?policy={}&dram={}&shards={}&demote=foreground",
                    row_of(options).policy, scaled(options.page_cache_bytes), kShards);
    if (options.tier_bytes > 0) {
      spec += fmt::format("&tier=(size={},space=in_place,verify=never,maintenance=0,shards={})",
                          scaled(options.tier_bytes), kShards);
    }
    return spec;
  }

  StatusOr<std::unique_ptr<Medium>> open_phantom(uint64_t size_bytes) {
    auto medium = PhantomMedium::open(size_bytes, profile_, clock_, kRocksdbBlockBytes);
    if (!medium.ok()) throw std::bad_alloc();  // address space, for all of the simulation
    phantom_ = medium->get();
    phantom_->owe_writes();
    if (!copies_) phantom_->read_parts({kBlockEndBytes, kIntervalBytes});
    return *std::move(medium);
  }

  void take_owed() {
    if (phantom_ != nullptr) owed_ += phantom_->take_owed_bytes() / kRocksdbBlockBytes;
  }

  std::string_view key_of(const BlockName& block) {
    const uint64_t words[2] = {uint64_t{block.version} + 1, block.number};
    static_assert(sizeof(words) == kBlockKeyBytes);
    std::memcpy(key_, words, sizeof(words));
    return {key_, sizeof(key_)};
  }

  const Profile& profile_;
  const bool copies_;
  const bool client_writes_;
  EventClock clock_;
  PhantomMedium* phantom_ = nullptr;  // the tier's; null: no block has come there
  std::unique_ptr<TieredCacheImpl> cache_;
  char key_[kBlockKeyBytes] = {};
  uint64_t owed_ = 0;  // blocks
  uint64_t lookups_ = 0;
  uint64_t first_hits_ = 0;
  uint64_t lower_hits_ = 0;
};

}  // namespace

std::unique_ptr<BlockTiers> make_tiered_blocks(const Options& options) {
  return std::make_unique<TieredBlocks>(options);
}

}  // namespace nvcache::simulate
