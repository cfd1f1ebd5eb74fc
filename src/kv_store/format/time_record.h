// The latest time that a store has seen, on its medium. No opening runs before it: an item that
// expired stays so, though the next machine's clock, or the same one's after NTP, is behind.
//
// One word, which changes with each second in which the time is asked for: a kill leaves it as
// it is. It is flushed with the background syncs and at the end.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/prng.h"
#include "kv_store/api/config.h"
#include "kv_store/format/layout.h"
#include "medium/medium.h"

namespace nvcache {

// Thread-safe. Does not own the word.
class KvTimeRecord {
 public:
  KvTimeRecord(std::byte* word, uint64_t nonce) : word_(word), nonce_(nonce) {
    const uint64_t found = load_word(word_, std::memory_order_relaxed);
    const auto found_s = static_cast<uint32_t>(found);
    if (found == word_of(found_s)) latest_s_.store(found_s, std::memory_order_relaxed);
  }

  // 0: the store is new, or older than this record.
  uint32_t latest_s() const { return latest_s_.load(std::memory_order_relaxed); }

  // Costs a load, but once a second.
  void note(uint32_t now_s) {
    uint32_t latest_s = latest_s_.load(std::memory_order_relaxed);
    if (now_s <= latest_s) [[likely]]
      return;
    // The thread that moves it on writes the word. Two in a row may swap: a second less.
    if (latest_s_.compare_exchange_strong(latest_s, now_s)) {
      store_word(word_, word_of(now_s), std::memory_order_relaxed);
    }
  }

 private:
  uint64_t word_of(uint32_t seconds) const {
    return mix64(nonce_ ^ (uint64_t{seconds} << 17) ^ 0x74696d65) << 32 | seconds;
  }

  std::byte* const word_;
  const uint64_t nonce_;
  std::atomic<uint32_t> latest_s_{0};
};

// Lets the clock that a store goes by never be behind what the store has seen, and notes what it
// says from now on, unless the store is only read. `own_clock`: not the one of the process, which
// others go by, too.
void keep_time(bool own_clock, Medium& medium, uint64_t nonce, KvConfig* config);

}  // namespace nvcache
