// An object that a TieredCache holds on the heap, and what the first tier knows about it.
// A handle is a pointer to an entry.
//
// States and transitions (with the key's shard locked):
//
//   outside --insert--> resident, listed (idle) <--last release / find--> resident, held
//   resident --evict, erase, replace--> outside
//   outside --last release--> removed: demoted if it was evicted, then destroyed, unlocked
//
// Resident: lookups find it by its key. Listed: nobody holds it, and it may be evicted. An
// entry is never resident if it was made from a block of a lower tier that keeps the block, or
// if it wraps a standalone object.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "nvcache/tiered_cache.h"

namespace nvcache {

// Why an entry left the first tier.
enum class Departure : uint8_t { kOutside, kEvicted, kErased };

// Caller-locked, except the key and the object, which do not change.
class TieredCache::Handle {
 public:
  // Null if there is no memory.
  static Handle* make(std::string_view key, uint64_t hash, const Object& object, Priority priority);
  static void destroy(Handle* entry);  // the object must be gone

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  size_t size_bytes() const { return sizeof(Handle) + key_bytes; }

  Object object;
  uint64_t hash = 0;
  Handle* next_in_bucket = nullptr;  // in the table, and in RemovedEntries
  Handle* newer = nullptr;
  Handle* older = nullptr;
  Pin source;  // pins the block of a lower tier that it was made from
  uint32_t key_bytes = 0;
  uint32_t references = 0;
  uint32_t token = 0;  // of the key when it was removed
  uint32_t tier = 0;   // that served it: 0, or the lower tier that has its block
  Priority priority = Priority::kLow;
  uint8_t pool = 0;
  Departure departure = Departure::kOutside;
  bool resident = false;
  bool listed = false;
  bool was_hit = false;
  bool charged = false;  // counts towards the capacity

 private:
  Handle() = default;
  ~Handle() = default;
};

using ObjectEntry = TieredCache::Handle;

}  // namespace nvcache
