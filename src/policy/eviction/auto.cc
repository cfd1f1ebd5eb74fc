// auto(INSERT_COST=0.2): keeps the blocks with the best record of uses, and learns from the uses
// what a good record is: how long a use counts, and by how much a newcomer has to be better.
//
//   score    of a block: its uses, each halved once for every half-life that passed since
//            (learning/use_score.h). Blocks that are not in the cache have one, too
//   offer:   a use, in the table of absent blocks; time moves (learning/use_clock.h)
//   hit:     a use
//   victim:  the lowest score of kSample blocks, chosen by a hand that goes round
//   contest: the offered block's score must lead the victim's by LEAD steps, else it is refused
//            (less_used)
//   keeps:   a score above those of the blocks that come. Time alone lowers it: when it fell
//            each time a block was kept, a cache that turned over fast forgot what it had learned,
//            turned over faster, and hit next to nothing
//   learn:   half-life and LEAD are those of the shadow cache that earns most: hits, less
//            INSERT_COST for each insert (learning/shadow_caches.h)
//   full:    with the first contest, no score counts for more than two uses. Before, time stood
//            nearly still: what was used often long ago looked like what is used often
//   forget:  when the uses become others (learning/phase_detector.h), all scores fall below that of
//   one
//            use: the blocks that come take the places of all that was there, as in an empty cache
//
// All shards of a cache learn and forget together (learning/shared_learning.h), from the first
// offer on.
//
// INSERT_COST weighs what a write costs against what a hit saves. 0 counts hits alone.
//
// Memory a slot: 1 byte (7 bits of score, and whether the key is sampled), 2.5 bytes of the table,
// and 25 KiB at most for all shards. on_hit() is lock-free, and writes only where the score
// changes, or the key is sampled and few were hit since the last contest; a hit that loses a race
// does not count. The shard's lock guards the rest.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/prng.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"
#include "policy/eviction/victim_sample.h"
#include "policy/learning/score_table.h"
#include "policy/learning/shared_learning.h"
#include "policy/learning/use_clock.h"
#include "policy/learning/use_score.h"

namespace nvcache {
namespace {

constexpr double kDefaultInsertCost = 0.2;
constexpr double kMostInsertCost = 100;
constexpr uint32_t kSample = 8;
constexpr double kAbsentPerBlock = 1.25;
constexpr uint64_t kMostFollowed = 16;  // blocks that have come or left, before others learn of it
// Slots, and entries of the table, aged with an offer; while forgetting, or becoming full.
constexpr uint32_t kAgeStep = 16;
constexpr uint32_t kFastAgeStep = 256;
// How far scores fall when the cache forgets, and in one aging of all of them.
constexpr uint32_t kForgetAtOnce = UseScore::kAgeSteps / 2 - 1;
constexpr uint32_t kForgetSteps = 6 * kForgetAtOnce;
static_assert(kForgetSteps > UseScore::kHighest + 5, "below one use, by every lead");
// How far a score may be ahead of one use when the cache becomes full. Chosen of 0 to 8 steps: of
// those that change nothing on the traces of docs/results/replay.md, the one that helps most.
constexpr int kMostWhenFull = UseScore::kStepsPerHalfLife;
constexpr double kNewcomers = 1024;
constexpr uint64_t kSmallShard = 128;

// Slots that were hit, of blocks with a sampled key: of those that share a place, the first, so
// that threads that only hit write nothing here. Thread-safe: add(). Caller-locked: drain().
class SampledHits {
 public:
  void add(uint32_t slot) {
    std::atomic<uint32_t>& place = slots_[slot % kPlaces];
    if (place.load(std::memory_order_relaxed) == 0) {
      place.store(slot + 1, std::memory_order_relaxed);
    }
  }
  // A hit that comes at the same time may be taken the next time, or be lost.
  template <typename Take>
  void drain(Take&& take) {
    for (std::atomic<uint32_t>& place : slots_) {
      const uint32_t next = place.load(std::memory_order_relaxed);
      if (next == 0) continue;
      place.store(0, std::memory_order_relaxed);
      take(next - 1);
    }
  }

 private:
  static constexpr uint32_t kPlaces = 8;
  std::array<std::atomic<uint32_t>, kPlaces> slots_{};  // slot + 1; 0: none
};

class Auto final : public EvictionPolicy, private Contest {
 public:
  Auto(uint32_t max_slots, double insert_cost, std::shared_ptr<SharedLearning> learning)
      : insert_cost_(insert_cost),
        records_(max_slots),
        absent_(static_cast<uint64_t>(kAbsentPerBlock * max_slots)),
        learning_(std::move(learning)),
        settings_(learning_->settings()),
        phases_(learning_->phases()) {
    learning_->add_shard();
  }

  void on_insert(uint32_t slot, uint64_t key_hash) override {
    NVCACHE_ASSERT_SLOW(slot < records_.size());
    ++resident_;
    slots_used_ = std::max(slots_used_, slot + 1);
    if (resident_ >= followed_ + follow_each_) follow_size();
    const uint32_t score = absent_.take(key_hash).value_or(UseScore::once(clock_.now()));
    set(slot, score | (is_sampled(key_hash) ? kSampled : 0));
    if (!full_ && samples(key_hash)) note_use(key_hash, false);
    newcomer_lead_ += (UseScore::lead(score, clock_.now()) - newcomer_lead_) / kNewcomers;
  }

  void on_hit(uint32_t slot) override {
    const uint32_t record = records_[slot].load(kRelaxed);
    const uint32_t now = clock_.now();
    const uint32_t noise = (slot + now * 0x9e3779b9u + record * 0x85ebca6bu) >> 13;
    const uint32_t used = UseScore::used(record & UseScore::kMask, now, noise);
    if (const uint32_t after = used | (record & kSampled); after != record) set(slot, after);
    if ((record & kSampled) != 0) sampled_hits_.add(slot);
  }

  void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) override {
    NVCACHE_ASSERT_SLOW(slot < slots_used_ && resident_ > 0);
    --resident_;
    if (resident_ + follow_each_ <= followed_) follow_size();
    if (evicted) absent_.put(key_hash, score(slot), clock_.now());
  }

  Contest* contest() override { return this; }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const std::optional<uint32_t> chosen = std::exchange(chosen_, std::nullopt);
    if (chosen && residents.evictable(*chosen)) return chosen;
    return sample_.any(residents, UseScore::kHighest + 1,
                       [this](uint32_t slot) { return lead(slot); });
  }

  bool keeps(uint32_t slot) override {
    const int ahead = lead(slot);
    return ahead > 0 && ahead > newcomer_lead_;
  }

  uint64_t metadata_bytes() const override {
    return slots_used_ * sizeof(records_[0]) + absent_.metadata_bytes() +
           learning_->metadata_bytes();
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr uint32_t kSampled = 1u << UseScore::kBits;

  void offer(uint64_t key_hash) override {
    if (clock_.offer(settings_.half_life, resident_)) begin_aging();
    if (!aging_ && forget_steps_ > 0) {
      clock_.skip(kForgetAtOnce);
      forget_steps_ -= kForgetAtOnce;
      begin_aging();
    }
    if (aging_) age();
    learning_->follow_size(insert_cost_);
    absent_.use(key_hash, clock_.now(), static_cast<uint32_t>(mix64(key_hash + ++offers_)));
    if (full_ && samples(key_hash)) note_use(key_hash, false);
  }

  bool outranks_victim(uint64_t key_hash, const Residents& residents) override {
    if (resident_ == 0) return true;
    if (!full_) become_full();
    follow_learning(residents);
    const uint32_t now = clock_.now();
    const uint32_t score = absent_.score(key_hash).value_or(UseScore::once(now));
    const int bound = UseScore::lead(score, now) - settings_.lead_steps + 1;
    if (chosen_ && lead(*chosen_) < bound && residents.evictable(*chosen_)) return true;
    chosen_ = sample_.lowest(residents, bound, [this](uint32_t slot) { return lead(slot); });
    return chosen_.has_value();
  }

  // Tells of hits, and follows what the shards have learned. If the cache has shrunk, more keys are
  // sampled, but hits of their blocks are only learned of as these come and go.
  void follow_learning(const Residents& residents) {
    learning_->note_contest();
    highest_sampled_ = learning_->highest_sampled();
    sampled_hits_.drain([&](uint32_t slot) {
      NVCACHE_ASSERT_SLOW(slot < slots_used_);
      const uint64_t key_hash = residents.key_hash(slot);
      if (samples(key_hash)) note_use(key_hash, true);
    });
    settings_ = learning_->settings();
    if (const uint32_t phases = learning_->phases(); phases != phases_) {
      phases_ = phases;
      forget_steps_ = kForgetSteps;
      begin_aging();
    }
  }

  void note_use(uint64_t key_hash, bool hit) {
    NVCACHE_ASSERT_SLOW(uses_noted_ < uses_.size());
    uses_[uses_noted_++] = {.key_hash = key_hash, .hit = hit};
    if (uses_noted_ < std::min<size_t>(learning_->uses_together(), uses_.size())) return;
    learning_->use(std::span(uses_).first(uses_noted_));
    uses_noted_ = 0;
  }

  void follow_size() {
    absent_.follow(static_cast<uint64_t>(kAbsentPerBlock * static_cast<double>(resident_)));
    learning_->add_blocks(static_cast<int64_t>(resident_) - static_cast<int64_t>(followed_));
    followed_ = resident_;
    follow_each_ = std::min(1 + resident_ / 8, kMostFollowed);
    highest_sampled_ = learning_->highest_sampled();
  }

  void become_full() {
    full_ = true;
    becoming_full_ = true;
    begin_aging();
  }

  void begin_aging() {
    aging_slot_ = 0;
    aging_bucket_ = 0;
    aging_ = true;
  }

  // Whether the key is sampled, or may be once learning begins. In a small shard all keys pass for
  // sampled, and follow_learning() sorts them out: a processor that has to guess at each hit
  // whether its key is sampled guesses wrong too often.
  bool is_sampled(uint64_t key_hash) const { return resident_ <= kSmallShard || samples(key_hash); }
  bool samples(uint64_t key_hash) const {
    return KeySample::place_of(key_hash) <= highest_sampled_;
  }

  void age() {
    NVCACHE_ASSERT_SLOW(aging_slot_ <= slots_used_);
    const uint32_t now = clock_.now();
    const bool fast = forget_steps_ > 0 || becoming_full_;
    const uint32_t step = fast ? kFastAgeStep : kAgeStep;
    const int most = becoming_full_ ? kMostWhenFull : UseScore::kHighest;
    const uint32_t end = std::min(aging_slot_ + step, slots_used_);
    for (; aging_slot_ < end; ++aging_slot_) {
      const uint32_t record = records_[aging_slot_].load(kRelaxed);
      const uint32_t aged = UseScore::age(record & UseScore::kMask, now);
      const uint32_t kept = UseScore::lead(aged, now) > most ? UseScore::at_lead(most, now) : aged;
      if (const uint32_t after = kept | (record & kSampled); after != record) {
        set(aging_slot_, after);
      }
    }
    const bool more = absent_.age(&aging_bucket_, step / 8, now);
    aging_ = more || aging_slot_ < slots_used_;
    becoming_full_ = becoming_full_ && aging_;
  }

  uint32_t score(uint32_t slot) const { return records_[slot].load(kRelaxed) & UseScore::kMask; }
  int lead(uint32_t slot) const { return UseScore::lead(score(slot), clock_.now()); }
  void set(uint32_t slot, uint32_t record) {
    NVCACHE_ASSERT_SLOW(record <= UINT8_MAX);
    records_[slot].store(static_cast<uint8_t>(record), kRelaxed);
  }

  const double insert_cost_;
  ReservedArray<std::atomic<uint8_t>> records_;  // kSampled | score
  ScoreTable absent_;
  alignas(64) UseClock clock_;  // in one cache line: what a hit needs, but for its record
  SampledHits sampled_hits_;
  static_assert(sizeof(UseClock) + sizeof(SampledHits) <= 64);
  const std::shared_ptr<SharedLearning> learning_;
  UseSettings settings_;
  uint32_t phases_;  // followed so far
  std::array<SampledUse, SharedLearning::kMostTogether> uses_{};
  size_t uses_noted_ = 0;
  std::optional<uint32_t> chosen_;  // by outranks_victim(), for the next next_victim()
  double newcomer_lead_ = 0;  // of blocks when they come, the mean of about the last kNewcomers
  uint64_t resident_ = 0;
  uint64_t followed_ = 0;  // resident blocks, as of the last follow_size()
  uint64_t follow_each_ = 1;
  uint64_t highest_sampled_ = ~uint64_t{0};  // as of the last look at what was learned
  uint64_t offers_ = 0;
  uint64_t aging_bucket_ = 0;
  uint32_t aging_slot_ = 0;
  uint32_t forget_steps_ = 0;  // by which scores have still to fall
  uint32_t slots_used_ = 0;
  VictimSample<kSample> sample_;
  bool aging_ = false;
  bool full_ = false;           // there was a contest
  bool becoming_full_ = false;  // scores are being brought down to kMostWhenFull
};

}  // namespace

EvictionOr make_auto(const SpecMember& member, const EvictionContext& context) {
  const StatusOr<double> insert_cost = only_number(
      kEviction, member,
      {.name = "INSERT_COST", .fallback = kDefaultInsertCost, .least = 0, .most = kMostInsertCost});
  if (!insert_cost.ok()) return insert_cost.status();
  return std::make_unique<Auto>(
      context.max_slots, *insert_cost,
      context.learning != nullptr ? context.learning : std::make_shared<SharedLearning>());
}

}  // namespace nvcache
