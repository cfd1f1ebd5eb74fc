#include "tiered_cache/object_pool.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"

namespace nvcache {

ObjectEntry* ObjectPool::take() try {
  MutexLock lock(mutex_);
  if (free_ == nullptr) {
    pieces_.push_back(std::make_unique<ObjectEntry[]>(kEntriesAtOnce));
    for (size_t i = 0; i < kEntriesAtOnce; ++i) {
      pieces_.back()[i].next_removed = free_;
      free_ = &pieces_.back()[i];
    }
  }
  ObjectEntry* const entry = free_;
  free_ = entry->next_removed;
  return entry;
} catch (const std::bad_alloc&) {
  return nullptr;
}

ObjectEntry* ObjectPool::make(std::string_view key, uint64_t hash, const Object& object,
                              Priority priority, bool metadata) {
  char* long_key = nullptr;
  if (key.size() > ObjectEntry::kInlineKeyBytes) {
    long_key = static_cast<char*>(std::malloc(key.size()));
    if (long_key == nullptr) return nullptr;
  }
  ObjectEntry* const entry = take();
  if (entry == nullptr) {
    std::free(long_key);
    return nullptr;
  }
  if (long_key != nullptr) entry->long_key = long_key;
  if (!key.empty()) {
    std::memcpy(long_key != nullptr ? long_key : entry->inline_key, key.data(), key.size());
  }
  entry->key_bytes = static_cast<uint32_t>(key.size());
  // Release: a lookup that still has the address from before, and goes past for this hash, sees
  // the change that took the old entry out (Sequence::is_still()).
  entry->hash.store(hash, std::memory_order_release);
  entry->object = object;
  entry->used_bytes = object.charge_bytes +
                      (metadata ? sizeof(ObjectEntry) + (long_key != nullptr ? key.size() : 0) : 0);
  entry->newer = entry->older = nullptr;
  entry->token = 0;
  entry->tier = 0;
  entry->priority = priority;
  entry->pool = 0;
  entry->departure = Departure::kOutside;
  entry->charged = false;
  entry->large = false;
  return entry;
}

void ObjectPool::destroy(ObjectEntry* entry) {
  NVCACHE_ASSERT(!entry->is_resident() && !entry->charged && !entry->large);
  if (entry->key_bytes > ObjectEntry::kInlineKeyBytes) std::free(entry->long_key);
  entry->key_bytes = 0;
  MutexLock lock(mutex_);
  entry->next_removed = free_;
  free_ = entry;
}

}  // namespace nvcache
