// Bytes on their way to one client: text, and large values in place, pinned in the store until they
// are sent. Short values are copied at once. copy_pinned() copies what is still pinned, so that a
// client that reads slowly pins nothing in the store. Not thread-safe.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvcache/pin.h"

namespace nvcache::server {

class Output {
 public:
  static constexpr size_t kPinFromBytes = 4096;

  void append(std::string_view bytes);
  void append(char byte) { append(std::string_view(&byte, 1)); }
  void append_number(uint64_t number);

  // Appends `value`, a part of the bytes that `pin` keeps, and takes the pin.
  void append_value(Pin&& pin, std::string_view value);

  size_t size() const { return pending_bytes_; }
  size_t heap_bytes() const { return capacity_; }
  bool has_pins() const { return first_pin_ < pins_.size(); }
  size_t pins() const { return pins_.size() - first_pin_; }
  bool empty() const { return pending_bytes_ == 0; }

  // Points `vectors` at the first pending bytes, in order. Returns how many it filled.
  int gather(iovec* vectors, int most) const;
  // Drops the first `bytes`, which were sent.
  void consume(size_t bytes);
  // Copies what is still pinned, and releases the pins. Returns how many bytes these were.
  size_t copy_pinned();
  // Frees what was sent, once there is much of it: it would pile up in an output that never
  // empties.
  void compact();
  void clear();
  // All pending bytes as one text, for tests and datagrams.
  std::string text() const;

  friend void swap(Output& a, Output& b) noexcept {
    std::swap(a.data_, b.data_);
    std::swap(a.size_, b.size_);
    std::swap(a.capacity_, b.capacity_);
    std::swap(a.head_, b.head_);
    std::swap(a.pending_bytes_, b.pending_bytes_);
    std::swap(a.pins_, b.pins_);
    std::swap(a.first_pin_, b.first_pin_);
  }

 private:
  struct PinnedValue {
    size_t at;  // before this byte of data_
    Pin pin;
    std::string_view rest;
  };

  void grow(size_t least);

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t head_ = 0;
  size_t pending_bytes_ = 0;
  std::vector<PinnedValue> pins_;
  size_t first_pin_ = 0;
};

}  // namespace nvcache::server
