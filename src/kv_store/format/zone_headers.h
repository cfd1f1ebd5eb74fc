// The headers of the zones, one line each on the medium. Version and hot line carry checks
// and are relied on; the order in which zones were opened and the counts of items are hints
// (docs/design/format.md).
//
// Thread-safe: counts are added to atomically; a header is written by the one thread that
// holds the space lock (kv_store/log/zone_log.h). The sums of all counts are kept in DRAM, a stripe
// for each thread, so that they cost the same for any number of zones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/striped_counters.h"
#include "kv_store/format/durable_memory.h"
#include "kv_store/format/layout.h"
#include "kv_store/format/superblock.h"

namespace nvcache {

class ZoneHeaders {
 public:
  struct Live {
    uint64_t items = 0;
    uint64_t item_bytes = 0;
    // Of keys and values.
    uint64_t data_bytes() const {
      return item_bytes - std::min(item_bytes, items * kKvItemHeaderBytes);
    }
  };
  // How far a cleaning is, by offsets in the zone. The survivors of all that lay before `from` lie
  // before `to`, but for the item whose last byte would be there: it may have its old descriptor
  // yet, and may reach beyond `to`, where its rest lies at `from`. From `from` on nothing moved.
  struct Progress {
    uint64_t to = 0;
    uint64_t from = 0;
    uint32_t attempt = 0;  // openings that went on with it
    // False: a loss of power tore what the header says of it.
    bool is_known = true;
  };
  struct Loaded {
    uint64_t version = 0;   // 0: the header is damaged
    uint64_t hot_line = 0;  // 0 also if only that word is damaged
    uint64_t sequence = 0;  // 0: the zone was not opened since the store was made or cleared
    std::optional<Progress> cleaning;  // of a cleaning that did not end
  };

  ZoneHeaders(DurableMemory& memory, const KvGeometry& geometry, uint64_t nonce)
      : memory_(memory), geometry_(geometry), nonce_(nonce) {}

  Loaded load(uint64_t zone) const;
  // Takes the counts of a zone that the medium held into the sums. Call once for each zone, before
  // any other change. Counts that cannot be true, after a loss of power, become 0.
  void adopt_counts(uint64_t zone);
  // Says in the header of a zone how far its cleaning is. One store makes it so, for the one that
  // opens the store after a kill. Not flushed.
  void note_progress(uint64_t zone, uint64_t version, const Progress& progress);
  // Says beside the version, in the same word, that descriptors of a later one may be written: no
  // loss of power parts the two. Not flushed.
  void mark_cleaning(uint64_t zone, uint64_t version);
  // Ends a cleaning. Not flushed. The counts start at 0.
  void write(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence);
  bool persist(uint64_t zone) { return memory_.persist(geometry_.header_at(zone), kKvLineBytes); }
  bool persist_all() {
    return memory_.persist(geometry_.headers_at, geometry_.zones * kKvLineBytes);
  }

  void count(uint64_t zone, int64_t items, int64_t item_bytes) {
    std::byte* header = at(zone);
    add_word(header + offsetof(KvZoneHeader, live_items), static_cast<uint64_t>(items));
    add_word(header + offsetof(KvZoneHeader, live_bytes), static_cast<uint64_t>(item_bytes));
    auto& sums = sums_.mine();
    sums.add(Sum::kItems, static_cast<uint64_t>(items));
    sums.add(Sum::kItemBytes, static_cast<uint64_t>(item_bytes));
  }
  // Takes the counts of a zone from those who looked. False if they were right.
  bool recount(uint64_t zone, uint64_t items, uint64_t item_bytes);
  uint64_t live_items(uint64_t zone) const {
    return load_word(at(zone) + offsetof(KvZoneHeader, live_items), std::memory_order_relaxed);
  }
  // Bytes of items that descriptors lead to; a hint. Items that expired count until they are
  // cleaned. Less than none, after a loss of power, is none.
  uint64_t live_bytes(uint64_t zone) const {
    const uint64_t bytes =
        load_word(at(zone) + offsetof(KvZoneHeader, live_bytes), std::memory_order_relaxed);
    return static_cast<int64_t>(bytes) < 0 ? 0 : bytes;
  }
  bool is_fresh(uint64_t zone) const {
    return load_word(at(zone) + offsetof(KvZoneHeader, sequence), std::memory_order_relaxed) == 0;
  }
  // Over all zones.
  Live live() const;

  void prefetch(uint64_t zone) const { __builtin_prefetch(at(zone), /*rw=*/1); }

 private:
  // Differences, modulo 2^64: one thread may count what another counts off.
  enum class Sum : uint8_t { kItems, kItemBytes, kFieldCount };

  std::byte* at(uint64_t zone) const { return memory_.at(geometry_.header_at(zone)); }
  void restart_counts(uint64_t zone);
  std::optional<Progress> progress_in(uint64_t zone, const KvZoneHeader& header) const;

  DurableMemory& memory_;
  const KvGeometry geometry_;
  const uint64_t nonce_;
  StripedCounters<Sum> sums_;
};

}  // namespace nvcache
