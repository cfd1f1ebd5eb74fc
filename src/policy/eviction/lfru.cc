// lfru(WINDOW_SECONDS=10): *Writes Hurt*, section 3.1: eviction "targets blocks that were not
// reused within a fixed time window and evicts the least frequently used among those", approximated
// by "the clock hand [that] simply iterates"; a thread wakes once a second and evicts.
//
// *Writes Hurt* does not state its window. 10 seconds is our choice: WiredTiger's own default
// amounts to 30 minutes, and a full cache would freeze that long.
//
//   tick      = window / 16                                          [ns]
//   slot      = tick of the last use (8 bits), frequency (8 bits)
//   insert    : frequency 1      hit: +1, at most 255      once a window: halved, at least 1
//   target    : last used 16 ticks ago or more
//   a pass    : frees share * resident blocks. It looks at 16 slots for each of them, at 4096 at
//               least, and on until it has found enough targets; it takes those of the lowest
//               frequencies; of equal frequencies, those that the hand meets first
//
// Time moves only in begin_pass(): call it regularly, with share 0 if no block has to leave. A use
// gets the date of the pass before it, so with passes a second apart a block may look up to a
// second older than it is. The first pass sets the start of time.
//
// Memory: 2 bytes a slot. One pass a window visits every slot, about 4 ns each, to halve the
// frequencies. The others cost 16 looks a freed block, and nothing if none has to go
// (bench/eviction_pass_bench). on_hit() is lock-free; a hit that loses a race does not count.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

constexpr double kDefaultWindowSeconds = 10;
constexpr double kMinWindowSeconds = 0.001;
constexpr double kMaxWindowSeconds = 1'000'000;
constexpr uint64_t kTicksPerWindow = 16;
// Ages never wrap around 8 bits: slots are visited at least every kMostUnvisitedTicks, and one of
// kOldTicks or more then gets kOldAgainTicks, which is still a target's.
constexpr uint64_t kMostUnvisitedTicks = 64;
constexpr uint64_t kOldTicks = 88;
constexpr uint8_t kOldAgainTicks = 32;
static_assert(kOldAgainTicks >= kTicksPerWindow);
static_assert(kOldTicks + kMostUnvisitedTicks < 256 - kOldTicks, "none looks as if just used");
constexpr uint32_t kFrequencies = 256;
constexpr uint64_t kLooksPerVictim = 16;
constexpr uint64_t kLeastLooks = 4096;  // small shards are looked at whole

// Frequency 0: an empty slot.
struct Use {
  uint8_t tick = 0;
  uint8_t frequency = 0;

  static Use unpack(uint16_t word) {
    return {static_cast<uint8_t>(word >> 8), static_cast<uint8_t>(word)};
  }
  uint16_t pack() const { return static_cast<uint16_t>(tick << 8 | frequency); }
};

class Lfru final : public EvictionPolicy, private EvictionPasses {
 public:
  Lfru(uint32_t max_slots, double window_seconds)
      : tick_ns_(
            std::max<uint64_t>(static_cast<uint64_t>(window_seconds * 1e9) / kTicksPerWindow, 1)),
        uses_(max_slots) {}

  void on_insert(uint32_t slot, uint64_t) override {
    NVCACHE_ASSERT_SLOW(slot < uses_.size());
    slots_used_ = std::max(slots_used_, uint64_t{slot} + 1);
    uses_[slot].store(Use{now_.load(kRelaxed), 1}.pack(), kRelaxed);
    ++resident_;
  }

  void on_hit(uint32_t slot) override {
    const uint16_t before = uses_[slot].load(kRelaxed);
    Use use = Use::unpack(before);
    use.tick = now_.load(kRelaxed);
    if (use.frequency < kFrequencies - 1) ++use.frequency;
    if (use.pack() != before) uses_[slot].store(use.pack(), kRelaxed);
  }

  void on_remove(uint32_t slot, uint64_t, bool) override {
    NVCACHE_ASSERT_SLOW(slot < slots_used_ && resident_ > 0);
    uses_[slot].store(0, kRelaxed);
    --resident_;
  }

  EvictionPasses* passes() override { return this; }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const uint32_t limit = residents.slot_limit();
    for (; steps_left_ > 0 && below_left_ + at_left_ > 0; --steps_left_) {
      if (hand_ >= limit) hand_ = 0;
      if (limit == 0) break;
      const uint32_t slot = hand_++;
      const Use use = Use::unpack(uses_[slot].load(kRelaxed));
      if (!is_target(use) || use.frequency > highest_) continue;
      uint64_t& left = use.frequency == highest_ ? at_left_ : below_left_;
      if (left == 0 || !residents.evictable(slot)) continue;
      --left;
      --steps_left_;
      return slot;
    }
    return std::nullopt;
  }

  // A block that a pass would not take, and that was hit.
  bool keeps(uint32_t slot) override {
    const uint16_t before = uses_[slot].load(kRelaxed);
    Use use = Use::unpack(before);
    if (use.frequency < 2 || is_target(use)) return false;
    use.frequency = static_cast<uint8_t>(use.frequency / 2);
    uses_[slot].store(use.pack(), kRelaxed);
    return true;
  }

  uint64_t metadata_bytes() const override { return slots_used_ * sizeof(uses_[0]); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  void begin_pass(const Residents& residents, uint64_t now_ns, double share) override {
    const uint32_t limit = residents.slot_limit();
    NVCACHE_ASSERT(limit <= uses_.size());
    move_time(limit, now_ns);
    const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(resident_));
    look_for_targets(limit, static_cast<uint64_t>(wanted));
  }

  uint8_t age_of(const Use& use) const {
    return static_cast<uint8_t>(now_.load(kRelaxed) - use.tick);
  }
  bool is_target(const Use& use) const {
    return use.frequency > 0 && age_of(use) >= kTicksPerWindow;
  }

  void move_time(uint32_t limit, uint64_t now_ns) {
    const uint64_t tick = now_ns / tick_ns_;
    if (!started_) last_tick_ = tick;
    started_ = true;
    const uint64_t passed = tick > last_tick_ ? tick - last_tick_ : 0;
    const uint64_t windows = (last_tick_ + passed) / kTicksPerWindow - last_tick_ / kTicksPerWindow;
    last_tick_ += passed;
    const uint8_t before = now_.load(kRelaxed);
    now_.store(static_cast<uint8_t>(before + passed), kRelaxed);
    unvisited_ticks_ += passed;
    if (windows == 0 && unvisited_ticks_ < kMostUnvisitedTicks) return;
    unvisited_ticks_ = 0;
    for (uint32_t slot = 0; slot < limit; ++slot) {
      uint16_t word = uses_[slot].load(kRelaxed);
      Use use = Use::unpack(word);
      if (use.frequency == 0) continue;
      // A slot dated to the new tick was hit just now.
      const bool just_hit = passed < kOldTicks && use.tick == now_.load(kRelaxed);
      const uint64_t age_before = static_cast<uint8_t>(before - use.tick);
      age(use, just_hit ? 0 : age_before + passed, windows);
      // A use that comes in between wins: the slot is young then.
      if (const uint16_t aged = use.pack(); aged != word) {
        uses_[slot].compare_exchange_strong(word, aged, kRelaxed);
      }
    }
  }

  void age(Use& use, uint64_t ticks_ago, uint64_t windows) const {
    NVCACHE_ASSERT_SLOW(use.frequency > 0);
    if (ticks_ago >= kOldTicks) {
      use.tick = static_cast<uint8_t>(now_.load(kRelaxed) - kOldAgainTicks);
    }
    use.frequency =
        std::max<uint8_t>(static_cast<uint8_t>(use.frequency >> std::min<uint64_t>(windows, 8)), 1);
  }

  // Counts the targets of the slots that the hand meets next: of kLooksPerVictim for each block
  // that is wanted, and of as many more as it takes to find enough.
  void look_for_targets(uint32_t limit, uint64_t wanted) {
    std::array<uint32_t, kFrequencies> targets{};  // by frequency
    const uint64_t looks = wanted == 0 ? 0 : std::max(kLeastLooks, kLooksPerVictim * wanted);
    uint64_t found = 0;
    uint64_t looked = 0;
    for (uint32_t slot = hand_; looked < limit && (looked < looks || found < wanted); ++looked) {
      if (slot >= limit) slot = 0;
      const Use use = Use::unpack(uses_[slot++].load(kRelaxed));
      if (!is_target(use)) continue;
      ++targets[use.frequency];
      ++found;
    }
    steps_left_ = looked;
    choose(targets, wanted);
    NVCACHE_ASSERT(below_left_ + at_left_ <= std::min(found, wanted));
  }

  // Sets which targets the pass takes: all below the frequency highest_, and as many
  // of that frequency as are still wanted.
  void choose(const std::array<uint32_t, kFrequencies>& targets, uint64_t wanted) {
    highest_ = 0;
    below_left_ = 0;
    at_left_ = 0;
    for (uint32_t frequency = 1; frequency < kFrequencies && wanted > 0; ++frequency) {
      if (targets[frequency] == 0) continue;
      below_left_ += at_left_;
      at_left_ = std::min<uint64_t>(targets[frequency], wanted);
      highest_ = static_cast<uint8_t>(frequency);
      wanted -= at_left_;
    }
  }

  const uint64_t tick_ns_;
  ReservedArray<std::atomic<uint16_t>> uses_;
  std::atomic<uint8_t> now_{0};  // the tick, modulo 256
  uint64_t slots_used_ = 0;
  uint64_t resident_ = 0;
  bool started_ = false;
  uint64_t last_tick_ = 0;
  uint64_t unvisited_ticks_ = 0;  // since all slots were visited
  uint32_t hand_ = 0;
  // The pass that is under way.
  uint64_t steps_left_ = 0;
  uint64_t below_left_ = 0;  // victims still to yield with frequencies below highest_
  uint64_t at_left_ = 0;     // and with highest_
  uint8_t highest_ = 0;
};

}  // namespace

EvictionOr make_lfru(const SpecMember& member, const EvictionContext& context) {
  const StatusOr<double> window_seconds = only_number(kEviction, member,
                                                      {.name = "WINDOW_SECONDS",
                                                       .fallback = kDefaultWindowSeconds,
                                                       .least = kMinWindowSeconds,
                                                       .most = kMaxWindowSeconds});
  if (!window_seconds.ok()) return window_seconds.status();
  return std::make_unique<Lfru>(context.max_slots, *window_seconds);
}

}  // namespace nvcache
