// How long a store was closed, and what follows: what changed elsewhere since must not be
// served. Items are known by their numbers (cas): those of before an absence are all smaller than
// those of after it, so that nothing is written to mark them. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kv_store/api/config.h"
#include "kv_store/medium/media.h"
#include "kv_store/recovery/found_store.h"

namespace nvcache {

// Seconds from the latest that the store has seen until now: up to `sync=` seconds more than it was
// away for, because an idle store notes the time with its background syncs. Empty if that cannot be
// told: the store is older than this record, or the clock is behind what it has seen.
std::optional<uint32_t> absence_s(const KvFoundStore& found, const KvMedium& on,
                                  const KvConfig& config);

// True if what it holds counts as outdated: `max_absence=` is given, and it was away for longer, or
// not known for how long.
bool was_away_too_long(const KvFoundStore& found, const KvMedium& on, const KvConfig& config);

// For the operator: how long it was away, and what became of its items.
std::string absence_note(const KvFoundStore& found, const KvMedium& on, const KvConfig& config);

}  // namespace nvcache
