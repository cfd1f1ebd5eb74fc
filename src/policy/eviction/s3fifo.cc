// s3fifo: three FIFO queues (Yang et al., "FIFO queues are all you need for cache eviction",
// SOSP '23). New blocks enter a small queue. Blocks that are not hit there leave early, and a ghost
// remembers them. Blocks that are hit there, or that the ghost remembers, go to the main queue. A
// scan passes through the small queue only.
//
//   insert:         in the ghost -> main, else small         hit: count + 1, at most 3
//   evict, small:   while it holds more than 1/20 of the blocks, or main has no victim:
//                   its head, if hit (kPromoteHits) -> main with count 1; else evicted
//   evict, main:    at count 0 evicted, else -1
//   no eviction:    when small holds more than 1/16, its head moves to main (a cache that still
//                   fills up, or that erases empty)
//
// The main queue is a clock hand over the slots: FIFO with reinsertion, except for the place where
// a block enters. Count 1 gives a block the round that it would have at a queue's tail.
//
// Memory a slot: 1 byte of state, small 8/20, ghost 2/2: 2.4 bytes in all. The shares of Yang et
// al., 1/10 and 9/10, would take 3.6. For the same 2.5 bytes a smaller small queue and a larger
// ghost hit more often on the traces we tried.
//
// on_hit() is lock-free. The shard's lock guards the rest.
#include <algorithm>
#include <atomic>
#include <deque>
#include <new>

#include "base/assert.h"
#include "base/prng.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"
#include "policy/parts/ghost.h"

namespace nvcache {
namespace {

constexpr uint64_t kSmallShare = 20;     // small: 1/20 of the blocks
constexpr uint64_t kOverflowShare = 16;  // the most it holds while nothing is evicted
constexpr uint64_t kGhostShare = 2;      // ghost: 1/2 of the blocks
constexpr uint32_t kPromoteHits = 1;     // the DRAM cache above took the first uses
constexpr uint32_t kMaxHits = 3;

// State byte of a slot: count in bits 0-1, place in 2-3, tag in 4-7. The tag changes with each use
// of the slot, so it tells stale entries of the small queue.
enum Place : uint8_t { kNowhere = 0, kSmall = 1 << 2, kMain = 2 << 2 };
constexpr uint8_t kCountMask = 3;
constexpr uint8_t kPlaceMask = 3 << 2;
constexpr uint8_t kTagStep = 1 << 4;
constexpr uint8_t kTagMask = 0xf0;

class S3Fifo final : public EvictionPolicy {
 public:
  explicit S3Fifo(uint32_t max_slots) : states_(max_slots), ghost_(max_slots / kGhostShare) {}

  void on_insert(uint32_t slot, uint64_t key_hash) override {
    NVCACHE_ASSERT_SLOW(slot < states_.size() && (state(slot) & kPlaceMask) == kNowhere);
    ++resident_;
    slots_used_ = std::max(slots_used_, uint64_t{slot} + 1);
    const uint32_t hash = short_hash(key_hash);
    const auto tag = static_cast<uint8_t>((state(slot) + kTagStep) & kTagMask);
    if (ghost_.contains(hash)) {
      set_state(slot, kMain | tag);
      return;
    }
    try {
      small_.push_back({slot, hash | tag >> 4});
    } catch (const std::bad_alloc&) {  // the main part needs no memory
      set_state(slot, kMain | tag);
      return;
    }
    set_state(slot, kSmall | tag);
    ++small_blocks_;
    while (small_blocks_ > std::max(resident_ / kOverflowShare, kMinSmall)) overflow();
  }

  void on_hit(uint32_t slot) override {
    uint8_t before = state(slot);
    if ((before & kCountMask) == kMaxHits) return;
    // Never overwrites a change of place; a hit lost to a race counts for nothing.
    states_[slot].compare_exchange_strong(before, static_cast<uint8_t>(before + 1), kRelaxed);
  }

  void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) override {
    NVCACHE_ASSERT_SLOW(resident_ > 0 && (state(slot) & kPlaceMask) != kNowhere);
    --resident_;
    if (evicted && slot == small_victim_) {
      ghost_.follow(resident_ / kGhostShare);
      ghost_.remember(short_hash(key_hash));
    }
    if ((state(slot) & kPlaceMask) == kSmall) --small_blocks_;
    NVCACHE_ASSERT_SLOW(small_blocks_ <= resident_);
    set_state(slot, state(slot) & kTagMask);
    small_victim_ = kNoSlot;
    if (small_.size() > small_blocks_ + small_blocks_ / 2 + kMinSmall) drop_stale();
  }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    small_victim_ = kNoSlot;
    while (small_blocks_ > std::max<uint64_t>(resident_ / kSmallShare, 1)) {
      if (const auto slot = take_small(residents)) return slot;
    }
    if (const auto slot = take_main(residents)) return slot;
    while (small_blocks_ > 0) {
      if (const auto slot = take_small(residents)) return slot;
    }
    return take_main(residents);  // what take_small() moved there
  }

  bool keeps(uint32_t slot) override {
    uint8_t now = state(slot);
    if ((now & kCountMask) == 0) return false;
    states_[slot].compare_exchange_strong(now, static_cast<uint8_t>(now - 1), kRelaxed);
    return true;
  }

  uint64_t metadata_bytes() const override {
    return slots_used_ * sizeof(states_[0]) + small_.size() * sizeof(SmallEntry) +
           ghost_.metadata_bytes();
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr uint32_t kNoSlot = ~0u;
  static constexpr uint64_t kMinSmall = 16;

  struct SmallEntry {
    uint32_t slot;
    uint32_t hash_with_tag;
  };

  // The ghost's name for a block: 28 bits, which leave four for the tag.
  static uint32_t short_hash(uint64_t key_hash) {
    return static_cast<uint32_t>(mix64(key_hash) >> 32) & ~15u;
  }

  uint8_t state(uint32_t slot) const { return states_[slot].load(kRelaxed); }
  void set_state(uint32_t slot, int state) {
    states_[slot].store(static_cast<uint8_t>(state), kRelaxed);
  }

  bool stale(const SmallEntry& entry) const {
    const uint8_t now = state(entry.slot);
    return (now & kPlaceMask) != kSmall || now >> 4 != static_cast<int>(entry.hash_with_tag & 15);
  }

  // Takes the head off the small queue. Nothing if it was stale or moved to main.
  std::optional<uint32_t> take_small(const Residents& residents) {
    NVCACHE_ASSERT_SLOW(!small_.empty());
    const SmallEntry head = small_.front();
    small_.pop_front();
    if (stale(head)) return std::nullopt;
    const bool promoted = (state(head.slot) & kCountMask) >= kPromoteHits;
    move_to_main(head.slot, promoted ? 1 : 0);
    if (promoted || !residents.evictable(head.slot)) return std::nullopt;
    // The block belongs to main from here on: if the caller leaves it alone, main finds it.
    small_victim_ = head.slot;
    return head.slot;
  }

  std::optional<uint32_t> take_main(const Residents& residents) {
    const uint32_t limit = residents.slot_limit();
    for (uint32_t round = 0; round <= kMaxHits + 1; ++round) {
      bool any_evictable = false;
      for (uint32_t steps = 0; steps < limit; ++steps) {
        if (hand_ >= limit) hand_ = 0;
        const uint32_t slot = hand_++;
        uint8_t now = state(slot);
        if ((now & kPlaceMask) != kMain || !residents.evictable(slot)) continue;
        any_evictable = true;
        if ((now & kCountMask) == 0) return slot;
        states_[slot].compare_exchange_strong(now, static_cast<uint8_t>(now - 1), kRelaxed);
      }
      if (!any_evictable) return std::nullopt;
    }
    return std::nullopt;
  }

  void overflow() {
    NVCACHE_ASSERT_SLOW(!small_.empty());
    const SmallEntry head = small_.front();
    small_.pop_front();
    if (!stale(head)) move_to_main(head.slot, state(head.slot) & kCountMask);
  }

  void move_to_main(uint32_t slot, int count) {
    NVCACHE_ASSERT_SLOW(small_blocks_ > 0 && (state(slot) & kPlaceMask) == kSmall);
    --small_blocks_;
    set_state(slot, (state(slot) & kTagMask) | kMain | count);
  }

  void drop_stale() {
    std::erase_if(small_, [this](const SmallEntry& entry) { return stale(entry); });
    NVCACHE_ASSERT_SLOW(small_.size() >= small_blocks_);
    small_.shrink_to_fit();
  }

  ReservedArray<std::atomic<uint8_t>> states_;
  Ghost ghost_;
  std::deque<SmallEntry> small_;  // includes stale entries of erased blocks
  uint64_t small_blocks_ = 0;
  uint64_t resident_ = 0;
  uint64_t slots_used_ = 0;
  uint32_t hand_ = 0;
  uint32_t small_victim_ = kNoSlot;  // the block of the last next_victim(), if from small
};

}  // namespace

EvictionOr make_s3fifo(const SpecMember& member, const EvictionContext& context) {
  const Status arguments = check_no_arguments(kEviction, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<S3Fifo>(context.max_slots);
}

}  // namespace nvcache
