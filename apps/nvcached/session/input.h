// Bytes that were received and are not served yet, in one piece. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace nvcache::server {

class Input {
 public:
  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  size_t capacity() const { return capacity_; }
  std::string_view unread() const { return {data_.get() + begin_, size()}; }

  void consume(size_t bytes) {
    NVCACHE_ASSERT_SLOW(bytes <= size());
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // The capacity with room for more bytes. There is room for all of `want` only once an eighth of
  // it has arrived, so that a client must send something before it gets memory.
  size_t capacity_for(size_t want) const {
    if (size() < capacity_) return capacity_;
    const size_t twice = std::max<size_t>(2 * size(), kLeastBytes);
    return want > twice && want / 8 <= size() ? want : twice;
  }
  // Room for more bytes.
  std::pair<char*, size_t> room(size_t want) {
    const size_t capacity = capacity_for(want);
    if (capacity != capacity_) {
      reserve(capacity);
    } else if (begin_ > 0 && capacity_ - end_ < capacity_ / 2) {
      std::memmove(data_.get(), data_.get() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    }
    NVCACHE_ASSERT_SLOW(end_ < capacity_);
    return {data_.get() + end_, capacity_ - end_};
  }
  void filled(size_t bytes) {
    NVCACHE_ASSERT_SLOW(bytes <= capacity_ - end_);
    end_ += bytes;
  }

  void reserve(size_t capacity) {
    auto data = std::make_unique_for_overwrite<char[]>(capacity);
    const size_t held = size();
    NVCACHE_ASSERT_SLOW(held <= capacity);
    if (held > 0) std::memcpy(data.get(), data_.get() + begin_, held);
    data_ = std::move(data);
    capacity_ = capacity;
    begin_ = 0;
    end_ = held;
  }

  // Moves the unread bytes of `other` here and leaves it empty. There are none here yet.
  void take(Input& other) {
    NVCACHE_ASSERT_SLOW(empty() && this != &other);
    const std::string_view bytes = other.unread();
    begin_ = end_ = 0;
    if (capacity_ < bytes.size()) reserve(std::max(bytes.size(), kLeastBytes));
    std::memcpy(data_.get(), bytes.data(), bytes.size());
    begin_ = 0;
    end_ = bytes.size();
    other.begin_ = other.end_ = 0;
  }

  void release() { *this = Input(); }

 private:
  static constexpr size_t kLeastBytes = 2048;

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace nvcache::server
