// clock: a hand goes round the slots. It spares a block that was hit since it last came by, up to
// three times in a row. (Corbato's clock, reference [9] of *Writes Hurt*, with a 2-bit counter.)
//
//   insert: 0    hit: +1, at most 3    hand: at 0 evict, else -1
//
// A new block takes the slot that was just freed, right behind the hand, so it has a whole round
// to be hit. Memory: 1 byte a slot.
//
// on_hit() is lock-free; a hit that loses a race does not count.
#include <algorithm>
#include <atomic>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

constexpr uint8_t kMaxCount = 3;

class ClockPolicy final : public EvictionPolicy {
 public:
  explicit ClockPolicy(uint32_t max_slots) : counts_(max_slots) {}

  void on_insert(uint32_t slot, uint64_t) override {
    NVCACHE_ASSERT_SLOW(slot < counts_.size());
    counts_[slot].store(0, std::memory_order_relaxed);
    slots_used_ = std::max(slots_used_, uint64_t{slot} + 1);
  }

  void on_hit(uint32_t slot) override {
    const uint8_t count = counts_[slot].load(std::memory_order_relaxed);
    if (count < kMaxCount) {
      counts_[slot].store(static_cast<uint8_t>(count + 1), std::memory_order_relaxed);
    }
  }

  void on_remove(uint32_t, uint64_t, bool) override {}

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const uint32_t limit = residents.slot_limit();
    NVCACHE_ASSERT_SLOW(limit <= counts_.size());
    for (int round = 0; round <= kMaxCount + 1; ++round) {
      bool any_evictable = false;
      for (uint32_t steps = 0; steps < limit; ++steps) {
        if (hand_ >= limit) hand_ = 0;
        const uint32_t slot = hand_++;
        if (!residents.evictable(slot)) continue;
        any_evictable = true;
        const uint8_t count = counts_[slot].load(std::memory_order_relaxed);
        NVCACHE_ASSERT_SLOW(count <= kMaxCount);
        if (count == 0) return slot;
        counts_[slot].store(static_cast<uint8_t>(count - 1), std::memory_order_relaxed);
      }
      if (!any_evictable) return std::nullopt;
    }
    return std::nullopt;  // blocks are hit as fast as the hand goes round
  }

  bool keeps(uint32_t slot) override {
    const uint8_t count = counts_[slot].load(std::memory_order_relaxed);
    if (count > 0) counts_[slot].store(static_cast<uint8_t>(count - 1), std::memory_order_relaxed);
    return count > 0;
  }

  uint64_t metadata_bytes() const override { return slots_used_ * sizeof(counts_[0]); }

 private:
  ReservedArray<std::atomic<uint8_t>> counts_;
  uint64_t slots_used_ = 0;
  uint32_t hand_ = 0;
};

}  // namespace

EvictionOr make_clock(const SpecMember& member, const EvictionContext& context) {
  const Status arguments = check_no_arguments(kEviction, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<ClockPolicy>(context.max_slots);
}

}  // namespace nvcache
