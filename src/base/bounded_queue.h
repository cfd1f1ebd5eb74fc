// Items that wait for one worker, oldest first, bounded by number and by bytes.
//
// The worker begins an item, which keeps its bytes; releases it, which frees them; and finishes
// it. Each item has a number, in order of arrival. So an owner can wait for all items
// that came before some moment, and for no later one: until finished(last_number() of then).
//
// Caller-locked: the owner guards it with its mutex and waits with a CondVar of its own. A push
// costs a move of the item. Memory grows to the largest number of items that waited. take_newest()
// is linear in the items that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace nvcache {

template <typename T>
class BoundedQueue {
 public:
  static constexpr size_t kAnyNumber = SIZE_MAX;

  // That many `expected_items` can wait without an allocation.
  BoundedQueue(size_t max_items, uint64_t max_bytes, size_t expected_items = 64)
      : max_items_(max_items), max_bytes_(max_bytes), ring_(expected_items) {}

  // False: there is no room for that many more bytes. True: push() them; that succeeds.
  [[nodiscard]] bool reserve(uint64_t bytes) {
    if (size_ >= max_items_ || bytes_ + bytes > max_bytes_) return false;
    if (size_ == ring_.size()) grow();
    return true;
  }
  // After reserve(), under the same lock.
  void push(T item, uint64_t bytes) {
    NVCACHE_ASSERT_SLOW(size_ < ring_.size() && bytes_ + bytes <= max_bytes_);
    at(size_++) = {.item = std::move(item), .bytes = bytes, .number = ++last_number_};
    bytes_ += bytes;
  }

  // Makes the oldest item that waits the current one. Null if none waits.
  const T* begin_next() {
    if (size_ == 0) return nullptr;
    NVCACHE_ASSERT(!current_ && busy_with_ == 0);
    current_ = std::move(at(0));
    busy_with_ = current_->number;
    head_ = (head_ + 1) % ring_.size();
    --size_;
    return &current_->item;
  }
  // Frees the current item's bytes. There is no current item then.
  T release() {
    NVCACHE_ASSERT(current_ && current_->bytes <= bytes_);
    bytes_ -= current_->bytes;
    T item = std::move(current_->item);
    current_.reset();
    return item;
  }
  // The item that was begun is done: no thread waits for it any more.
  void finish() {
    NVCACHE_ASSERT(busy_with_ != 0 && !current_);
    busy_with_ = 0;
  }

  // The current item: from begin_next() to release(), else null.
  const T* current() const { return current_ ? &current_->item : nullptr; }

  // Takes the newest item that waits and matches. Never the current one.
  template <typename Matches>
  std::optional<T> take_newest(Matches&& matches) {
    for (size_t i = size_; i-- > 0;) {
      if (!matches(at(i).item)) continue;
      Waiting found = std::move(at(i));
      for (size_t next = i + 1; next < size_; ++next) at(next - 1) = std::move(at(next));
      --size_;
      bytes_ -= found.bytes;
      return std::move(found.item);
    }
    return std::nullopt;
  }

  size_t waiting() const { return size_; }
  uint64_t bytes() const { return bytes_; }  // includes the current item's
  uint64_t last_number() const { return last_number_; }
  // No item up to that number waits or is being worked on. Once true, it stays true.
  bool finished(uint64_t number) const {
    if (busy_with_ != 0) return busy_with_ > number;
    return size_ == 0 || ring_[head_].number > number;
  }

 private:
  struct Waiting {
    T item{};
    uint64_t bytes = 0;
    uint64_t number = 0;  // from 1 on
  };

  Waiting& at(size_t place) { return ring_[(head_ + place) % ring_.size()]; }
  void grow() {
    std::vector<Waiting> larger(2 * ring_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move(at(i));
    ring_.swap(larger);
    head_ = 0;
  }

  const size_t max_items_;
  const uint64_t max_bytes_;
  std::vector<Waiting> ring_;
  size_t head_ = 0;
  size_t size_ = 0;
  uint64_t bytes_ = 0;
  uint64_t last_number_ = 0;
  uint64_t busy_with_ = 0;  // between begin_next() and finish()
  std::optional<Waiting> current_;
};

}  // namespace nvcache
