// One shard's hash index: from the hash of a key to the slots that may hold it.
//
// A bucket is one cache line: 15 cells and a word of counts. A cell is 4 bytes: 12 bits of the hash
// (the tag) and a 20-bit slot number + 1; 0 is empty. A cell whose bucket is full goes to the next
// bucket with room. Each bucket that it passes counts it in `passed`, in one of eight 4-bit counts
// that its tag selects. So a lookup stops at the first bucket that no cell of its kind passed: it
// reads 1.05 lines for a miss at full load. A count that reaches 15 stays there.
//
// A lookup is bound by memory latency. The processor hides it by running ahead into the next lookup
// as long as it predicts the branches. That is why all cells are compared at once, instead of one
// by one up to the first that fits.
//
// The table grows by a sixteenth when 7/8 of its cells are taken (4.9 to 5.2 bytes an entry). It
// grows into the other of two ranges of reserved address space; the memory of the old range is
// given back afterwards. Ranges are never unmapped while the index lives: a reader that is still in
// the old range sees cells that are gone, at worst, and then that the shape has changed.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

// ThreadSanitizer sees the cells as the atomics they are, one by one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NVCACHE_INDEX_SCALAR 1
#endif
#endif
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__) && !defined(NVCACHE_INDEX_SCALAR)
#include <emmintrin.h>
#define NVCACHE_INDEX_SSE2 1
#endif

#include "base/assert.h"
#include "base/reserved_array.h"

namespace nvcache {

// find() is lock-free, and thread-safe against all other functions; insert() and erase() are
// caller-locked. A slot that find() offers is a hint: the caller checks the key. find() can miss an
// entry that growth moves at that moment only if the table changed under it; then it looks again.
class BlockIndex {
 public:
  static constexpr uint32_t kMaxSlots = (1u << 20) - 1;

  explicit BlockIndex(uint32_t max_slots);

  // A short look that is enough for nearly all lookups. Returns the slot of the first cell that
  // fits in the first bucket, kAbsent if nothing with this hash is in the index, or kUnsure: ask
  // find().
  static constexpr uint32_t kUnsure = ~uint32_t{0};
  static constexpr uint32_t kAbsent = ~uint32_t{0} - 1;
  uint32_t probe(uint64_t hash) const {
    const uint64_t shape = shape_.load(std::memory_order_acquire);
    const Bucket& bucket = table(shape)[home(shape, hash)];
    if (const uint32_t fits = matching_cells(bucket, tag(hash)); fits != 0) [[likely]] {
      const uint32_t cell = static_cast<uint32_t>(std::countr_zero(fits));
      // A cell that another thread has just emptied reads as kUnsure.
      return (bucket.cells[cell].load(std::memory_order_acquire) & kSlotMask) - 1;
    }
    // Relaxed: a count tells of no other memory. So in find_in().
    const bool passed = (bucket.passed.load(std::memory_order_relaxed) & passed_mask(hash)) != 0;
    return passed || shape_after_look() != shape ? kUnsure : kAbsent;
  }

  // Calls match(slot) for every slot whose tag fits, until it returns true. Returns whether it did.
  template <typename Match>
  bool find(uint64_t hash, Match&& match) const {
    uint64_t shape = shape_.load(std::memory_order_acquire);
    for (;;) {
      if (find_in(shape, hash, match)) return true;
      const uint64_t now = shape_after_look();
      if (now == shape) return false;
      shape = now;
    }
  }

  // Brings the bucket of this hash into the processor's cache.
  void prefetch(uint64_t hash) const {
    const uint64_t shape = shape_.load(std::memory_order_acquire);
    __builtin_prefetch(&table(shape)[home(shape, hash)], 1);
  }

  // Adds a slot. `hash_of(slot)` gives the hash of any slot in the index; growth asks for it.
  template <typename HashOf>
  void insert(uint64_t hash, uint32_t slot, HashOf&& hash_of) {
    NVCACHE_ASSERT_SLOW(slot < kMaxSlots);
    if ((entries_ + 1) * 8 >
        uint64_t{buckets_in(shape_.load(std::memory_order_relaxed))} * kCells * 7) {
      grow(hash_of);
    }
    place(shape_.load(std::memory_order_relaxed), hash, slot);
    ++entries_;
  }

  // Makes room for that many entries at once, and takes its memory: growing to them step by step
  // would move each of them about 16 times, and the first entries would touch nearly all pages.
  template <typename HashOf>
  void reserve(uint32_t entries, HashOf&& hash_of) {
    const uint64_t old_shape = shape_.load(std::memory_order_relaxed);
    if (const uint64_t new_shape = shape_for(entries, old_shape); new_shape != old_shape) {
      populate(new_shape);
      move_to(new_shape, hash_of);
    }
  }

  // Removes a slot that was inserted with this hash.
  void erase(uint64_t hash, uint32_t slot);

  uint64_t entries() const { return entries_; }
  uint64_t metadata_bytes() const {
    return uint64_t{buckets_in(shape_.load(std::memory_order_relaxed))} * sizeof(Bucket);
  }

 private:
  static constexpr uint32_t kCells = 15;
  static constexpr uint32_t kSlotBits = 20;
  static constexpr uint32_t kSlotMask = (1u << kSlotBits) - 1;

  struct alignas(64) Bucket {
    std::array<std::atomic<uint32_t>, kCells> cells;
    std::atomic<uint32_t> passed;
  };

  // A shape is the table's first bucket (upper half) and its number of buckets.
  static uint32_t buckets_in(uint64_t shape) { return static_cast<uint32_t>(shape); }
  const Bucket* table(uint64_t shape) const { return &buckets_[shape >> 32]; }
  Bucket* table(uint64_t shape) { return &buckets_[shape >> 32]; }
  static uint32_t home(uint64_t shape, uint64_t hash) {
    return static_cast<uint32_t>((uint64_t{static_cast<uint32_t>(hash)} * buckets_in(shape)) >> 32);
  }
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32) << kSlotBits; }

  // The 4-bit count that entries with this hash use in the buckets they pass.
  static uint32_t passed_shift(uint64_t hash) { return static_cast<uint32_t>(hash >> 32) % 8 * 4; }
  static uint32_t passed_mask(uint64_t hash) { return 0xfu << passed_shift(hash); }

  // One bit for each cell whose tag is `wanted`. A hint: the caller reads the cell again.
  static uint32_t matching_cells(const Bucket& bucket, uint32_t wanted) {
    return cells_with(bucket, ~kSlotMask, wanted);
  }
  // One bit for each empty cell; certain for who alone changes cells.
  static uint32_t empty_cells(const Bucket& bucket) { return cells_with(bucket, ~uint32_t{0}, 0); }

  // One bit for each cell that is `wanted` under the mask.
  static uint32_t cells_with(const Bucket& bucket, uint32_t mask_bits, uint32_t wanted) {
#ifdef NVCACHE_INDEX_SSE2
    const auto* lanes = reinterpret_cast<const __m128i*>(&bucket);
    const __m128i mask = _mm_set1_epi32(static_cast<int>(mask_bits));
    const __m128i tags = _mm_set1_epi32(static_cast<int>(wanted));
    const auto equal = [&](int i) {
      return _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(lanes + i), mask), tags);
    };
    const __m128i low = _mm_packs_epi32(equal(0), equal(1));
    const __m128i high = _mm_packs_epi32(equal(2), equal(3));
    const int bits = _mm_movemask_epi8(_mm_packs_epi16(low, high));
    return static_cast<uint32_t>(bits) & ((1u << kCells) - 1);
#else
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kCells; ++i) {
      const uint32_t value = bucket.cells[i].load(std::memory_order_relaxed);
      bits |= static_cast<uint32_t>((value & mask_bits) == wanted) << i;
    }
    return bits;
#endif
  }

  template <typename Match>
  bool find_in(uint64_t shape, uint64_t hash, Match&& match) const {
    const Bucket* buckets = table(shape);
    const uint32_t wanted = tag(hash);
    const uint32_t first = home(shape, hash);
    for (uint32_t at = first;;) {
      const Bucket& bucket = buckets[at];
      for (uint32_t fits = matching_cells(bucket, wanted); fits != 0; fits &= fits - 1) {
        const uint32_t cell = static_cast<uint32_t>(std::countr_zero(fits));
        const uint32_t value = bucket.cells[cell].load(std::memory_order_acquire);
        if ((value & kSlotMask) == 0 || (value & ~kSlotMask) != wanted) continue;
        if (match((value & kSlotMask) - 1)) return true;
      }
      if ((bucket.passed.load(std::memory_order_relaxed) & passed_mask(hash)) == 0) {
        return false;
      }
      if (++at == buckets_in(shape)) at = 0;
      if (at == first) return false;
    }
  }

  template <typename HashOf>
  void grow(HashOf&& hash_of) {
    const uint64_t old_shape = shape_.load(std::memory_order_relaxed);
    const uint64_t new_shape = next_shape(old_shape);
    if (new_shape != old_shape) move_to(new_shape, hash_of);
  }

  template <typename HashOf>
  void move_to(uint64_t new_shape, HashOf&& hash_of) {
    const uint64_t old_shape = shape_.load(std::memory_order_relaxed);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < buckets_in(old_shape); ++i) {
      for (const std::atomic<uint32_t>& cell : table(old_shape)[i].cells) {
        const uint32_t slot = cell.load(std::memory_order_relaxed) & kSlotMask;
        if (slot == 0) continue;
        place(new_shape, hash_of(slot - 1), slot - 1);
        ++moved;
      }
    }
    NVCACHE_ASSERT(moved == entries_);
    shape_.store(new_shape, std::memory_order_release);
    // The old cells become zeros behind the new shape: see shape_after_look(). The system's call
    // orders them, too; the fence says so to the compiler.
    std::atomic_thread_fence(std::memory_order_release);
    discard(old_shape);
  }

  // The shape, read behind all cells and counts of a look that found nothing: if one of them was
  // given back, or is of a later table, this is a later shape. The fence pairs with the stores of
  // move_to() and place(). An acquire by the loads alone would let a cell be read after the shape.
  uint64_t shape_after_look() const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return shape_.load(std::memory_order_acquire);
  }

  uint64_t next_shape(uint64_t shape) const;
  // At least `shape`'s number of buckets.
  uint64_t shape_for(uint32_t entries, uint64_t shape) const;
  uint64_t shape_with(uint32_t buckets, uint64_t shape) const {
    const uint64_t first_bucket = (shape >> 32) == 0 ? max_buckets_ : 0;
    return buckets == buckets_in(shape) ? shape : first_bucket << 32 | buckets;
  }
  void place(uint64_t shape, uint64_t hash, uint32_t slot);
  static void count_passing(Bucket& bucket, uint64_t hash, int change);
  void populate(uint64_t shape);
  void discard(uint64_t shape);

  const uint32_t max_buckets_;
  ReservedArray<Bucket> buckets_;  // two ranges of max_buckets_: the table is in one of them
  std::atomic<uint64_t> shape_;
  uint64_t entries_ = 0;
};

}  // namespace nvcache
