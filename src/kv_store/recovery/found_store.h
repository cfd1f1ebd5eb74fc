// A store that a medium holds: what its superblock and state say, and what a new opening may
// believe of it. Stateless; writes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kv_store/api/config.h"
#include "kv_store/format/superblock.h"
#include "kv_store/format/zone_headers.h"
#include "kv_store/medium/media.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The store that a medium held when it was opened, or was formatted with.
struct KvFoundStore {
  KvSuperblock superblock;
  KvState state;
  bool recovered = false;  // the medium held a store
  uint32_t away_s = 0;     // it was closed; 0 if that cannot be told
};

// Reads the superblock and the state. Empty where the medium holds no store, FAILED_PRECONDITION
// where it holds anything else. Writes nothing.
[[nodiscard]] StatusOr<std::optional<KvFoundStore>> find_store(KvMedium& on);

// How far a new opening may believe the items that a medium holds.
enum class KvTrust : uint8_t {
  kNothing,    // deletes and updates may have been undone, or the new owner keeps nothing
  kAll,        // all is as the last owner acknowledged it
  kAfterSync,  // so it is, but only in the kernel's pages: sync before a promise beyond a kill
};

// `boot` numbers this start of the machine; 0: not known. `survives_power`: what the new owner
// promises. Pure.
KvTrust trust_of(const KvState& found, uint64_t boot, Durability wanted, bool survives_power);

// The same of a store that was found, and the opening that is configured.
KvTrust trust_in(const KvFoundStore& found, const KvMedium& on, const KvConfig& config);
// The counts of the zones' headers, which a loss of power may have set back.
ZoneHeaders::Live live_in(const KvMedium& on, const KvGeometry& geometry);

// For the operator: why a store is made anew in which nothing is trusted, and what it held.
std::string why_emptied(const KvFoundStore& found, const KvMedium& on);

// Numbers this start of the machine; 0 if the kernel does not tell.
uint64_t boot_of(const KvConfig& config);

}  // namespace nvcache
