// The second tier of a simulation: the real BlockCache, with the policies of a configuration, on a
// phantom of the NVRAM. Each call begins at `now_ns` and says when it is done. Blocks have numbers,
// and all of them kBlockBytes bytes. Caller-locked.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/simulate/event_clock.h"
#include "experiments/simulate/phantom_medium.h"
#include "experiments/simulate/simulate.h"
#include "experiments/simulate/tables.h"
#include "nvcache/block_cache.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class Tier {
 public:
  // `options` are complete; `row` has a tier, and outlives this.
  [[nodiscard]] static StatusOr<std::unique_ptr<Tier>> open(const Options& options,
                                                            const ConfigurationRow& row);

  bool in_engine() const { return row_.place == Place::kInEngine; }

  struct Found {
    bool hit = false;
    uint64_t done_ns = 0;
    MissToken token;
  };
  Found look_up(uint64_t now_ns, uint32_t block);
  // A block that was read from below, after that miss.
  uint64_t offer_read(uint64_t now_ns, uint32_t block, MissToken token);
  // The engine writes a block to a place whose old block it has freed.
  uint64_t on_written(uint64_t now_ns, uint32_t block);
  uint64_t on_freed(uint64_t now_ns, uint32_t block);
  void on_storage_read(uint64_t took_ns) { cache_->note_storage_read(took_ns); }

  // Once a second, for the whole machine: a pass of eviction.
  void maintain(uint64_t now_ns);
  uint64_t maintenance_interval_ns() const { return maintenance_interval_ns_; }

  struct Counts {
    uint64_t lookups = 0;
    uint64_t hits = 0;
  };
  Counts counts() const { return counts_; }
  void count(Result* result) const;

 private:
  Tier(const ConfigurationRow& row, std::unique_ptr<EventClock> clock, uint32_t scale);

  uint64_t put(uint64_t now_ns, uint32_t block, Origin origin, MissToken token);

  const ConfigurationRow& row_;
  const std::unique_ptr<EventClock> clock_;
  const uint64_t maintenance_interval_ns_;
  PhantomMedium* medium_ = nullptr;  // the cache's
  std::unique_ptr<BlockCache> cache_;
  std::function<void()> maintain_;
  Counts counts_;
};

}  // namespace nvcache::simulate
