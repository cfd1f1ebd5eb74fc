// auto(INSERT_COST=0.2): keeps the blocks with the best record of uses, and learns from the uses
// what a good record is: how long a use counts, and by how much a newcomer has to be better.
//
//   score    of a block: its uses, each halved once for every half-life that passed since
//            (policy/use_score.h). Blocks that are not in the cache have one, too
//   offer:   a use, in the table of absent blocks; time moves (policy/use_clock.h)
//   hit:     a use
//   victim:  the lowest score of kSample blocks, chosen by a hand that goes round
//   contest: the offered block's score must lead the victim's by LEAD steps, else it is refused
//            (less_used)
//   keeps:   a score above those of the blocks that come. Time alone lowers it: when it fell
//            each time a block was kept, a cache that turned over fast forgot what it had learned,
//            turned over faster, and hit next to nothing
//   learn:   half-life and LEAD are those of the shadow cache that earns most: hits, less
//            INSERT_COST for each insert (policy/shadow_caches.h). There are shadows from the first
//            contest on
//   forget:  when the uses become others (policy/phase_watch.h), all scores fall below that of one
//            use: the blocks that come take the places of all that was there, as in an empty cache
//
// INSERT_COST weighs what a write costs against what a hit saves. 0 counts hits alone.
//
// Memory a slot: 1 byte (7 bits of score, and whether the key is sampled), 2.5 bytes of the table,
// about 1 of the shadows, less in shards of more than 24,000 blocks. on_hit() is lock-free, and
// writes only where the score changes or the key is sampled; a hit that loses a race does not
// count. The shard's lock guards the rest.
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
#include "policy/score_table.h"
#include "policy/shadow_caches.h"
#include "policy/use_clock.h"
#include "policy/use_score.h"

namespace nvcache {
namespace {

constexpr double kDefaultInsertCost = 0.2;
constexpr double kMostInsertCost = 100;
constexpr uint32_t kSample = 8;
constexpr double kAbsentPerBlock = 1.25;
constexpr uint64_t kFollowEach = 16;  // inserts
// Slots, and entries of the table, aged with an offer; while forgetting.
constexpr uint32_t kAgeStep = 16;
constexpr uint32_t kForgetAgeStep = 256;
// How far scores fall when the cache forgets, and in one aging of all of them.
constexpr uint32_t kForgetAtOnce = UseScore::kAgeSteps / 2 - 1;
constexpr uint32_t kForgetSteps = 6 * kForgetAtOnce;
static_assert(kForgetSteps > UseScore::kHighest + 5, "below one use, by every lead");
constexpr double kNewcomers = 1024;
constexpr uint64_t kSmallCache = uint64_t{8} * ShadowCaches::kLeastKeys;

// Slots that were hit, of blocks with a sampled key: of those that share a place, the last.
// Thread-safe: add(). Caller-locked: drain().
class SampledHits {
 public:
  void add(uint32_t slot) { slots_[slot % kPlaces].store(slot + 1, std::memory_order_relaxed); }
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
  Auto(uint32_t max_slots, double insert_cost)
      : insert_cost_(insert_cost),
        records_(max_slots),
        absent_(static_cast<uint64_t>(kAbsentPerBlock * max_slots)),
        settings_(ShadowCaches::first_settings()) {}

  void on_insert(uint32_t slot, uint64_t key_hash) override {
    NVCACHE_ASSERT_SLOW(slot < records_.size());
    ++resident_;
    slots_used_ = std::max(slots_used_, slot + 1);
    if (resident_ % kFollowEach == 0) follow_size();
    const uint32_t score = absent_.take(key_hash).value_or(UseScore::once(clock_.now()));
    set(slot, score | (is_sampled(key_hash) ? kSampled : 0));
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
           (shadows_ == nullptr ? 0 : sizeof(ShadowCaches) + shadows_->metadata_bytes());
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
    absent_.use(key_hash, clock_.now(), static_cast<uint32_t>(mix64(key_hash + ++offers_)));
    if (shadows_ != nullptr && shadows_->samples(key_hash)) use_shadows(key_hash, false);
  }

  bool outranks_victim(uint64_t key_hash, const Residents& residents) override {
    if (resident_ == 0) return true;
    follow_shadows(residents);
    const uint32_t now = clock_.now();
    const uint32_t score = absent_.score(key_hash).value_or(UseScore::once(now));
    const int bound = UseScore::lead(score, now) - settings_.lead_steps + 1;
    if (chosen_ && lead(*chosen_) < bound && residents.evictable(*chosen_)) return true;
    chosen_ = sample_.lowest(residents, bound, [this](uint32_t slot) { return lead(slot); });
    return chosen_.has_value();
  }

  // Makes the shadows, or makes them anew where the cache has outgrown them; tells them of hits. If
  // it has shrunk, the shadows learn of hits as blocks come and go.
  void follow_shadows(const Residents& residents) {
    if (shadows_ == nullptr || !shadows_->fits(resident_)) {
      try {
        shadows_ = std::make_unique<ShadowCaches>(resident_, insert_cost_);
        highest_sampled_ = ShadowCaches::highest_sampled(resident_);
      } catch (const std::bad_alloc&) {  // the settings stay as they are
        return;
      }
      sampled_hits_.drain([](uint32_t) {});
    }
    sampled_hits_.drain([&](uint32_t slot) {
      NVCACHE_ASSERT_SLOW(slot < slots_used_);
      const uint64_t key_hash = residents.key_hash(slot);
      if (shadows_->samples(key_hash)) use_shadows(key_hash, true);
    });
  }

  void use_shadows(uint64_t key_hash, bool hit) {
    shadows_->use(key_hash, hit);
    settings_ = shadows_->settings();
    if (shadows_->has_new_phase()) {
      forget_steps_ = kForgetSteps;
      begin_aging();
    }
  }

  void follow_size() {
    absent_.follow(static_cast<uint64_t>(kAbsentPerBlock * static_cast<double>(resident_)));
    if (shadows_ == nullptr) highest_sampled_ = ShadowCaches::highest_sampled(resident_);
  }

  void begin_aging() {
    aging_slot_ = 0;
    aging_bucket_ = 0;
    aging_ = true;
  }

  // Before there are shadows: whether they may sample the key. In a small cache all keys pass for
  // sampled, and follow_shadows() sorts them out: a processor that has to guess at each hit whether
  // its key is sampled guesses wrong too often.
  bool is_sampled(uint64_t key_hash) const {
    if (resident_ <= kSmallCache) return true;
    return ShadowCaches::place_of(key_hash) <= highest_sampled_;
  }

  void age() {
    NVCACHE_ASSERT_SLOW(aging_slot_ <= slots_used_);
    const uint32_t now = clock_.now();
    const uint32_t step = forget_steps_ > 0 ? kForgetAgeStep : kAgeStep;
    const uint32_t end = std::min(aging_slot_ + step, slots_used_);
    for (; aging_slot_ < end; ++aging_slot_) {
      const uint32_t record = records_[aging_slot_].load(kRelaxed);
      const uint32_t aged = UseScore::age(record & UseScore::kMask, now) | (record & kSampled);
      if (aged != record) set(aging_slot_, aged);
    }
    const bool more = absent_.age(&aging_bucket_, step / 8, now);
    aging_ = more || aging_slot_ < slots_used_;
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
  UseSettings settings_;
  std::unique_ptr<ShadowCaches> shadows_;
  std::optional<uint32_t> chosen_;  // by outranks_victim(), for the next next_victim()
  double newcomer_lead_ = 0;  // of blocks when they come, the mean of about the last kNewcomers
  uint64_t resident_ = 0;
  uint64_t highest_sampled_ = ~uint64_t{0};  // by the shadows; by those to come, or by more
  uint64_t offers_ = 0;
  uint64_t aging_bucket_ = 0;
  uint32_t aging_slot_ = 0;
  uint32_t forget_steps_ = 0;  // by which scores have still to fall
  uint32_t slots_used_ = 0;
  VictimSample<kSample> sample_;
  bool aging_ = false;
};

}  // namespace

EvictionOr make_auto(const SpecMember& member, uint32_t max_slots) {
  const absl::StatusOr<double> insert_cost = only_number(
      kEviction, member,
      {.name = "INSERT_COST", .fallback = kDefaultInsertCost, .least = 0, .most = kMostInsertCost});
  if (!insert_cost.ok()) return insert_cost.status();
  return std::make_unique<Auto>(max_slots, *insert_cost);
}

}  // namespace nvcache
