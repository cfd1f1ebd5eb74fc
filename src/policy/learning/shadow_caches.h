// Which half-life and which lead suit the uses of a cache: small shadow caches, each with other
// settings, see the uses of a sample of the keys, and the one that does best is followed.
//
// A shadow caches up to kMostKeys keys of a sample (key_sample.h), without blocks, by the rule of
// `auto` (eviction/auto.cc).
//
// A shadow earns its hits less `insert_cost` for each insert: writes hurt, so an insert has
// to earn more than itself. After every kWindow uses for each key of room, the settings change if
// others earned more by kLead of the uses.
//
// Memory: 5.5 bytes for each key of a shadow, 17 KiB in all at most. A use of a sampled key
// looks through the keys of every shadow; one key in `blocks / keys` is sampled.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/learning/key_sample.h"
#include "policy/learning/score_table.h"
#include "policy/learning/use_clock.h"

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
  static constexpr uint32_t kLeastKeys = 100;

  // For a cache of `blocks` blocks. Throws std::bad_alloc.
  ShadowCaches(uint64_t blocks, double insert_cost);

  // Settings by their number.
  static UseSettings settings_at(size_t number) { return kSettings[number]; }
  // Of a cache that has no shadows yet.
  static constexpr size_t kFirstSettings = 1;

  bool samples(uint64_t key_hash) const { return sample_.has(key_hash); }
  // A use of a sampled key: a lookup that hit in the cache, or an offer.
  void use(uint64_t key_hash);

  // The number of the settings to follow now.
  size_t chosen() const { return chosen_; }
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

  // From "how often" to "how long ago".
  static constexpr std::array<UseSettings, 5> kSettings = {
      {{32, 2}, {8, 3}, {2, 3}, {1, 5}, {0.25, 1}}};

  void choose();

  const double insert_cost_;
  const KeySample sample_;
  std::vector<std::unique_ptr<Shadow>> shadows_;
  size_t chosen_;
  uint64_t uses_ = 0;  // since choose()
};

}  // namespace nvcache
