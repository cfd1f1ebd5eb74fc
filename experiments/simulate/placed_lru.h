// The places of an LRU of pages in memory, numbers below a bound: each resident page has a place.
// 12 bytes for each number and 4 for each place, O(1) a call. Caller-locked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/prng.h"
#include "experiments/simulate/lru_list.h"

namespace nvcache::simulate {

class PlacedLru {
 public:
  PlacedLru(uint32_t pages, uint32_t places) : order_(pages), place_(pages), page_at_(places) {
    for (uint32_t place = places; place > 0; --place) free_.push_back(place - 1);
  }

  bool contains(uint32_t page) const { return order_.contains(page); }
  bool full() const { return free_.empty(); }
  uint32_t place(uint32_t page) const { return place_[page]; }
  uint32_t coldest() const { return order_.coldest(); }
  // A page of a full one, each as likely as the other.
  uint32_t any(Prng& prng) const {
    NVCACHE_ASSERT(full() && !page_at_.empty());
    return page_at_[prng.below(page_at_.size())];
  }
  void touch(uint32_t page) { order_.touch(page); }
  // Enters a page; there is a free place.
  void enter(uint32_t page) {
    NVCACHE_ASSERT(!free_.empty() && !contains(page));
    place_[page] = free_.back();
    page_at_[free_.back()] = page;
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
  std::vector<uint32_t> page_at_;  // by place
};

}  // namespace nvcache::simulate
