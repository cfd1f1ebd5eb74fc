// An object that a TieredCache holds on the heap, and what the first tier knows of it.
// A handle is a pointer to one.
//
// States and transitions (the key's shard is locked):
//
//   outside --insert--> resident, listed (idle) <--last release / find--> resident, held
//   resident --evict, erase, replace--> outside
//   outside, last release--> leaving: unlocked, saved below if it was evicted, destroyed
//
// Resident: found by its key. Listed: nobody holds it, and it may be evicted. An entry
// that was made of a block of a lower tier, and of standalone objects, is never resident.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "nvcache/tiered_cache.h"

namespace nvcache {

// Why an entry left the first tier.
enum class Departure : uint8_t { kOutside, kEvicted, kErased };

// Caller-locked, but for the key and the object, which do not change.
class TieredCache::Handle {
 public:
  // Null if there is no memory.
  static Handle* make(std::string_view key, uint64_t hash, const Object& object, Priority priority);
  static void destroy(Handle* entry);  // the object must be gone

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  size_t size_bytes() const { return sizeof(Handle) + key_bytes; }

  Object object;
  uint64_t hash = 0;
  Handle* next_in_bucket = nullptr;  // in the table, and in the list of those that leave
  Handle* newer = nullptr;
  Handle* older = nullptr;
  Pin below;  // keeps the block of a lower tier that it was made of from being evicted
  uint32_t key_bytes = 0;
  uint32_t references = 0;
  uint32_t token = 0;  // of the key when it left
  uint32_t tier = 0;   // that served it: 0 unless it was made of a block of a lower one
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
