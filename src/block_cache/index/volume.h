// Where the bytes of a cache's blocks lie on its medium: in place, each block in an extent of its
// own, or in regions, which are appended to and emptied whole. Which blocks come in, how they are
// found and which of them leave is no business of a volume's, but it says when it wants room.
//
// A third kind of volume implements this, and has a row in store/layouts.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "block_cache/api/config.h"
#include "block_cache/api/counters.h"
#include "block_cache/index/admission_control.h"
#include "block_cache/index/gone_files.h"
#include "block_cache/index/key_generations.h"
#include "block_cache/index/shard_set.h"
#include "block_cache/io/aligned_buffer.h"
#include "block_cache/io/block_reader.h"
#include "block_cache/io/medium_health.h"
#include "block_cache/io/medium_probe.h"
#include "block_cache/io/space.h"
#include "medium/medium.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/stats.h"
#include "nvcache/status.h"
#include "nvcache/verdict.h"

namespace nvcache {

// Thread-safe, but for start() and the destructor.
class Volume {
 public:
  // The parts of a cache that a volume works with. All outlive it.
  struct Parts {
    const Config& config;
    Medium& medium;
    Clock& clock;
    Counters& counters;
    MediumHealth& health;
    BlockReader& reader;
    ShardSet& shards;
    AdmissionControl& admission;
    const GoneFiles& gone_files;
  };

  // Ends its threads; writes what is queued, and, where blocks outlive the opening, what is open.
  // The shards are still there.
  virtual ~Volume() = default;

  // Where the shards' blocks lie.
  virtual Space& space() = 0;
  virtual MediumProbe& probe() = 0;

  // Once the shards are there: starts its threads, and begins to bring back what an earlier opening
  // left. RESOURCE_EXHAUSTED: no thread.
  [[nodiscard]] virtual Status start() = 0;

  // Brings in a block that was admitted: finds room for it, evicting where it must and may, enters
  // it in its shard, and writes it, now or later. kAdmitted, or why not.
  virtual Reason enter(uint64_t hash, const BlockKey& key, ByteView block,
                       const Freshness& fresh) = 0;

  // Whether blocks that are entered may not be live yet, and find_pending() serves them. The same
  // at any time.
  virtual bool keeps_pending() const { return false; }
  // The bytes of such a block, or null. They stay as they are.
  virtual SharedBuffer find_pending(uint64_t, uint32_t, const BlockKey&, uint32_t*) const {
    return nullptr;
  }

  // Waits until all that was entered before is on the medium, or lost.
  virtual void drain() = 0;
  // Does the work of BlockCache::resize(). May throw std::bad_alloc.
  [[nodiscard]] virtual Status resize(uint64_t size_bytes) = 0;
  // A round of the maintenance thread.
  virtual void maintain() = 0;

  // Blocks were erased.
  virtual void note_erased() {}
  // Makes it durable that these keys, and all of these files, were erased.
  [[nodiscard]] virtual Status remember_erased(std::span<const BlockKey>,
                                               std::span<const uint64_t>) {
    return ok_status();
  }
  // Whether blocks from before a restart may still come back.
  virtual bool recovering() const { return false; }

  virtual void add_stats(Stats* stats) const = 0;

 protected:
  // OUT_OF_RANGE names the sizes that a resize allows: 0, and `least_bytes` to the largest.
  [[nodiscard]] static Status check_new_size(uint64_t size_bytes, uint64_t least_bytes,
                                             const Config& config);
};

}  // namespace nvcache
