// What outdates a put: a number for each key, which an erase moves on. Keys share numbers by their
// hash, so an erase may outdate a put of another key, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "nvcache/block_cache.h"

namespace nvcache {

// Thread-safe.
class KeyGenerations {
 public:
  // Not kept, where nothing asks for them: they take no memory then, and there are none to move.
  explicit KeyGenerations(bool kept) : numbers_(kept ? kCount : 0) {}

  bool kept() const { return !numbers_.empty(); }
  // Where they are kept. They begin at 0.
  std::atomic<uint32_t>& of(uint64_t hash) { return numbers_[hash % kCount]; }
  MissToken token_of(uint64_t hash) const {
    return {numbers_[hash % kCount].load(std::memory_order_acquire), true};
  }
  // Outdates all puts that are under way.
  void move_all() {
    for (std::atomic<uint32_t>& number : numbers_) number.fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  static constexpr uint64_t kCount = 4096;

  std::vector<std::atomic<uint32_t>> numbers_;
};

}  // namespace nvcache
