// What `auto` (eviction/auto.cc) learns of the uses of a cache: which settings suit them, by shadow
// caches (shadow_caches.h), and when they have become others (phase_detector.h). All shards of a
// cache tell it of the uses of sampled keys, and follow it. So a cache learns from as many lookups,
// however many shards it has.
//
// The watch begins with the first offer, and the shadow caches when there is no room for all any
// more: while there is, all settings are the same.
//
// Memory: 8 KiB of the watch and 17 KiB of shadow caches at most, taken as they begin, and again
// whenever the cache has doubled. A shard reads one cache line for each offer. It takes the lock
// once for kMostTogether sampled uses or fewer, for about a microsecond each, and never waits for
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/mutex.h"
#include "policy/learning/key_sample.h"
#include "policy/learning/phase_detector.h"
#include "policy/learning/shadow_caches.h"

namespace nvcache {

// A use of a sampled key: a lookup that hit in the cache, or an offer.
struct SampledUse {
  uint64_t key_hash = 0;
  bool hit = false;
};

// Thread-safe.
class SharedLearning {
 public:
  static constexpr uint32_t kMostTogether = 8;

  // For the policy of one shard more.
  void add_shard() { shards_.fetch_add(1, kRelaxed); }
  // That many blocks have come, or have left. A shard calls it once for many.
  void add_blocks(int64_t blocks);

  // There is a contest: the cache has no room for all any more.
  void note_contest() {
    if (!full_.load(kRelaxed)) become_full();
  }
  // Begins to learn, or begins anew where the cache has become full, or twice as large, or half as
  // large. Without memory for that nothing changes.
  void follow_size(double insert_cost) {
    if (!fits_.load(kRelaxed)) begin(insert_cost);
  }
  // Drops the uses where another shard tells of its own at this moment. Until there are contests,
  // all count as blocks that came in.
  void use(std::span<const SampledUse> uses);

  // The settings to follow now.
  UseSettings settings() const { return ShadowCaches::settings_at(chosen_.load(kRelaxed)); }
  // How often the uses have become others.
  uint32_t phases() const { return phases_.load(kRelaxed); }
  // Up to which place keys are sampled (KeySample).
  uint64_t highest_sampled() const { return highest_sampled_.load(kRelaxed); }
  // How many uses a shard gathers: of small samples few, or those of many shards would be late.
  uint32_t uses_together() const { return uses_together_.load(kRelaxed); }
  // Of one shard's share.
  uint64_t metadata_bytes() const;

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  struct Learned {
    // For shadow caches where `insert_cost` is given. Goes on from `before` where that is not null.
    Learned(uint64_t cache_blocks, std::optional<double> insert_cost, const Learned* before);
    // True where the uses have become others.
    bool use(const SampledUse& use);
    uint64_t metadata_bytes() const;
    bool fits(uint64_t cache_blocks) const {
      return cache_blocks / 2 <= blocks && cache_blocks >= blocks / 2;
    }

    uint64_t blocks;
    KeySample sample;
    std::optional<ShadowCaches> shadows;
    PhaseDetector watch;
  };

  void become_full();
  void begin(double insert_cost);

  // An offer reads these, in one cache line.
  alignas(64) std::atomic<uint64_t> highest_sampled_{~uint64_t{0}};
  std::atomic<uint32_t> chosen_{ShadowCaches::kFirstSettings};
  std::atomic<uint32_t> phases_{0};
  std::atomic<uint32_t> uses_together_{1};
  std::atomic<bool> fits_{false};
  std::atomic<bool> full_{false};

  alignas(64) std::atomic<int64_t> blocks_{0};
  std::atomic<uint32_t> shards_{0};
  std::atomic<uint64_t> bytes_{0};
  Mutex mutex_;
  std::unique_ptr<Learned> learned_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache
