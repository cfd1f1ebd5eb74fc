#include "apps/nvcached/session/output.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/assert.h"

namespace nvcache::server {

void Output::grow(size_t least) {
  const size_t capacity = std::max<size_t>({least, 2 * capacity_, 2048});
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

void Output::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (size_ + bytes.size() > capacity_) grow(size_ + bytes.size());
  std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  pending_bytes_ += bytes.size();
}

void Output::append_number(uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  NVCACHE_ASSERT_SLOW(end.ec == std::errc());
  append({digits, static_cast<size_t>(end.ptr - digits)});
}

void Output::append_value(Pin&& pin, std::string_view value) {
  if (value.size() < kPinFromBytes) {
    append(value);
    return;
  }
  NVCACHE_ASSERT_SLOW(static_cast<bool>(pin));
  pins_.push_back({size_, std::move(pin), value});
  pending_bytes_ += value.size();
}

int Output::gather(iovec* vectors, int most) const {
  int count = 0;
  size_t at = head_;
  for (size_t i = first_pin_; i <= pins_.size() && count < most; ++i) {
    const size_t end = i < pins_.size() ? pins_[i].at : size_;
    NVCACHE_ASSERT_SLOW(at <= end && end <= size_);
    if (end > at) vectors[count++] = {data_.get() + at, end - at};
    at = end;
    if (i < pins_.size() && count < most) {
      vectors[count++] = {const_cast<char*>(pins_[i].rest.data()), pins_[i].rest.size()};
    }
  }
  return count;
}

void Output::consume(size_t bytes) {
  NVCACHE_ASSERT_SLOW(bytes <= pending_bytes_);
  pending_bytes_ -= bytes;
  if (pending_bytes_ == 0) {
    clear();
    return;
  }
  while (bytes > 0) {
    const bool pinned = first_pin_ < pins_.size();
    const size_t end = pinned ? pins_[first_pin_].at : size_;
    NVCACHE_ASSERT_SLOW(head_ <= end && (pinned || bytes <= end - head_));
    const size_t text = std::min(bytes, end - head_);
    head_ += text;
    bytes -= text;
    if (!pinned || bytes == 0) continue;
    PinnedValue& value = pins_[first_pin_];
    const size_t part = std::min(bytes, value.rest.size());
    value.rest.remove_prefix(part);
    bytes -= part;
    if (value.rest.empty()) {
      value.pin = Pin();
      ++first_pin_;
    }
  }
}

void Output::compact() {
  pins_.erase(pins_.begin(), pins_.begin() + static_cast<ptrdiff_t>(first_pin_));
  first_pin_ = 0;
  if (head_ <= 65536 || head_ <= size_ / 2) return;
  std::memmove(data_.get(), data_.get() + head_, size_ - head_);
  for (PinnedValue& each : pins_) {
    NVCACHE_ASSERT_SLOW(each.at >= head_);
    each.at -= head_;
  }
  size_ -= head_;
  head_ = 0;
}

size_t Output::copy_pinned() {
  if (first_pin_ == pins_.size()) {
    compact();
    return 0;
  }
  Output plain;
  plain.grow(pending_bytes_);
  size_t at = head_;
  size_t pinned_bytes = 0;
  for (size_t i = first_pin_; i < pins_.size(); ++i) {
    plain.append({data_.get() + at, pins_[i].at - at});
    plain.append(pins_[i].rest);
    pinned_bytes += pins_[i].rest.size();
    at = pins_[i].at;
  }
  plain.append({data_.get() + at, size_ - at});
  NVCACHE_ASSERT_SLOW(plain.pending_bytes_ == pending_bytes_);
  swap(*this, plain);
  return pinned_bytes;
}

void Output::clear() {
  pins_.clear();
  first_pin_ = head_ = size_ = pending_bytes_ = 0;
}

std::string Output::text() const {
  std::string all;
  size_t at = head_;
  for (size_t i = first_pin_; i < pins_.size(); ++i) {
    all.append(data_.get() + at, pins_[i].at - at).append(pins_[i].rest);
    at = pins_[i].at;
  }
  if (size_ > at) all.append(data_.get() + at, size_ - at);
  return all;
}

}  // namespace nvcache::server
