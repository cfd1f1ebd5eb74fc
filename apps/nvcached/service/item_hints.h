// Facts that memcached remembers about an item and a KvStore does not: whether it was fetched, when
// it was last fetched, and whether a client was told to make it anew ("won"). A table of fixed size
// in DRAM, a word each; a newer key displaces an older one that has the same place.
// After that, and after a restart, an item counts as never fetched, and another client may win.
// This is harmless: these are hints. Thread-safe, without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/assert.h"
#include "base/hash.h"

namespace nvcache::server {

class ItemHints {
 public:
  struct Hint {
    bool known = false;
    bool fetched = false;
    bool won = false;
    uint32_t last_s = 0;
  };

  explicit ItemHints(unsigned bits)
      : shift_(64 - bits), words_(std::make_unique<std::atomic<uint64_t>[]>(size_t{1} << bits)) {
    NVCACHE_ASSERT(bits > 0 && bits < 64);
  }

  // Prefetches a key's word, which is most likely not in the processor's cache.
  void prefetch(std::string_view key) const {
    __builtin_prefetch(&words_[hash_bytes(key) >> shift_], /*rw=*/1);
  }

  Hint find(std::string_view key) const {
    const uint64_t hash = hash_bytes(key);
    const uint64_t word = words_[hash >> shift_].load(std::memory_order_relaxed);
    if (!same(word, hash)) return {};
    return {true, (word & kFetched) != 0, (word & kWon) != 0, static_cast<uint32_t>(word)};
  }

  // Writes only if the word changes, so that processors can share the word of a hot item.
  void fetched(std::string_view key, uint32_t now_s) {
    const uint64_t hash = hash_bytes(key);
    auto& into = words_[hash >> shift_];
    uint64_t word = into.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t next = tag(hash) | (same(word, hash) ? word & kWon : 0) | kFetched | now_s;
      // Not a plain store: it could take back a win that came in between.
      if (next == word || into.compare_exchange_weak(word, next, std::memory_order_relaxed)) return;
    }
  }

  // The parts of its key's hint that a new value keeps.
  enum Kept : uint8_t {
    kNothing = 0,
    kKeptWon = 1,      // whether a client won
    kKeptFetched = 2,  // whether it was fetched
    kAll = kKeptWon | kKeptFetched,
  };
  // A value was stored: by default a new one, which has never been fetched.
  void stored(std::string_view key, uint32_t now_s, Kept kept = kNothing) {
    const uint64_t hash = hash_bytes(key);
    auto& into = words_[hash >> shift_];
    const uint64_t mask =
        ((kept & kKeptWon) != 0 ? kWon : 0) | ((kept & kKeptFetched) != 0 ? kFetched : 0);
    uint64_t word = into.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t next = tag(hash) | (same(word, hash) ? word & mask : 0) | now_s;
      if (into.compare_exchange_weak(word, next, std::memory_order_relaxed)) return;
    }
  }

  // True for exactly one caller since the value was stored.
  bool win(std::string_view key, uint32_t now_s) {
    const uint64_t hash = hash_bytes(key);
    auto& into = words_[hash >> shift_];
    uint64_t word = into.load(std::memory_order_relaxed);
    for (;;) {
      if (same(word, hash) && (word & kWon) != 0) return false;
      const uint64_t next = (same(word, hash) ? word : tag(hash) | now_s) | kWon;
      if (into.compare_exchange_weak(word, next, std::memory_order_relaxed)) return true;
    }
  }

 private:
  // tag (30 bits), fetched, won, seconds (32 bits)
  static constexpr uint64_t kFetched = uint64_t{1} << 33;
  static constexpr uint64_t kWon = uint64_t{1} << 32;
  static uint64_t tag(uint64_t hash) { return hash << 34; }
  static bool same(uint64_t word, uint64_t hash) { return word >> 34 == tag(hash) >> 34; }

  unsigned shift_;
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

}  // namespace nvcache::server
