// Who may come in, and whether others may leave for it: the admission policy of a cache, and the
// traffic that it judges by.
//
// No lock is held while the policy is asked. A question costs the policy's own work, two loads of
// mean times, and the totals of the counters where the policy needs them
// (AdmissionPolicy::totals_interval()).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/mean_time.h"
#include "base/striped_counters.h"
#include "block_cache/api/config.h"
#include "block_cache/api/counters.h"
#include "medium/metered.h"
#include "nvcache/admission_policy.h"
#include "nvcache/stats.h"
#include "nvcache/status_or.h"
#include "nvcache/verdict.h"

namespace nvcache {

// Thread-safe.
class AdmissionControl {
 public:
  // The policy that the configuration names. INVALID_ARGUMENT: there is none of that name.
  [[nodiscard]] static StatusOr<std::unique_ptr<AdmissionPolicy>> policy_of(const Config& config);

  // REQUIRES: the arguments outlive it.
  AdmissionControl(std::unique_ptr<AdmissionPolicy> policy, const Counters& counters,
                   const MeteredMedium& medium, Clock& clock);

  Verdict admit(const Candidate& candidate) {
    return policy_->admit(candidate, traffic_for_policy());
  }
  // Whether blocks may be evicted now.
  bool may_evict() { return policy_->may_evict(traffic_for_policy()); }

  // The engine's own: how much it stores, and how long it reads a block there.
  void set_dataset_size(uint64_t size_bytes) {
    dataset_size_bytes_.store(size_bytes, std::memory_order_relaxed);
  }
  void note_storage_read(uint64_t took_ns) { storage_read_.add(took_ns); }
  bool weighs_costs() const { return policy_->weighs_costs(); }

  void add_stats(Stats* stats) const;

 private:
  enum class Question : size_t { kAsked, kFieldCount };

  // With the totals, if the policy needs them at this question.
  Traffic traffic_for_policy() const;
  Traffic totals() const;
  bool totals_are_due() const;

  const std::unique_ptr<AdmissionPolicy> policy_;
  const Counters& counters_;
  const MeteredMedium& medium_;
  Clock& clock_;
  const uint32_t totals_interval_;
  mutable StripedCounters<Question> questions_;  // of the policy, by thread
  // A read that the page cache serves tells little of the next one: a long mean.
  MeanTime storage_read_{{.times = 128, .most_times_the_mean = 64}};
  std::atomic<uint64_t> dataset_size_bytes_{0};
};

}  // namespace nvcache
