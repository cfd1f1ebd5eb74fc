// The memory of a shard's entries. It is that of entries as long as the pool lives: a lookup that
// read the address of an entry may look at it after it was destroyed (object_entry.h).
//
// Thread-safe. Cost: 128 bytes an entry, in pieces of 64 entries, of which none is returned before
// the end. A lock for each entry that comes or goes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "tiered_cache/object_entry.h"

namespace nvcache {

class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  // An entry outside, which is not held; null if there is no memory. `metadata`: it is charged for
  // itself, too.
  ObjectEntry* make(std::string_view key, uint64_t hash, const Object& object, Priority priority,
                    bool metadata);
  // The object must be gone, and the entry outside.
  void destroy(ObjectEntry* entry);

 private:
  static constexpr size_t kEntriesAtOnce = 64;

  ObjectEntry* take();

  Mutex mutex_;
  ObjectEntry* free_ NVCACHE_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::unique_ptr<ObjectEntry[]>> pieces_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache
