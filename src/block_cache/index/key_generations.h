// A generation for each key, which an erase moves on: a put with an older token is stale. Keys
// share generations by their hash, so an erase may outdate a put of another key, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "nvcache/block_cache.h"

namespace nvcache {

// A put is stale unless `generation` is `expected` when the block is entered, under its lock.
struct Freshness {
  const std::atomic<uint32_t>& generation;
  uint32_t expected;
};

// Thread-safe.
class KeyGenerations {
 public:
  // Not kept: they take no memory, and of() and token_of() must not be called.
  explicit KeyGenerations(bool kept) : generations_(kept ? kCount : 0) {}

  bool kept() const { return !generations_.empty(); }
  // Begins at 0.
  std::atomic<uint32_t>& of(uint64_t hash) { return generations_[hash % kCount]; }
  // Acquires what Shard::erase() and move_all() release, and comes before what its caller reads.
  MissToken token_of(uint64_t hash) const {
    return {generations_[hash % kCount].load(std::memory_order_acquire), true};
  }
  // Outdates all puts that are under way.
  void move_all() {
    for (std::atomic<uint32_t>& each : generations_) each.fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  static constexpr uint64_t kCount = 4096;

  std::vector<std::atomic<uint32_t>> generations_;
};

}  // namespace nvcache
