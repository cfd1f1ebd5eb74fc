// How long an engine's own reads take, from what a cache sees of them: a lookup that misses, and
// the insertion of the same block by the same thread, with no other miss between. That is the read,
// and making an object of it: what a hit would have saved.
//
// Of one key in kSampled, by its hash: the others cost a test of the hash. A thread times one miss
// at a time; of several that are pending together (MultiGet), the last.
// Thread-safe: each thread has its own.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace nvcache {

class MissTimer {
 public:
  static constexpr uint64_t kSampled = 8;

  explicit MissTimer(const Clock& clock) : clock_(clock) {}

  void missed(uint64_t hash) const {
    if (hash % kSampled == 0) {
      last_miss = {this, hash, clock_.now_ns()};
    } else {
      last_miss.timer = nullptr;
    }
  }

  // The time since this thread missed the key, if that was its last miss.
  std::optional<uint64_t> inserted(uint64_t hash) const {
    if (hash % kSampled != 0 || last_miss.timer != this || last_miss.hash != hash) {
      return std::nullopt;
    }
    last_miss.timer = nullptr;
    return clock_.now_ns() - last_miss.at_ns;
  }

 private:
  struct Miss {
    const MissTimer* timer;
    uint64_t hash;
    uint64_t at_ns;
  };
  inline static constinit thread_local Miss last_miss{};

  const Clock& clock_;
};

}  // namespace nvcache
