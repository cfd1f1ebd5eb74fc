// An LRU list of items that are numbers below a bound: 8 bytes for each number, O(1) a call.
// Caller-locked.
#pragma once

#include <cstdint>
#include <vector>

namespace nvcache::simulate {

class LruList {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit LruList(uint32_t bound) : links_(size_t{bound} + 1), end_(bound) {
    links_[end_] = {end_, end_};
  }

  bool contains(uint32_t item) const { return links_[item].next != kNone; }
  uint32_t size() const { return size_; }

  // Makes it the most recently used; enters it if it is not there.
  void touch(uint32_t item) {
    if (contains(item)) {
      unlink(item);
    } else {
      ++size_;
    }
    const uint32_t first = links_[end_].next;
    links_[item] = {first, end_};
    links_[first].previous = item;
    links_[end_].next = item;
  }
  void remove(uint32_t item) {
    if (!contains(item)) return;
    unlink(item);
    links_[item] = {};
    --size_;
  }
  // The least recently used; kNone: it is empty.
  uint32_t coldest() const { return size_ == 0 ? kNone : links_[end_].previous; }

 private:
  struct Links {
    uint32_t next = kNone;
    uint32_t previous = kNone;
  };

  void unlink(uint32_t item) {
    links_[links_[item].previous].next = links_[item].next;
    links_[links_[item].next].previous = links_[item].previous;
  }

  std::vector<Links> links_;
  uint32_t end_;  // a link that begins and ends the list
  uint32_t size_ = 0;
};

}  // namespace nvcache::simulate
