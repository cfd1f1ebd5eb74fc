// obp(TARGET=0.1, lifetime | window[:LOOKUPS=100000], bytes): the overhead bypass ratio of
// *Writes Hurt*, section 3.2.3. "NVCache continuously updates OBP and abstains from admitting or
// evicting cache blocks if OBP exceeds its target (10%)": exactly at the target both are allowed.
//
//   blocks:  OBP = cost / max(lookups, 1)               cost = inserted + removed   [blocks]
//   bytes:   OBP = cost / (max(lookups, 1) * mean)      cost = written_bytes        [bytes]
//
// Blocks whose write failed count as inserted and removed, and blocks found damaged as removed:
// each was a write to the medium, or an attempt at one.
//
// `bytes` counts what is really written: metadata is in DRAM, so a removal writes nothing, and
// large blocks cost more than small ones. `mean` is the mean size of the blocks offered so far. It
// stands for the size of the blocks that were looked up, because a miss does not know the size.
//
// lifetime: cost and lookups since the cache was opened, as in *Writes Hurt*.
// window:   both decay with lookups, at half-life H, so that a bad phase is forgotten. From one
//           fold to the next, after d lookups and a cost of c,
//             cost    <- cost    * 2^(-d/H) + c * g      g = (1 - 2^(-d/H)) / (d/H * ln 2)
//             lookups <- lookups * 2^(-d/H) + d * g
//           This is the exact decay if cost and lookups come evenly (g = 1 at d = 0). Lookups alone
//           end a refusal: cost falls, and lookups tend to H / ln 2.
//
// Thread-safe. admit() and may_evict() take no lock: they read the last fold from a ring of eight.
// A reader that is delayed for eight folds may misjudge one block. A fold is done every H/64
// lookups by whichever thread gets the lock without waiting.
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/overhead_ratio.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

constexpr double kDefaultTarget = 0.1;  // section 3.2.3: best on the hardware of *Writes Hurt*
constexpr double kMaxTarget = 100;
constexpr uint64_t kDefaultWindowLookups = 100'000;  // seconds to minutes of a busy engine
constexpr uint64_t kMaxWindowLookups = 1'000'000'000'000;
constexpr uint64_t kFoldsPerHalfLife = 64;

struct Settings {
  double target = kDefaultTarget;
  uint64_t window_lookups = 0;  // 0: lifetime
  bool bytes = false;
};

struct Load {
  double cost = 0;
  double lookups = 0;
};

// Cost and lookups with exponential decay, as described at the top of this file.
class DecayingLoad {
 public:
  explicit DecayingLoad(uint64_t half_life_lookups)
      : half_life_(static_cast<double>(half_life_lookups)),
        fold_after_(std::max<uint64_t>(half_life_lookups / kFoldsPerHalfLife, 1)) {}

  // The load at this moment, given the totals since the cache was opened.
  Load now(uint64_t total_cost, uint64_t total_lookups) {
    const uint32_t current = current_.load(std::memory_order_acquire);
    const Fold& fold = folds_[current % folds_.size()];
    const uint64_t since = above(total_lookups, fold.total_lookups.load(kRelaxed));
    const Load load = decayed(fold, total_cost, since);
    if (since >= fold_after_) store(load, current, total_cost, total_lookups);
    return load;
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  struct Fold {
    std::atomic<double> cost{0};
    std::atomic<double> lookups{0};
    std::atomic<uint64_t> total_cost{0};
    std::atomic<uint64_t> total_lookups{0};
  };

  // Threads read the totals at different moments, so a total may lie behind the last fold.
  static uint64_t above(uint64_t total, uint64_t base) { return total > base ? total - base : 0; }

  Load decayed(const Fold& fold, uint64_t total_cost, uint64_t since) const {
    NVCACHE_ASSERT_SLOW(half_life_ > 0);
    const double half_lives = static_cast<double>(since) / half_life_;
    const double kept = std::exp2(-half_lives);
    const double spread = since == 0 ? 1.0 : (1.0 - kept) / (half_lives * std::log(2.0));
    NVCACHE_ASSERT_SLOW(kept <= 1 && spread >= 0);
    const double cost = static_cast<double>(above(total_cost, fold.total_cost.load(kRelaxed)));
    return {fold.cost.load(kRelaxed) * kept + cost * spread,
            fold.lookups.load(kRelaxed) * kept + static_cast<double>(since) * spread};
  }

  void store(const Load& load, uint32_t seen, uint64_t total_cost, uint64_t total_lookups) {
    if (!fold_mutex_.try_lock()) return;
    if (current_.load(kRelaxed) == seen) {
      Fold& next = folds_[(seen + 1) % folds_.size()];
      next.cost.store(load.cost, kRelaxed);
      next.lookups.store(load.lookups, kRelaxed);
      next.total_cost.store(total_cost, kRelaxed);
      next.total_lookups.store(total_lookups, kRelaxed);
      current_.store(seen + 1, std::memory_order_release);
    }
    fold_mutex_.unlock();
  }

  const double half_life_;
  const uint64_t fold_after_;
  std::array<Fold, 8> folds_;
  std::atomic<uint32_t> current_{0};
  Mutex fold_mutex_;
};

class Obp final : public AdmissionPolicy {
 public:
  explicit Obp(const Settings& settings) : settings_(settings), window_(settings.window_lookups) {}

  Verdict admit(const Candidate& candidate, const Traffic& traffic) override {
    if (settings_.bytes) {
      offered_bytes_.fetch_add(candidate.size_bytes, std::memory_order_relaxed);
      offered_blocks_.fetch_add(1, std::memory_order_relaxed);
    }
    if (within_target(traffic)) return Verdict::admit();
    return Verdict::refuse(Reason::kOverhead);
  }

  bool may_evict(const Traffic& traffic) override { return within_target(traffic); }

  uint32_t totals_interval() const override { return 1; }
  std::string describe() const override {
    const std::string span = settings_.window_lookups == 0
                                 ? "lifetime"
                                 : fmt::format("window:{}", settings_.window_lookups);
    return fmt::format("obp({},{}{})", exact_number(settings_.target), span,
                       settings_.bytes ? ",bytes" : "");
  }

 private:
  bool within_target(const Traffic& traffic) { return ratio(traffic) <= settings_.target; }

  double ratio(const Traffic& traffic) {
    if (settings_.window_lookups == 0 && !settings_.bytes) return overhead_ratio(traffic);
    const uint64_t cost =
        settings_.bytes ? traffic.written_bytes : traffic.inserted + traffic.removed;
    const Load load = settings_.window_lookups == 0
                          ? Load{static_cast<double>(cost), static_cast<double>(traffic.lookups)}
                          : window_.now(cost, traffic.lookups);
    const double mean_bytes = settings_.bytes ? mean_offered_bytes(traffic) : 1.0;
    return load.cost / (std::max(load.lookups, 1.0) * mean_bytes);
  }

  double mean_offered_bytes(const Traffic& traffic) const {
    uint64_t blocks = offered_blocks_.load(std::memory_order_relaxed);
    uint64_t bytes = offered_bytes_.load(std::memory_order_relaxed);
    if (blocks == 0) {  // nothing offered since this policy was made
      blocks = traffic.inserted;
      bytes = traffic.written_bytes;
    }
    if (blocks == 0 || bytes == 0) return 1.0;
    return static_cast<double>(bytes) / static_cast<double>(blocks);
  }

  const Settings settings_;
  DecayingLoad window_;
  std::atomic<uint64_t> offered_bytes_{0};
  std::atomic<uint64_t> offered_blocks_{0};
};

constexpr std::string_view kAllowedObp =
    "obp(TARGET, lifetime | window | window:LOOKUPS, bytes), each at most once";

// Reads "lifetime", "window", "window:LOOKUPS" or "bytes". False if `text` is none of them, or
// repeats one.
bool read_option(std::string_view text, Settings& settings, bool& span_given) {
  if (text == "bytes") return !std::exchange(settings.bytes, true);
  if (std::exchange(span_given, true)) return false;
  if (text == "lifetime") return true;
  settings.window_lookups = kDefaultWindowLookups;
  if (text == "window") return true;
  constexpr std::string_view kPrefix = "window:";
  if (!text.starts_with(kPrefix)) return false;
  text = strip(text.substr(kPrefix.size()));
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), settings.window_lookups);
  return error == std::errc() && end == text.data() + text.size() && settings.window_lookups > 0 &&
         settings.window_lookups <= kMaxWindowLookups;
}

}  // namespace

AdmissionOr make_obp(const SpecMember& member, const AdmissionContext&) {
  const Status arguments = check_argument_count(kAdmission, member, 3, kAllowedObp);
  if (!arguments.ok()) return arguments;
  Settings settings;
  bool span_given = false;
  for (size_t i = 0; i < member.arguments.size(); ++i) {
    const std::string_view text = member.arguments[i];
    const bool letter_first =
        !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
    if (i > 0 || letter_first) {
      if (read_option(text, settings, span_given)) continue;
      return bad_member(kAdmission, member,
                        fmt::format("option '{}' given; allowed: {}, LOOKUPS from 1 to {}",
                                    shown(text), kAllowedObp, kMaxWindowLookups));
    }
    const StatusOr<double> target = parse_number("TARGET", shown(text), 0, kMaxTarget);
    if (!target.ok()) return bad_member(kAdmission, member, target.status().message());
    settings.target = *target;
  }
  return std::make_unique<Obp>(settings);
}

}  // namespace nvcache
