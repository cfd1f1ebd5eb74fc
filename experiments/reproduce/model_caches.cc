#include "experiments/reproduce/model_caches.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "medium/cost_model.h"
#include "medium/profiles.h"
#include "nvcache/tiered_cache.h"
#include "tiered_cache/tiered_cache_impl.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::reproduce {
namespace {

constexpr size_t kBlockKeyBytes = 16;

// ---- The tiered cache ----

// Objects are the numbers of blocks; their saved form begins with it.
void* value_of_block(uint64_t block) { return reinterpret_cast<void*>(block + 1); }
uint64_t block_of_value(const void* value) { return reinterpret_cast<uintptr_t>(value) - 1; }

class NumberCodec final : public ObjectCodec {
 public:
  size_t saved_bytes(const Object&) override { return kModelBlockBytes; }
  bool save(const Object& object, MutableBytes into) override {
    const uint64_t block = block_of_value(object.value);
    std::memcpy(into.data(), &block, sizeof(block));
    return true;
  }
  void destroy(std::string_view, const Object&) override {}
};

Object object_of(uint64_t block) {
  return {.value = value_of_block(block),
          .kind = {.word = 0, .movable = true},
          .charge_bytes = kModelBlockBytes};
}

class TieredModel final : public ModelCache {
 public:
  explicit TieredModel(std::unique_ptr<TieredCache> cache) : cache_(std::move(cache)) {}

  bool lookup(uint64_t block, double) override {
    const auto make = [](ByteView saved, Object* made) {
      uint64_t number = 0;
      std::memcpy(&number, saved.data(), sizeof(number));
      *made = object_of(number);
      return true;
    };
    const MakeObject maker(make);
    TieredCache::Handle* handle = cache_->lookup(key_of(block), &maker);
    if (handle == nullptr) return false;
    wrong_ += block_of_value(cache_->object(handle).value) != block;
    cache_->release(handle);
    return true;
  }

  // An object that finds no room is not in the cache: a miss to come.
  void insert(uint64_t block) override {
    (void)cache_->insert(key_of(block), object_of(block), Priority::kLow, nullptr);
  }

  uint64_t wrong() const override { return wrong_; }

 private:
  std::string_view key_of(uint64_t block) {
    const uint64_t words[2] = {1, block};
    static_assert(sizeof(words) == kBlockKeyBytes);
    std::memcpy(key_, words, sizeof(words));
    return {key_, sizeof(key_)};
  }

  const std::unique_ptr<TieredCache> cache_;
  char key_[kBlockKeyBytes] = {};
  uint64_t wrong_ = 0;
};

// ---- Memory Mode ----

// Blocks by their last use, each in a place.
class PlacedLru {
 public:
  explicit PlacedLru(uint32_t places) : free_(places) {}

  // The block's place; none if it is not here.
  std::optional<uint32_t> find(uint64_t block) {
    const auto found = by_block_.find(block);
    if (found == by_block_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->place;
  }

  // Gives the block a place: a free one, or that of the block used longest ago.
  uint32_t put(uint64_t block) {
    uint32_t place = 0;
    if (free_ > 0) {
      place = --free_;
    } else {
      place = order_.back().place;
      by_block_.erase(order_.back().block);
      order_.pop_back();
    }
    order_.push_front({block, place});
    by_block_[block] = order_.begin();
    return place;
  }

 private:
  struct Entry {
    uint64_t block;
    uint32_t place;
  };
  uint32_t free_;
  std::list<Entry> order_;  // the one used last first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_block_;
};

constexpr uint64_t kGroupBytes = 256;
constexpr uint64_t kFrameBytes = 4 << 10;
constexpr uint64_t kGroupsOfFrame = kFrameBytes / kGroupBytes;
constexpr uint64_t kGroupsOfBlock = kModelBlockBytes / kGroupBytes;
constexpr uint64_t kIntervals = 4;  // of 16 pairs of some 250 bytes, in a block

class MemoryModeModel final : public ModelCache {
 public:
  MemoryModeModel(const MemoryModeSizes& sizes, StepClock& clock, uint64_t seed)
      : clock_(clock),
        scm_(*find_profile("optane")),
        lru_(static_cast<uint32_t>(sizes.block_bytes / kModelBlockBytes)),
        filters_{sizes.block_bytes / kGroupBytes, groups_of(sizes.filter_bytes)},
        index_{filters_.first + filters_.groups, groups_of(sizes.index_bytes)},
        blocks_(sizes.blocks),
        frames_((index_.first + index_.groups) / kGroupsOfFrame + 1),
        sets_(groups_of(sizes.dram_bytes)) {
    std::iota(frames_.begin(), frames_.end(), 0u);
    Prng prng(seed);
    for (size_t i = frames_.size(); i > 1; --i) std::swap(frames_[i - 1], frames_[prng.below(i)]);
  }

  bool lookup(uint64_t block, double at) override {
    const auto pair = static_cast<uint64_t>(at * static_cast<double>(kGroupsOfBlock));
    read(filters_.first + mix64(block * kGroupsOfBlock + pair) % filters_.groups, 1);
    read(index_.first + block * index_.groups / blocks_ % index_.groups, 1);
    const auto place = lru_.find(block);
    if (!place) return false;
    const auto interval = static_cast<uint64_t>(at * kIntervals);
    const uint64_t first = *place * kGroupsOfBlock;
    Traffic traffic;
    for (uint64_t i = 0; i < kGroupsOfBlock / kIntervals; ++i) {
      touch(first + interval * kGroupsOfBlock / kIntervals + i, false, traffic);
    }
    touch(first + kGroupsOfBlock - 1, false, traffic);
    charge(traffic);
    return true;
  }

  void insert(uint64_t block) override {
    const auto found = lru_.find(block);
    const uint64_t first = (found ? *found : lru_.put(block)) * kGroupsOfBlock;
    Traffic traffic;
    for (uint64_t i = 0; i < kGroupsOfBlock; ++i) touch(first + i, true, traffic);
    charge(traffic);
  }

 private:
  struct Region {
    uint64_t first = 0;  // group
    uint64_t groups = 1;
  };
  struct Set {
    uint64_t group = kNoGroup;
    bool dirty = false;
  };
  struct Traffic {
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
  };
  static constexpr uint64_t kNoGroup = ~uint64_t{0};

  static uint64_t groups_of(uint64_t bytes) { return std::max<uint64_t>(1, bytes / kGroupBytes); }

  void read(uint64_t group, uint64_t groups) {
    Traffic traffic;
    for (uint64_t i = 0; i < groups; ++i) touch(group + i, false, traffic);
    charge(traffic);
  }

  void touch(uint64_t address, bool store, Traffic& traffic) {
    const uint64_t group =
        uint64_t{frames_[address / kGroupsOfFrame]} * kGroupsOfFrame + address % kGroupsOfFrame;
    Set& set = sets_[group % sets_.size()];
    if (set.group != group) {
      traffic.read_bytes += kGroupBytes;
      if (set.dirty) traffic.written_bytes += kGroupBytes;
      set = {group, false};
    }
    set.dirty = set.dirty || store;
  }

  void charge(const Traffic& traffic) {
    const uint64_t now_ns = clock_.now_ns();
    if (traffic.written_bytes > 0) {
      clock_.wait_until_ns(scm_.start_write(now_ns, traffic.written_bytes));
    }
    if (traffic.read_bytes > 0) {
      clock_.wait_until_ns(scm_.start_read(now_ns, traffic.read_bytes));
    }
  }

  StepClock& clock_;
  CostModel scm_;
  PlacedLru lru_;
  const Region filters_;
  const Region index_;
  const uint64_t blocks_;
  std::vector<uint32_t> frames_;  // by the order of addresses: where they lie
  std::vector<Set> sets_;
};

}  // namespace

StatusOr<std::unique_ptr<ModelCache>> make_tiered_model(const std::string& spec, StepClock& clock) {
  const auto config = parse_tiered_config(spec);
  if (!config.ok()) return config.status();
  auto cache = TieredCacheImpl::make(*config, std::make_shared<NumberCodec>(), clock);
  if (!cache.ok()) return cache.status();
  return std::unique_ptr<ModelCache>(std::make_unique<TieredModel>(*std::move(cache)));
}

std::unique_ptr<ModelCache> make_memory_mode_model(const MemoryModeSizes& sizes, StepClock& clock,
                                                   uint64_t seed) {
  return std::make_unique<MemoryModeModel>(sizes, clock, seed);
}

}  // namespace nvcache::reproduce
