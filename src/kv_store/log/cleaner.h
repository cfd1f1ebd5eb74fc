// Cleaning evicts and reclaims space in one step: a zone is cleaned when it is opened for new
// items.
//
// The paper cleans the oldest zone, and evicts its items that were not used lately (NVMcached,
// section 3.3). That loses items from a store with room to spare. So as long as the live items fill
// less than kFullShare of the zones, the zone with the most garbage is cleaned, of a sample, and
// all its live items stay. In a fuller store, and with KvCleaning::kPaper, the paper's rule holds.
//
// Where a large item finds no zone that has room beside its live items, some of them are evacuated:
// the smallest are copied behind those of another zone, and get descriptors that lead there. A kill
// or a loss of power finds either, as with a put.
//
// An item that expired counts as live until it is looked at. So a store that seems fuller
// looks at four more zones each time that it needs one, and lets expired items go.
//
// The survivors (kv_store/log/zone_survey.h) move, and get descriptors of the zone's next version.
// Then one flush makes that version durable, before anybody relies on it: it voids all other
// descriptors of the zone at once. A kill in between loses nothing: the next opening finishes the
// cleaning. A loss of power may lose survivors, as it may lose the newest insertions; it brings
// nothing back.
//
// A zone is out of service only while its survivors move; they are found before.
// nvcache_kv_pauses measures how long operations wait for that.
//
// The caller of clean() holds the cleaning lock; the cleaner takes locks of stripes, one at a
// time. Does not own the parts. Cost in DRAM: 140 bytes for each survivor of the zone.
// At a fill of 80% it copies 1.0 to 1.4 bytes for each new one (the four mixes of KvLive).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/prng.h"
#include "kv_store/log/parts.h"
#include "kv_store/log/zone_mover.h"
#include "kv_store/log/zone_survey.h"
#include "nvcache/status.h"

namespace nvcache {

class Cleaner final : public ZoneCleaner {
 public:
  static constexpr double kFullShare = 0.85;

  explicit Cleaner(KvParts& parts) : parts_(parts) {}

  size_t choose(const std::deque<uint64_t>& full) override
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  bool clean(uint64_t zone, uint64_t item_bytes) override
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  uint32_t sweep_time_s() const override;
  uint32_t sweep(uint64_t zone) override NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  void populate(uint64_t zone, uint64_t offset) override;

  // Gives all zones a new version, so that no stored item can be found. Open zones stay open
  // and keep their cursor, because readers may still hold items in them.
  // Takes both locks of the log. DATA_LOSS if the medium fails.
  [[nodiscard]] Status renew_all();

  // The version that a zone has after one. Descriptors of it may be left from a round before; if it
  // comes round, all of the zone's are cleared first.
  uint64_t next_version(uint64_t version) const;
  bool comes_round(uint64_t version) const;

  // Clears the descriptors that have any version of these zones, and flushes the table.
  void clear_descriptors(const std::vector<uint64_t>& zones);

 private:
  // The work of a cleaning on the items that it keeps.
  struct Work {
    CleaningPlan plan;
    std::vector<ZoneMover::Move> moves;
    uint64_t hot_line = 0;  // where they end
  };

  bool keeps_live() const;
  uint64_t most_kept_bytes(uint64_t item_bytes) const;
  CleaningRule live_rule(uint64_t keep_bytes) const;
  CleaningRule rule_of_full_store() const;
  bool doubts_counts(uint64_t zone) const;
  CleaningPlan plan(uint64_t zone, const CleaningRule& rule) const
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  // The items to keep of a zone, so that another has room. Empty: another zone may suit better.
  std::optional<CleaningPlan> plan_for(uint64_t zone, uint64_t item_bytes)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  // Changes nothing on the medium.
  Work prepare(uint64_t zone, uint64_t version, uint64_t next, CleaningPlan plan) const
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  // Gives a zone its next version, with what the plan keeps of it.
  bool switch_zone(uint64_t zone, CleaningPlan plan)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());

  // cleaner_evacuation.cc. Copies the smallest items of a zone to others, until those that stay
  // have at most `keep_bytes`. False if no zone has room for them.
  bool evacuate(uint64_t zone, uint64_t keep_bytes) NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  std::optional<ZoneLog::Room> room_elsewhere(uint64_t item_bytes)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  bool clean_for_evacuated(uint64_t zone, uint64_t item_bytes)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  void move_elsewhere(uint64_t zone, const Survivor& item, const ZoneLog::Room& room)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  void end_evacuation() NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());

  // `slots` is room to work in.
  void clear_expired(uint64_t zone, std::span<const Survivor> expired, std::vector<uint64_t>* slots)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  bool begin_switch(uint64_t zone) NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  void tell_evicted(const CleaningPlan& plan);
  void count_cleaning(const Work& work, const ZoneMover::Done& done, uint64_t items_before);

  KvParts& parts_;
  Prng random_{1};                           // under the cleaning lock, as what follows
  uint64_t destination_ = ZoneLog::kNoZone;  // where evacuated items go
};

}  // namespace nvcache
