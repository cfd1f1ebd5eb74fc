// A bound on the memory that all connections hold outside of the store: requests that have not
// arrived whole, and answers that their clients have not read. Without it, a thousand clients that
// read slowly would take gigabytes.
//
// Thread-safe. Costs an atomic addition when a connection begins or ends to hold a buffer; a
// connection that is idle or reads its answers at once holds none.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvcache::server {

class BufferBudget {
 public:
  explicit BufferBudget(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // False, and nothing taken, if the bytes do not fit.
  [[nodiscard]] bool take(uint64_t bytes) {
    if (used_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_bytes_) return true;
    give(bytes);
    return false;
  }
  void give(uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  const uint64_t most_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
};

}  // namespace nvcache::server
