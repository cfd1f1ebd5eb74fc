// tinylfu: a block enters a full cache only if it was asked for more often in the recent past than
// the block that would leave (Einziger, Friedman and Manes, "TinyLFU", ACM TOS 2017).
//
//   offer:   count of the block + 1, in a table of the blocks that are not in the cache
//   insert:  count from the table      hit: count + 1, at most 255
//   victim:  the lowest count of kSample blocks, chosen by a hand that goes round
//   contest: the offered block's count must exceed the victim's, else it is refused (less_used)
//   evict:   count back into the table
//   keeps:   a count above those of the blocks that come, and at least 2
//   age:     after PERIOD offers for each cached block all counts are halved, a few at a time;
//            without offers nothing ages
//
// A tier below another cache sees each block's first uses and few of its later ones. How recent a
// use was says little there; how many uses there were says more. A refused block is not written, so
// it does not slow down reads from the medium. A longer period writes less and suits a workload
// that stays the same; a shorter period follows changes sooner.
//
// Memory a slot: 1 byte, and 1 to 2 bytes of the table. on_hit() is lock-free; a hit that loses a
// race does not count. The shard's lock guards the rest.
#include <algorithm>
#include <atomic>
#include <utility>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"
#include "policy/eviction/victim_sample.h"
#include "policy/parts/frequency_table.h"

namespace nvcache {
namespace {

constexpr uint32_t kSample = 5;
constexpr double kDefaultPeriod = 8;  // offers for each cached block between halvings
constexpr double kMinPeriod = 1;
constexpr double kMaxPeriod = 1000;
constexpr uint32_t kAgeStep = 256;  // slots, and entries of the table, halved in one call
constexpr uint32_t kMaxUses = 255;
constexpr double kNewcomers = 1024;

class TinyLfu final : public EvictionPolicy, private Contest {
 public:
  TinyLfu(uint32_t max_slots, double period)
      : period_(period), counts_(max_slots), table_(max_slots) {}

  void on_insert(uint32_t slot, uint64_t key_hash) override {
    NVCACHE_ASSERT_SLOW(slot < counts_.size());
    ++resident_;
    slots_used_ = std::max(slots_used_, slot + 1);
    table_.follow(resident_);
    const uint32_t uses = table_.take(key_hash);
    counts_[slot].store(static_cast<uint8_t>(uses), kRelaxed);
    newcomer_uses_ += (static_cast<double>(uses) - newcomer_uses_) / kNewcomers;
  }

  void on_hit(uint32_t slot) override {
    const uint8_t count = counts_[slot].load(kRelaxed);
    if (count < kMaxUses) counts_[slot].store(static_cast<uint8_t>(count + 1), kRelaxed);
  }

  void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) override {
    NVCACHE_ASSERT_SLOW(slot < slots_used_ && resident_ > 0);
    --resident_;
    if (evicted) table_.put(key_hash, counts_[slot].load(kRelaxed));
  }

  Contest* contest() override { return this; }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const std::optional<uint32_t> chosen = std::exchange(chosen_, std::nullopt);
    if (chosen && residents.evictable(*chosen)) return chosen;
    return sample_.any(residents, int{kMaxUses} + 1, [this](uint32_t slot) { return uses(slot); });
  }

  // A block with more uses than those that came of late had when they came. Time makes it fewer.
  bool keeps(uint32_t slot) override {
    const auto uses = static_cast<double>(counts_[slot].load(kRelaxed));
    return uses >= 2 && uses > newcomer_uses_;
  }

  uint64_t metadata_bytes() const override {
    return slots_used_ * sizeof(counts_[0]) + table_.metadata_bytes();
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr uint64_t kMinAging = 64;

  void offer(uint64_t key_hash) override {
    table_.add(key_hash);
    const auto blocks = static_cast<double>(std::max<uint64_t>(resident_, kMinAging));
    if (static_cast<double>(++offers_) >= period_ * blocks) {
      offers_ = 0;
      aging_slot_ = 0;
      aging_bucket_ = 0;
      aging_ = true;
    }
    if (aging_) age();
  }

  bool outranks_victim(uint64_t key_hash, const Residents& residents) override {
    if (resident_ == 0) return true;
    const uint32_t uses_here = table_.count(key_hash);
    if (chosen_ && counts_[*chosen_].load(kRelaxed) < uses_here && residents.evictable(*chosen_)) {
      return true;
    }
    chosen_ = sample_.lowest(residents, static_cast<int>(uses_here),
                             [this](uint32_t slot) { return uses(slot); });
    return chosen_.has_value();
  }

  int uses(uint32_t slot) const { return counts_[slot].load(kRelaxed); }

  void age() {
    NVCACHE_ASSERT_SLOW(aging_slot_ <= slots_used_);
    const uint32_t end = std::min(aging_slot_ + kAgeStep, slots_used_);
    for (; aging_slot_ < end; ++aging_slot_) {
      const uint8_t count = counts_[aging_slot_].load(kRelaxed);
      counts_[aging_slot_].store(static_cast<uint8_t>(count / 2), kRelaxed);
    }
    const bool more = table_.halve(&aging_bucket_, kAgeStep / 8);
    aging_ = more || aging_slot_ < slots_used_;
  }

  const double period_;
  ReservedArray<std::atomic<uint8_t>> counts_;
  FrequencyTable table_;
  std::optional<uint32_t> chosen_;  // by outranks_victim(), for the next next_victim()
  double newcomer_uses_ = 0;  // of blocks when they come, the mean of about the last kNewcomers
  uint64_t resident_ = 0;
  uint64_t offers_ = 0;  // since the last halving began
  uint64_t aging_bucket_ = 0;
  uint32_t aging_slot_ = 0;
  uint32_t slots_used_ = 0;
  VictimSample<kSample> sample_;
  bool aging_ = false;
};

}  // namespace

EvictionOr make_tinylfu(const SpecMember& member, const EvictionContext& context) {
  const StatusOr<double> period = only_number(
      kEviction, member,
      {.name = "PERIOD", .fallback = kDefaultPeriod, .least = kMinPeriod, .most = kMaxPeriod});
  if (!period.ok()) return period.status();
  return std::make_unique<TinyLfu>(context.max_slots, *period);
}

}  // namespace nvcache
