// lru: evicts the block that was not used for the longest time. It takes 2 bytes a slot and no
// list: a hit stores a stamp and does nothing else.
//
//   stamp = 2 * tick at insertion, 2 * tick + 1 at a hit         (16 bits)
//   a tick passes every 1 + resident / 4096 insertions
//   age   = 2 * tick + 1 - stamp, modulo 2^16
//
// Victims are found in batches. A histogram of ages tells how old the oldest 1/64 of the blocks
// are. A scan collects those blocks, oldest first. next_victim() hands out those whose stamp has
// not changed since. Below 64 Ki slots every slot enters the histogram and each scan. Above that
// the histogram takes a sample of the slots, and a scan stops at the first stretch of 64 Ki slots
// that has victims.
//
// So the order is exactly LRU, except among blocks of one tick: there, hits are younger than
// insertions, and hits have no order among themselves. In a shard below 4096 blocks a tick is one
// insertion.
//
// Ages wrap after 2^15 ticks, which are at least 8 turnovers of the cache. A block that stays so
// long without being evicted (because erases make the room, or because it is pinned) looks young
// again. It is then as safe as a block that was just used, until it has aged again.
//
// on_hit() is lock-free. Stamp 0 marks an empty slot. A hit that races with on_remove() may mark
// the slot as used; the check with Residents corrects that.
#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <vector>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

constexpr uint32_t kTicksPerTurnover = 4096;
constexpr uint32_t kSegmentSlots = 64 * 1024;
// A batch is the oldest 1/64: it takes at most 16/64 byte a slot.
constexpr uint32_t kBatchShare = 64;
constexpr uint32_t kBinAges = 32;
constexpr uint32_t kBins = 65536 / kBinAges;

class Lru final : public EvictionPolicy {
 public:
  explicit Lru(uint32_t max_slots) : stamps_(max_slots) { batch_.reserve(kLeastBatch); }

  void on_insert(uint32_t slot, uint64_t) override {
    NVCACHE_ASSERT_SLOW(slot < stamps_.size());
    ++resident_;
    slots_used_ = std::max(slots_used_, uint64_t{slot} + 1);
    if (++insertions_in_tick_ > resident_ / kTicksPerTurnover) advance();
    stamps_[slot].store(insertion_stamp_, std::memory_order_relaxed);
  }

  void on_hit(uint32_t slot) override {
    const uint16_t stamp = hit_stamp_.load(std::memory_order_relaxed);
    if (stamps_[slot].load(std::memory_order_relaxed) != stamp) {
      stamps_[slot].store(stamp, std::memory_order_relaxed);
    }
  }

  void on_remove(uint32_t slot, uint64_t, bool) override {
    NVCACHE_ASSERT_SLOW(slot < slots_used_ && resident_ > 0);
    --resident_;
    stamps_[slot].store(0, std::memory_order_relaxed);
  }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    if (const auto slot = pop(residents)) return slot;
    for (const bool everything : {false, true}) {
      refill(residents, everything);
      if (const auto slot = pop(residents)) return slot;
    }
    return std::nullopt;
  }

  // A block that was hit since it came, or since it was kept. Its age stays: a hit's stamp is one
  // more than an insertion's of the same tick.
  bool keeps(uint32_t slot) override {
    const uint16_t stamp = stamps_[slot].load(std::memory_order_relaxed);
    if (stamp % 2 == 0) return false;
    stamps_[slot].store(static_cast<uint16_t>(stamp - 1), std::memory_order_relaxed);
    return true;
  }

  uint64_t metadata_bytes() const override {
    return slots_used_ * sizeof(stamps_[0]) + batch_.capacity() * sizeof(Aged);
  }

 private:
  struct Aged {
    uint32_t slot;
    uint16_t stamp;
  };

  void advance() {
    insertions_in_tick_ = 0;
    insertion_stamp_ = static_cast<uint16_t>(insertion_stamp_ + 2);
    if (insertion_stamp_ == 0) insertion_stamp_ = 2;
    NVCACHE_ASSERT_SLOW(insertion_stamp_ % 2 == 0);  // odd stamps are those of hits
    hit_stamp_.store(static_cast<uint16_t>(insertion_stamp_ + 1), std::memory_order_relaxed);
  }

  uint16_t age_of(uint16_t stamp) const {
    return static_cast<uint16_t>(insertion_stamp_ + 1 - stamp);
  }

  std::optional<uint32_t> pop(const Residents& residents) {
    while (!batch_.empty()) {
      const Aged oldest = batch_.back();
      batch_.pop_back();
      if (stamps_[oldest.slot].load(std::memory_order_relaxed) == oldest.stamp &&
          residents.evictable(oldest.slot)) {
        return oldest.slot;
      }
    }
    return std::nullopt;
  }

  // The least age of the oldest 1/kBatchShare, rounded down to a bin.
  uint32_t batch_age(uint32_t limit) const {
    std::array<uint32_t, kBins> ages{};
    const uint32_t stride = limit / kSegmentSlots + 1;
    uint32_t total = 0;
    for (uint64_t slot = 0; slot < limit; slot += stride) {
      const uint16_t stamp = stamps_[slot].load(std::memory_order_relaxed);
      if (stamp == 0) continue;
      ++ages[age_of(stamp) / kBinAges];
      ++total;
    }
    uint32_t wanted = std::max(total / kBatchShare, 1u);
    for (uint32_t bin = kBins; bin-- > 0;) {
      if (ages[bin] >= wanted) return bin * kBinAges;
      wanted -= ages[bin];
    }
    NVCACHE_ASSERT(total == 0);
    return 0;
  }

  // The oldest come last, because the batch is consumed from its back.
  auto younger() const {
    return [this](const Aged& a, const Aged& b) { return age_of(a.stamp) < age_of(b.stamp); };
  }

  // Fills the batch from the next stretches of slots. `everything` ignores age, for the case that
  // all of the oldest are pinned.
  void refill(const Residents& residents, bool everything) {
    NVCACHE_ASSERT(batch_.empty());
    const uint32_t limit = residents.slot_limit();
    const uint32_t least_age = everything ? 0 : batch_age(limit);
    size_t room = 2 * kept(limit);
    try {
      batch_.reserve(room);
    } catch (const std::bad_alloc&) {  // a smaller batch is right, too
      room = batch_.capacity();
    }
    for (uint32_t scanned = 0; scanned < limit && batch_.empty();) {
      const uint32_t steps = std::min(kSegmentSlots, limit - scanned);
      for (uint32_t i = 0; i < steps; ++i) {
        if (cursor_ >= limit) cursor_ = 0;
        const uint32_t slot = cursor_++;
        const uint16_t stamp = stamps_[slot].load(std::memory_order_relaxed);
        if (stamp == 0 || age_of(stamp) < least_age || !residents.evictable(slot)) continue;
        NVCACHE_ASSERT_SLOW(batch_.size() < batch_.capacity());  // it must not throw
        batch_.push_back({slot, stamp});
        if (batch_.size() >= room) keep_oldest(room / 2);
      }
      scanned += steps;
    }
    keep_oldest(room / 2);
    std::sort(batch_.begin(), batch_.end(), younger());
  }

  static constexpr size_t kLeastBatch = 2;

  static size_t kept(uint32_t limit) {
    return std::max(std::min(limit, kSegmentSlots) / kBatchShare, 1u);
  }

  void keep_oldest(size_t count) {
    if (batch_.size() <= count) return;
    const auto first_kept = batch_.end() - static_cast<ptrdiff_t>(count);
    std::nth_element(batch_.begin(), first_kept, batch_.end(), younger());
    batch_.erase(batch_.begin(), first_kept);
  }

  ReservedArray<std::atomic<uint16_t>> stamps_;
  std::atomic<uint16_t> hit_stamp_{3};
  uint16_t insertion_stamp_ = 2;
  uint64_t insertions_in_tick_ = 0;
  uint64_t resident_ = 0;
  uint64_t slots_used_ = 0;
  uint32_t cursor_ = 0;
  std::vector<Aged> batch_;
};

}  // namespace

EvictionOr make_lru(const SpecMember& member, const EvictionContext& context) {
  const Status arguments = check_no_arguments(kEviction, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<Lru>(context.max_slots);
}

}  // namespace nvcache
