#include "tiered_cache/object_entry.h"

#include <cstdlib>
#include <new>

namespace nvcache {

ObjectEntry* ObjectEntry::make(std::string_view key, uint64_t hash, const Object& object,
                               Priority priority) {
  void* const memory = std::malloc(sizeof(ObjectEntry) + key.size());
  if (memory == nullptr) return nullptr;
  auto* const entry = new (memory) ObjectEntry;
  if (!key.empty()) std::memcpy(static_cast<void*>(entry + 1), key.data(), key.size());
  entry->key_bytes = static_cast<uint32_t>(key.size());
  entry->hash = hash;
  entry->object = object;
  entry->priority = priority;
  return entry;
}

void ObjectEntry::destroy(ObjectEntry* entry) {
  entry->~ObjectEntry();
  std::free(entry);
}

}  // namespace nvcache
