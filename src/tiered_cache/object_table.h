// A chained hash table of object entries, linked through the entries: one pointer a bucket,
// and one to two buckets an entry. Growing moves all of a shard's entries at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tiered_cache/object_entry.h"

namespace nvcache {

// Caller-locked. Owns no entries.
class ObjectTable {
 public:
  ObjectTable() : buckets_(kFirstBuckets, nullptr) {}

  ObjectEntry* find(std::string_view key, uint64_t hash) { return *place_of(key, hash); }

  // Returns the entry of the same key that it replaces, if there is one.
  ObjectEntry* insert(ObjectEntry* entry) {
    ObjectEntry** const place = place_of(entry->key(), entry->hash);
    ObjectEntry* const old = *place;
    entry->next_in_bucket = old == nullptr ? nullptr : old->next_in_bucket;
    *place = entry;
    if (old == nullptr && ++entries_ > buckets_.size()) grow();
    return old;
  }

  void remove(ObjectEntry* entry) {
    ObjectEntry** const place = place_of(entry->key(), entry->hash);
    if (*place != entry) return;
    *place = entry->next_in_bucket;
    --entries_;
  }

  size_t entries() const { return entries_; }
  size_t buckets() const { return buckets_.size(); }
  ObjectEntry* first_in(size_t bucket) const { return buckets_[bucket]; }

 private:
  static constexpr size_t kFirstBuckets = 16;

  // The upper bits of the hash choose the shard, the lower bits the bucket.
  ObjectEntry** place_of(std::string_view key, uint64_t hash) {
    ObjectEntry** place = &buckets_[hash & (buckets_.size() - 1)];
    while (*place != nullptr && ((*place)->hash != hash || (*place)->key() != key)) {
      place = &(*place)->next_in_bucket;
    }
    return place;
  }

  void grow() {
    std::vector<ObjectEntry*> grown(buckets_.size() * 2, nullptr);
    for (ObjectEntry* entry : buckets_) {
      while (entry != nullptr) {
        ObjectEntry* const next = entry->next_in_bucket;
        ObjectEntry*& bucket = grown[entry->hash & (grown.size() - 1)];
        entry->next_in_bucket = bucket;
        bucket = entry;
        entry = next;
      }
    }
    buckets_.swap(grown);
  }

  std::vector<ObjectEntry*> buckets_;
  size_t entries_ = 0;
};

}  // namespace nvcache
