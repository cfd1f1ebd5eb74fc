// What DRAM holds about one cached block: its key, and one 64-bit word with its place, size, pins
// and state. 24 bytes. A lookup touches an entry and one bucket.
//
// States and transitions (the word changes by compare-and-swap; "shard" means that the caller holds
// the shard's lock):
//
//   free --shard: reserve()--> filling --publish()--> live --shard: retire()--> dying
//                                 |                              |
//                                 +--shard: retire()--> dying    |
//   dying --last unpin, or retire() of an unpinned block--> free (shard)
//
// A block that a restart brings back is live at once: free --shard: restore()--> live.
//
// Pins count the readers of a live block. A filling block has one pin, its writer's; the writer may
// keep that pin when the block becomes live: publish_pinned(). A dying block is out of the index
// and keeps its space until its last pin is dropped. The thread that takes the word to {dying, 0
// pins} frees the entry, exactly once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "nvcache/block_key.h"

namespace nvcache {

// The word, unpacked: | state 2 | pins 8 | size - 1 20 | offset 34 |
struct EntryWord {
  enum State : uint64_t { kFree = 0, kFilling = 1, kLive = 2, kDying = 3 };

  static constexpr uint32_t kOffsetBits = 34;
  static constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;
  static constexpr uint32_t kPinsShift = kOffsetBits + 20;
  static constexpr uint64_t kOnePin = uint64_t{1} << kPinsShift;
  static constexpr uint32_t kMaxPins = 255;

  // The largest space whose places the word can tell.
  static constexpr uint64_t max_space_bytes(uint32_t grain_bytes) {
    return (uint64_t{1} << kOffsetBits) * grain_bytes;
  }

  uint64_t bits = 0;

  static EntryWord make(State state, uint32_t pins, uint32_t size_bytes, uint64_t offset_grains) {
    return {uint64_t{state} << 62 | uint64_t{pins} << kPinsShift |
            uint64_t{size_bytes - 1} << kOffsetBits | offset_grains};
  }
  State state() const { return static_cast<State>(bits >> 62); }
  uint32_t pins() const { return static_cast<uint32_t>(bits >> kPinsShift) & kMaxPins; }
  uint32_t size_bytes() const { return (static_cast<uint32_t>(bits >> kOffsetBits) & 0xfffff) + 1; }
  uint64_t offset_grains() const { return bits & kOffsetMask; }
  EntryWord with_state(State state) const {
    return {(bits & ~(uint64_t{3} << 62)) | uint64_t{state} << 62};
  }
};

// Thread-safe as described above. The key is written while the entry is free and read after a pin.
// It is atomic so that readers may also read it early, on speculation.
class Entry {
 public:
  EntryWord word() const { return {word_.load(std::memory_order_acquire)}; }

  bool has_key(const BlockKey& key) const {
    return file_.load(std::memory_order_relaxed) == key.file &&
           offset_.load(std::memory_order_relaxed) == key.offset;
  }
  BlockKey key() const {
    return {file_.load(std::memory_order_relaxed), offset_.load(std::memory_order_relaxed)};
  }

  // free -> filling, pinned by its writer.
  void reserve(const BlockKey& key, uint32_t size_bytes, uint64_t offset_grains) {
    take(key, EntryWord::make(EntryWord::kFilling, 1, size_bytes, offset_grains));
  }

  // free -> live, unpinned: its bytes lie there already.
  void restore(const BlockKey& key, uint32_t size_bytes, uint64_t offset_grains) {
    take(key, EntryWord::make(EntryWord::kLive, 0, size_bytes, offset_grains));
  }

  // filling -> live, and drops the writer's pin. False if the block was retired before: then the
  // writer still holds its pin, and unpins as a reader would.
  bool publish() {
    EntryWord now{word_.load(std::memory_order_relaxed)};
    NVCACHE_ASSERT_SLOW(now.pins() > 0);
    while (now.state() == EntryWord::kFilling) {
      const uint64_t live = now.with_state(EntryWord::kLive).bits - EntryWord::kOnePin;
      if (word_.compare_exchange_weak(now.bits, live, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // filling -> live, and the writer keeps its pin. Does nothing if the block was retired before.
  void publish_pinned() {
    EntryWord now{word_.load(std::memory_order_relaxed)};
    while (now.state() == EntryWord::kFilling &&
           !word_.compare_exchange_weak(now.bits, now.with_state(EntryWord::kLive).bits,
                                        std::memory_order_acq_rel)) {
    }
  }

  // Pins a live block; false if it is not live or has too many pins (255).
  // The caller must check the key afterwards: the entry may have been reused.
  bool pin(EntryWord& seen) {
    seen.bits = word_.load(std::memory_order_acquire);
    while (seen.state() == EntryWord::kLive && seen.pins() < EntryWord::kMaxPins) {
      if (word_.compare_exchange_weak(seen.bits, seen.bits + EntryWord::kOnePin,
                                      std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

  // Drops a pin; true if the caller must now free the entry.
  [[nodiscard]] bool unpin() {
    const EntryWord before{word_.fetch_sub(EntryWord::kOnePin, std::memory_order_acq_rel)};
    NVCACHE_ASSERT_SLOW(before.pins() > 0);
    return before.state() == EntryWord::kDying && before.pins() == 1;
  }

  // Drops the caller's pin of a live block and gives the block another place, in one step: no
  // reader that comes later sees the old place. False, and nothing changes, if the block is dying
  // or another reader pins it.
  [[nodiscard]] bool unpin_and_move(uint64_t offset_grains) {
    EntryWord now{word_.load(std::memory_order_relaxed)};
    while (now.state() == EntryWord::kLive && now.pins() == 1) {
      const EntryWord moved = EntryWord::make(EntryWord::kLive, 0, now.size_bytes(), offset_grains);
      if (word_.compare_exchange_weak(now.bits, moved.bits, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // live or filling -> dying; true if the caller must now free the entry.
  [[nodiscard]] bool retire() {
    EntryWord now{word_.load(std::memory_order_relaxed)};
    while (!word_.compare_exchange_weak(now.bits, now.with_state(EntryWord::kDying).bits,
                                        std::memory_order_acq_rel)) {
    }
    NVCACHE_ASSERT_SLOW(now.state() == EntryWord::kFilling || now.state() == EntryWord::kLive);
    return now.pins() == 0;
  }

  // Like retire(), but only for a live block without pins, which can be freed at once.
  [[nodiscard]] bool retire_unpinned() {
    EntryWord now{word_.load(std::memory_order_relaxed)};
    while (now.state() == EntryWord::kLive && now.pins() == 0) {
      if (word_.compare_exchange_weak(now.bits, now.with_state(EntryWord::kDying).bits,
                                      std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

  // dying -> free. A free entry links to the next free one.
  void make_free(uint32_t next_free) {
    NVCACHE_ASSERT_SLOW(word().state() == EntryWord::kDying && word().pins() == 0);
    offset_.store(next_free, std::memory_order_relaxed);
    word_.store(0, std::memory_order_release);
  }
  uint32_t next_free() const {
    return static_cast<uint32_t>(offset_.load(std::memory_order_relaxed));
  }

 private:
  // The key is there before the word that tells of it.
  void take(const BlockKey& key, EntryWord word) {
    NVCACHE_ASSERT_SLOW(this->word().state() == EntryWord::kFree);
    file_.store(key.file, std::memory_order_relaxed);
    offset_.store(key.offset, std::memory_order_relaxed);
    word_.store(word.bits, std::memory_order_release);
  }

  std::atomic<uint64_t> word_;
  std::atomic<uint64_t> file_;
  std::atomic<uint64_t> offset_;
};
static_assert(sizeof(Entry) == 24);

}  // namespace nvcache
