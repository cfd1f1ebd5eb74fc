// The places of an LRU of pages in memory, numbers below a bound: each resident page has a place.
// 12 bytes for each number, O(1) a call. Caller-locked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "experiments/simulate/lru_list.h"

namespace nvcache::simulate {

class PlacedLru {
 public:
  PlacedLru(uint32_t pages, uint32_t places) : order_(pages), place_(pages) {
    for (uint32_t place = places; place > 0; --place) free_.push_back(place - 1);
  }

  bool contains(uint32_t page) const { return order_.contains(page); }
  bool full() const { return free_.empty(); }
  uint32_t place(uint32_t page) const { return place_[page]; }
  uint32_t coldest() const { return order_.coldest(); }
  void touch(uint32_t page) { order_.touch(page); }
  // Enters a page; there is a free place.
  void enter(uint32_t page) {
    NVCACHE_ASSERT(!free_.empty() && !contains(page));
    place_[page] = free_.back();
    free_.pop_back();
    order_.touch(page);
  }
  void leave(uint32_t page) {
    free_.push_back(place_[page]);
    order_.remove(page);
  }

 private:
  LruList order_;
  std::vector<uint32_t> place_;
  std::vector<uint32_t> free_;
};

}  // namespace nvcache::simulate
