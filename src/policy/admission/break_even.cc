// break_even(LOSS=0.05,SHARE=0.5): writes hurt, so hits have to pay for them. Blocks are refused
// (overhead) while writing took longer than SHARE of what hits saved and LOSS of what each lookup
// could save.
//
//   saving  = storage - read        what a hit saves                                [ns]
//   income  = hits * SHARE * saving  +  lookups * LOSS * max(saving, storage / 16)  [ns]
//   cost    = KiB written * the mean time of a KiB                                  [ns]
//   balance = income - cost         at most the time that 1/64 of the cache takes to write, at
//                                   least minus the time of all of it
//
// storage, read and the time of a KiB are means of the last accesses: a medium that is busy with
// writes is slow, and refuses more. Where a write is cheap beside a read of the storage, nothing is
// refused. LOSS bounds what a cache can cost that serves no hits: a twentieth of what its lookups
// take without it. (*Writes Hurt* bounds the blocks that are written and removed to a tenth of the
// lookups, section 3.2.3, whatever they cost.) Where hits save nothing, because the medium is as
// slow as the storage, next to nothing is written; what is served tells when that changes. All
// writes count: padding, and blocks that are written again, too.
//
// While the engine tells nothing of its own reads (BlockCache::note_storage_read()), nothing is
// weighed, and all are admitted. A hit that is read in place, unseen, counts as free.
//
// Thread-safe and lock-free but for the account, which one question in kQuestionsAnAccount brings
// up to date; between two of these, offers draw on what it said. All threads meet in one word, from
// which each admission subtracts.
#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

constexpr double kDefaultLoss = 0.05;
constexpr double kDefaultShare = 0.5;
constexpr double kLeastSaving = 1.0 / 16;     // of a storage read
constexpr double kLargestBalance = 1.0 / 64;  // of the cache's size
constexpr uint32_t kQuestionsAnAccount = 16;

class BreakEven final : public AdmissionPolicy {
 public:
  BreakEven(double loss, double share, uint64_t cache_size_bytes)
      : loss_(loss), share_(share), cache_kib_(kib(cache_size_bytes)) {}

  Verdict admit(const Candidate& candidate, const Traffic& traffic) override {
    if (traffic.has_totals) settle(traffic);
    if (traffic.storage_read_ns == 0) return Verdict::admit();
    const auto cost_ns = static_cast<int64_t>(kib(candidate.size_bytes) * traffic.write_kib_ns);
    if (balance_ns_.load(std::memory_order_relaxed) <= 0) return Verdict::refuse(Reason::kOverhead);
    balance_ns_.fetch_sub(cost_ns, std::memory_order_relaxed);
    return Verdict::admit();
  }

  // Asked for each block that comes into a full cache; the totals may come with this question.
  bool may_evict(const Traffic& traffic) override {
    if (traffic.has_totals) settle(traffic);
    return true;
  }

  uint32_t totals_interval() const override { return kQuestionsAnAccount; }
  bool weighs_costs() const override { return true; }
  std::string describe() const override {
    return fmt::format("break_even({},{})", exact_number(loss_), exact_number(share_));
  }

 private:
  struct Totals {
    uint64_t lookups = 0;
    uint64_t hits = 0;
    uint64_t written_bytes = 0;
  };

  static double kib(uint64_t bytes) { return static_cast<double>(bytes) / 1024; }
  // Threads read totals at different moments: one may lie behind those of the last account.
  static double since(uint64_t* before, uint64_t now) {
    const uint64_t grown = now > *before ? now - *before : 0;
    *before += grown;
    return static_cast<double>(grown);
  }

  void settle(const Traffic& traffic) {
    if (!mutex_.try_lock()) return;
    const double storage_ns = traffic.storage_read_ns;
    const double saving_ns = storage_ns - traffic.hit_read_ns;
    const double cache_ns = cache_kib_ * traffic.write_kib_ns;
    const double most_ns = std::max(kLargestBalance * cache_ns, storage_ns);
    const double lookups = since(&totals_.lookups, traffic.lookups);
    const double hits = since(&totals_.hits, traffic.hits);
    const double written_kib = since(&totals_.written_bytes, traffic.written_bytes) / 1024;
    // Traffic before the first account, or before the engine told of its reads, is no debt.
    if (!std::exchange(weighs_, storage_ns > 0)) {
      settled_ns_ = most_ns;
    } else {
      settled_ns_ += hits * share_ * saving_ns +
                     lookups * loss_ * std::max(saving_ns, kLeastSaving * storage_ns) -
                     written_kib * traffic.write_kib_ns;
    }
    NVCACHE_ASSERT_SLOW(-cache_ns <= most_ns);
    settled_ns_ = std::clamp(settled_ns_, -cache_ns, most_ns);
    balance_ns_.store(static_cast<int64_t>(settled_ns_), std::memory_order_relaxed);
    mutex_.unlock();
  }

  const double loss_;
  const double share_;
  const double cache_kib_;
  std::atomic<int64_t> balance_ns_{std::numeric_limits<int64_t>::max() / 2};  // until an account
  Mutex mutex_;
  Totals totals_ NVCACHE_GUARDED_BY(mutex_);
  double settled_ns_ NVCACHE_GUARDED_BY(mutex_) = 0;
  bool weighs_ NVCACHE_GUARDED_BY(mutex_) = false;
};

constexpr std::string_view kAllowedBreakEven = "break_even(LOSS,SHARE)";

}  // namespace

AdmissionOr make_break_even(const SpecMember& member, const AdmissionContext& context) {
  const Status arguments = check_argument_count(kAdmission, member, 2, kAllowedBreakEven);
  if (!arguments.ok()) return arguments;
  double values[] = {kDefaultLoss, kDefaultShare};
  constexpr std::string_view kNames[] = {"LOSS", "SHARE"};
  for (size_t i = 0; i < member.arguments.size(); ++i) {
    const StatusOr<double> given = parse_number(kNames[i], shown(member.arguments[i]), 0, 100);
    if (!given.ok()) return bad_member(kAdmission, member, given.status().message());
    values[i] = *given;
  }
  return std::make_unique<BreakEven>(values[0], values[1], context.cache_size_bytes);
}

}  // namespace nvcache
