// A chained hash table of object entries, linked through the entries: one pointer a bucket,
// and two to four buckets an entry, so that a lookup seldom meets the entry of another key. Lookups
// take no lock. Growing moves all of a shard's entries at once; the smaller arrays stay until the
// end, because a lookup may still read them: together they are as large as the present one.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/test_hooks.h"
#include "tiered_cache/object_entry.h"

namespace nvcache {

// Caller-locked, but for what says otherwise. Owns no entries.
class ObjectTable {
 public:
  ObjectTable() : now_(allocate(kFirstBits)) {}

  enum class Found : uint8_t { kHeld, kAbsent, kUnsure };
  struct Hold {
    Found found = Found::kAbsent;
    ObjectEntry* entry = nullptr;  // kHeld: with a reference more; kUnsure: one to drop, or null
    bool first = false;            // no other held it
  };
  // Takes a reference of a key's entry. Thread-safe. kAbsent is certain only if no thread changed
  // the table at that time; kUnsure: look again, with the lock.
  Hold hold(std::string_view key, uint64_t hash) const {
    const Buckets buckets(now_.load(std::memory_order_acquire));
    ObjectEntry* entry = buckets.of(hash).load(std::memory_order_acquire);
    for (int steps = 0; entry != nullptr; ++steps) {
      Hold hold;
      if (entry->try_hold(hash, &hold.first)) {
        // Its memory may have become that of another key's entry.
        const bool same = entry->hash.load(std::memory_order_relaxed) == hash && entry->is(key);
        hold.found = same ? Found::kHeld : Found::kUnsure;
        hold.entry = entry;
        return hold;
      }
      if (steps == kMostSteps) return {.found = Found::kUnsure};
      entry = entry->next_in_bucket.load(std::memory_order_acquire);
    }
    return {};
  }

  ObjectEntry* find(std::string_view key, uint64_t hash) {
    return place_of(key, hash)->load(std::memory_order_relaxed);
  }

  // Returns the entry of the same key that it replaces, if there is one.
  ObjectEntry* insert(ObjectEntry* entry) {
    Head* const place = place_of(entry->key(), entry->hash.load(std::memory_order_relaxed));
    ObjectEntry* const old = place->load(std::memory_order_relaxed);
    entry->next_in_bucket.store(
        old == nullptr ? nullptr : old->next_in_bucket.load(std::memory_order_relaxed),
        std::memory_order_release);
    place->store(entry, std::memory_order_release);
    if (old == nullptr && count(1) * kBucketsPerEntry > buckets()) grow();
    return old;
  }

  // The entry still leads to those behind it, for lookups that have come as far.
  void remove(ObjectEntry* entry) {
    Head* const place = place_of(entry->key(), entry->hash.load(std::memory_order_relaxed));
    NVCACHE_ASSERT(place->load(std::memory_order_relaxed) == entry);
    place->store(entry->next_in_bucket.load(std::memory_order_relaxed), std::memory_order_release);
    count(-1);
  }

  // Thread-safe.
  size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  size_t buckets() const { return present().count(); }
  ObjectEntry* first_in(size_t bucket) const {
    return present().heads[bucket].load(std::memory_order_relaxed);
  }

 private:
  static constexpr int kFirstBits = 4;
  static constexpr size_t kBucketsPerEntry = 2;  // at least
  static constexpr int kMostSteps = 64;
  using Head = std::atomic<ObjectEntry*>;
  struct alignas(64) Line {
    Head heads[8];
  };

  // An array of buckets: its address, and in the lower bits, which are 0 otherwise, how many bits
  // number a bucket. One word, so that a lookup needs to read no other line. The upper bits of the
  // hash choose the shard, the lower bits the bucket.
  struct Buckets {
    explicit Buckets(uintptr_t word)
        : heads(reinterpret_cast<Head*>(word & ~uintptr_t{63})),
          mask((uint64_t{1} << (word & 63)) - 1) {}
    size_t count() const { return mask + 1; }
    Head& of(uint64_t hash) const { return heads[hash & mask]; }
    Head* heads;
    uint64_t mask;
  };

  size_t count(int more) {
    const size_t now = entries() + static_cast<size_t>(more);
    entries_.store(now, std::memory_order_relaxed);
    return now;
  }
  Buckets present() const { return Buckets(now_.load(std::memory_order_relaxed)); }
  uintptr_t allocate(int bits) {
    const size_t lines = ((size_t{1} << bits) + 7) / 8;
    all_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<Line[]>(lines));
    return reinterpret_cast<uintptr_t>(all_.back().get()) | static_cast<uintptr_t>(bits);
  }

  Head* place_of(std::string_view key, uint64_t hash) {
    Head* place = &present().of(hash);
    for (;;) {
      ObjectEntry* const entry = place->load(std::memory_order_relaxed);
      if (entry == nullptr ||
          (entry->hash.load(std::memory_order_relaxed) == hash && entry->is(key))) {
        return place;
      }
      place = &entry->next_in_bucket;
    }
  }

  // Without memory for it, buckets grow longer.
  void grow() try {
    const Buckets from = present();
    const uintptr_t grown = allocate(std::countr_one(from.mask) + 1);
    for (size_t bucket = 0; bucket < from.count(); ++bucket) {
      ObjectEntry* entry = from.heads[bucket].load(std::memory_order_relaxed);
      while (entry != nullptr) {
        ObjectEntry* const next = entry->next_in_bucket.load(std::memory_order_relaxed);
        Head& head = Buckets(grown).of(entry->hash.load(std::memory_order_relaxed));
        entry->next_in_bucket.store(head.load(std::memory_order_relaxed),
                                    std::memory_order_release);
        head.store(entry, std::memory_order_release);
        entry = next;
      }
    }
    hold_door_open(test_hooks.believe_absence);
    now_.store(grown, std::memory_order_release);
  } catch (const std::bad_alloc&) {
  }

  std::vector<std::unique_ptr<Line[]>> all_;
  std::atomic<uintptr_t> now_;
  std::atomic<size_t> entries_{0};  // written by one thread at a time
};

}  // namespace nvcache
