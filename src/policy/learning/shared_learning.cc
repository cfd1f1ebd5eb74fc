#include "policy/learning/shared_learning.h"

#include <algorithm>
#include <new>

namespace nvcache {
namespace {

// All that are sampled. The shadow caches sample a part of them.
KeySample sample_for(uint64_t blocks) {
  constexpr uint64_t kBlocksPerKey = 8;
  constexpr uint32_t kLeastKeys = 512;
  constexpr uint32_t kMostKeys = 2048;
  return KeySample::of(blocks, kBlocksPerKey, kLeastKeys, kMostKeys);
}

}  // namespace

SharedLearning::Learned::Learned(uint64_t cache_blocks, std::optional<double> insert_cost,
                                 const Learned* before)
    : blocks(cache_blocks),
      sample(sample_for(blocks)),
      watch(before == nullptr ? PhaseDetector(sample.keys)
                              : PhaseDetector(sample.keys, before->watch)) {
  if (insert_cost) shadows.emplace(blocks, *insert_cost);
}

bool SharedLearning::Learned::use(const SampledUse& use) {
  const auto key = static_cast<uint32_t>(use.key_hash);
  if (!shadows) {
    watch.fill(key);
    return false;
  }
  if (shadows->samples(use.key_hash)) shadows->use(use.key_hash);
  return watch.use(key, use.hit);
}

uint64_t SharedLearning::Learned::metadata_bytes() const {
  return sizeof(Learned) + watch.metadata_bytes() + (shadows ? shadows->metadata_bytes() : 0);
}

void SharedLearning::add_blocks(int64_t blocks) {
  const int64_t all = blocks_.fetch_add(blocks, kRelaxed) + blocks;
  const auto now = static_cast<uint64_t>(std::max<int64_t>(all, 0));
  if (!mutex_.try_lock()) return;
  // While the cache grows, the watch sees as many keys as it has room for.
  if (learned_ == nullptr || !full_.load(kRelaxed)) {
    highest_sampled_.store(sample_for(now).highest, kRelaxed);
  }
  if (learned_ != nullptr && !learned_->fits(now)) fits_.store(false, kRelaxed);
  mutex_.unlock();
}

void SharedLearning::become_full() {
  if (!mutex_.try_lock()) return;
  full_.store(true, kRelaxed);
  fits_.store(false, kRelaxed);
  mutex_.unlock();
}

void SharedLearning::begin(double insert_cost) {
  if (!mutex_.try_lock()) return;
  const int64_t blocks = blocks_.load(kRelaxed);
  if (blocks > 0 && !fits_.load(kRelaxed)) {
    try {
      const std::optional<double> cost =
          full_.load(kRelaxed) ? std::optional(insert_cost) : std::nullopt;
      learned_ = std::make_unique<Learned>(static_cast<uint64_t>(blocks), cost, learned_.get());
      highest_sampled_.store(learned_->sample.highest, kRelaxed);
      const uint32_t shards = std::max(shards_.load(kRelaxed), 1u);
      uses_together_.store(std::clamp(learned_->sample.keys / (8 * shards), 1u, kMostTogether),
                           kRelaxed);
      bytes_.store(learned_->metadata_bytes(), kRelaxed);
      fits_.store(true, kRelaxed);
    } catch (const std::bad_alloc&) {  // the next offer tries again
    }
  }
  mutex_.unlock();
}

void SharedLearning::use(std::span<const SampledUse> uses) {
  if (!mutex_.try_lock()) return;
  if (learned_ != nullptr) {
    for (const SampledUse& use : uses) {
      if (!learned_->sample.has(use.key_hash)) continue;
      if (learned_->use(use)) phases_.fetch_add(1, kRelaxed);
    }
    if (learned_->shadows) {
      chosen_.store(static_cast<uint32_t>(learned_->shadows->chosen()), kRelaxed);
    }
  }
  mutex_.unlock();
}

uint64_t SharedLearning::metadata_bytes() const {
  const uint64_t shards = std::max(shards_.load(kRelaxed), 1u);
  return (sizeof(SharedLearning) + bytes_.load(kRelaxed)) / shards;
}

}  // namespace nvcache
