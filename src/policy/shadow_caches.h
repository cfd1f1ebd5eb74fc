// Which half-life and which lead suit the uses of a cache: small shadow caches, each with other
// settings, see the uses of a sample of the keys, and the one that does best is followed.
//
// A shadow caches up to kMostKeys keys of the sample, without blocks, by the rule of `auto`
// (eviction/auto.cc). The sample is a share of the hashes of keys (Waldspurger et al., "Cache
// modeling and optimization using miniature simulations", ATC 2017): as many keys as the shadow has
// room for stand for as many blocks as the cache has room for.
//
// What a shadow earns is its hits less `insert_cost` for each insert: writes hurt, so an insert has
// to earn more than itself. After every kWindow uses for each key of room, the settings change if
// others earned more by kLead of the uses. Beside them a PhaseWatch (phase_watch.h) sees the
// sample.
//
// Memory: 5.5 bytes for each key of a shadow, 17 KiB in all at most. A use of a sampled key
// looks through the keys of every shadow; one key in `blocks / keys` is sampled.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "policy/phase_watch.h"
#include "policy/score_table.h"
#include "policy/use_clock.h"

namespace nvcache {

// When a block may take the place of another: by how many steps its score must lead.
struct UseSettings {
  double half_life = 0;  // offers for each cached block
  int lead_steps = 0;
};

// Caller-locked.
class ShadowCaches {
 public:
  static constexpr uint64_t kBlocksPerKey = 48;  // at least
  static constexpr uint32_t kMostKeys = 512;
  static constexpr uint32_t kLeastKeys = 16;

  // For a cache of `blocks` blocks. Throws std::bad_alloc.
  ShadowCaches(uint64_t blocks, double insert_cost);

  // Of a cache that has no shadows yet.
  static UseSettings first_settings();

  // Up to which place the shadows of a cache of that many blocks sample the keys. Those of a larger
  // cache sample no key that those of a smaller one leave out.
  static uint64_t highest_sampled(uint64_t blocks);
  static uint64_t place_of(uint64_t key_hash) { return mix64(key_hash); }
  bool samples(uint64_t key_hash) const { return place_of(key_hash) <= highest_sampled_; }
  // Whether these stand for a cache of that many blocks.
  bool fits(uint64_t blocks) const { return blocks / 2 <= blocks_ && blocks >= blocks_ / 2; }

  // A use of a sampled key: a lookup that hit in the cache, or an offer.
  void use(uint64_t key_hash, bool hit);

  // What to follow now.
  UseSettings settings() const;
  // Whether the last use told that the uses of before tell little of those to come.
  bool has_new_phase() const { return has_new_phase_; }
  uint64_t metadata_bytes() const;

 private:
  class Shadow {
   public:
    Shadow(const UseSettings& settings, uint32_t keys);
    void use(uint16_t key, uint32_t noise);
    // Hits less the cost of inserts, since the last call, and half of what it was before.
    double earn(double insert_cost);
    uint64_t metadata_bytes() const;

   private:
    void admit(uint16_t key, uint32_t score, uint32_t noise);

    UseSettings settings_;
    UseClock clock_;
    uint32_t capacity_;
    std::vector<uint16_t> keys_;  // parts of hashes
    std::vector<uint8_t> scores_;
    ScoreTable absent_;
    uint64_t aging_bucket_ = 0;
    uint64_t hits_ = 0;
    uint64_t inserts_ = 0;
    double earned_ = 0;
  };

  void choose();

  const uint64_t blocks_;
  const double insert_cost_;
  const uint32_t keys_;
  const uint64_t highest_sampled_;
  std::vector<std::unique_ptr<Shadow>> shadows_;
  size_t chosen_;
  uint64_t uses_ = 0;  // since choose()
  PhaseWatch watch_;
  bool has_new_phase_ = false;
};

}  // namespace nvcache
