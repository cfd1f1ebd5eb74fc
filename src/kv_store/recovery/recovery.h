// Opening a store on what its medium holds, and closing it in order.
//
// Recovery reads the zones' headers, one line each. Descriptors and items are checked when
// they are used. The store keeps its items only if the deletes and updates of its last user
// survived what happened since; otherwise it is emptied, because a deleted item could come
// back. The state beside the superblock tells (docs/design/format.md).
//
// Used by one thread, when a store is opened and closed, but for reserve_cas(). Does not own the
// parts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "kv_store/api/config.h"
#include "kv_store/format/superblock.h"
#include "kv_store/log/cleaner.h"
#include "kv_store/log/parts.h"
#include "kv_store/medium/media.h"
#include "kv_store/recovery/found_store.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Reads the superblock and the state, or makes an empty store: of the configured geometry, or in
// place of one in which nothing can be trusted. FAILED_PRECONDITION where the medium holds anything
// else; nothing is written then.
[[nodiscard]] StatusOr<KvFoundStore> find_or_format(KvMedium& medium, const KvConfig& config);

class Recovery {
 public:
  Recovery(KvParts& parts, Cleaner& cleaner, const KvState& found)
      : parts_(parts), cleaner_(cleaner), state_(found) {}

  // Takes over the zones that were found, and marks the store as in use: durably, before
  // the first change.
  [[nodiscard]] Status open();
  bool is_open() const { return open_; }

  // Gives this opening the numbers of values up to `up_to`, durably: no other opening gives them.
  // One call at a time.
  [[nodiscard]] Status reserve_cas(uint64_t up_to);

  // Marks the store as closed in order; the next opening numbers values behind `given_cas`. All
  // that the store holds must be on the medium. Not open then.
  [[nodiscard]] Status close(uint64_t given_cas);

  // The state of this opening: the numbers up to its cas are this opening's.
  const KvState& state() const { return state_; }
  uint64_t recovered_items() const { return recovered_items_; }
  // A zone was being cleaned, and the store is only read: items of the zone are missing.
  bool has_unfinished_cleaning() const { return has_unfinished_cleaning_; }

 private:
  [[nodiscard]] Status recover_zones();
  [[nodiscard]] Status adopt_zones();
  [[nodiscard]] Status repair(const std::vector<uint64_t>& damaged)
      NVCACHE_REQUIRES(parts_.zones.cleaning_mutex());
  [[nodiscard]] Status mark_in_use();
  [[nodiscard]] Status write_state();

  KvParts& parts_;
  Cleaner& cleaner_;
  KvState state_;
  bool open_ = false;
  bool has_unfinished_cleaning_ = false;
  uint64_t recovered_items_ = 0;
};

}  // namespace nvcache
