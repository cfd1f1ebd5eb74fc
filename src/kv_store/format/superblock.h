// The superblock and the state beside it. They say whether a medium holds a store, what its
// geometry is, and how it was last closed. The superblock is written once. The state
// alternates between two lines, so that a torn write leaves the previous one.
//
// Used by one thread, when a store is opened and closed. docs/design/format.md.
#pragma once

#include <cstdint>

#include "kv_store/format/layout.h"
#include "kv_store/medium/media.h"
#include "nvcache/kv_store.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct KvGeometry {
  static constexpr uint64_t kNoZone = ~uint64_t{0};

  uint64_t size_bytes = 0;
  uint64_t zone_bytes = 0;
  uint64_t zones = 0;
  uint64_t groups = 0;
  uint64_t version_bits = 32;  // of a zone's version that a descriptor holds
  uint64_t headers_at = 0;     // zone headers
  uint64_t uses_at = 0;        // a byte a slot: the order of use, where it is durable
  uint64_t table_at = 0;
  uint64_t zones_at = 0;

  uint64_t slots() const { return groups * kKvGroupSlots; }
  uint64_t header_at(uint64_t zone) const { return headers_at + zone * kKvLineBytes; }
  uint64_t zone_at(uint64_t zone) const { return zones_at + zone * zone_bytes; }
  // kNoZone for an address outside all zones: a descriptor that was damaged.
  uint64_t zone_of(uint64_t address) const {
    if (address < zones_at) return kNoZone;
    const uint64_t zone = (address - zones_at) / zone_bytes;
    return zone < zones ? zone : kNoZone;
  }
  bool operator==(const KvGeometry&) const = default;
};

// Plans a store of `size_bytes` for items that typically have `item_bytes`.
// INVALID_ARGUMENT if there is room for fewer than three zones.
[[nodiscard]] StatusOr<KvGeometry> plan_geometry(uint64_t size_bytes, uint64_t zone_bytes,
                                                 uint64_t item_bytes, uint64_t version_bits);

// The item size that a store of this many items, headers included, should be planned with, if its
// table is full though the zones have room for more of them; 0 if it is not. Pure.
uint64_t fitting_item_bytes(const KvGeometry& geometry, uint64_t items, uint64_t item_bytes);
// The same without asking whether the table is full.
uint64_t planned_item_bytes(uint64_t items, uint64_t item_bytes);

struct KvSuperblock {
  KvGeometry geometry;
  uint64_t nonce = 0;  // random: binds checks to this store
};

struct KvState {
  uint64_t sequence = 0;
  uint64_t cas = 0;           // numbers of values up to this one may have been given
  uint64_t outdated_cas = 0;  // values up to this one are of before a long absence
  uint64_t boot = 0;          // which start of the machine it was opened in
  bool clean = false;         // closed in order: all acknowledged items are on the medium
  bool invalidates = false;   // deletes and updates were flushed when acknowledged
  bool power = false;         // what was flushed survives a loss of power
  bool torn = false;          // power was lost since the store was made: see KvParts
};

class KvSuperblockFile {
 public:
  // `nonce` is the store's; load() and format() set it. The medium must outlive this.
  explicit KvSuperblockFile(KvMedium& on, uint64_t nonce = 0);

  // True: the medium holds a store. False: it holds zeros, or a format that was cut short.
  // FAILED_PRECONDITION for anything else. Writes nothing.
  [[nodiscard]] StatusOr<bool> load(KvSuperblock* superblock, KvState* state);

  // Makes an empty store, durably. Reads the medium up to the first zone, to see that it holds
  // nothing, unless it is known to be blank. Values are numbered behind `cas`.
  [[nodiscard]] Status format(const KvSuperblock& superblock, uint64_t cas = 0);
  // Makes an empty store of one that load() found. Nothing of the old one can come back, whatever
  // a loss of power leaves: another nonce, and a table of zeros before that counts.
  // Cost: writes the table.
  [[nodiscard]] Status replace(const KvSuperblock& superblock, uint64_t cas);

  [[nodiscard]] Status write_state(const KvState& state);

 private:
  [[nodiscard]] Status persist(uint64_t offset, uint64_t size_bytes) {
    return on_.sync({offset, size_bytes});
  }
  [[nodiscard]] Status begin_format();
  [[nodiscard]] Status finish_format(const KvSuperblock& superblock, uint64_t cas);
  StatusOr<KvSuperblock> parse() const;
  bool load_state(KvState* state, uint64_t nonce) const;

  KvMedium& on_;
  std::byte* const base_;
  uint64_t nonce_;
};

}  // namespace nvcache
