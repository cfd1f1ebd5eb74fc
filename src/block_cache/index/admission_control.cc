#include "block_cache/index/admission_control.h"

#include <utility>

#include "policy/admission/make_admission.h"
#include "policy/admission/overhead_ratio.h"

namespace nvcache {

StatusOr<std::unique_ptr<AdmissionPolicy>> AdmissionControl::policy_of(const Config& config) {
  return make_admission(config.admission,
                        {.cache_size_bytes = config.max_size_bytes, .seed = config.seed});
}

AdmissionControl::AdmissionControl(std::unique_ptr<AdmissionPolicy> policy,
                                   const Counters& counters, const MeteredMedium& medium,
                                   Clock& clock)
    : policy_(std::move(policy)),
      counters_(counters),
      medium_(medium),
      clock_(clock),
      totals_interval_(policy_->totals_interval()) {}

// Of this cache's own questions: a thread that asks several caches by turns would else bring the
// totals to the same one each time.
bool AdmissionControl::totals_are_due() const {
  StripedCounters<Question>::Stripe& stripe = questions_.mine();
  stripe.add(Question::kAsked, 1);
  return stripe.value(Question::kAsked) % totals_interval_ == 0;
}

Traffic AdmissionControl::traffic_for_policy() const {
  const bool with_totals = totals_interval_ != 0 && totals_are_due();
  Traffic traffic = with_totals ? totals() : Traffic{};
  traffic.storage_read_ns = static_cast<double>(storage_read_.ns());
  traffic.hit_read_ns = static_cast<double>(medium_.read_ns());
  traffic.write_kib_ns = static_cast<double>(medium_.write_kib_ns());
  traffic.dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  traffic.now_ns = clock_.now_ns();
  return traffic;
}

Traffic AdmissionControl::totals() const {
  Traffic traffic;
  traffic.has_totals = true;
  traffic.hits = counters_.sum(Count::kHits);
  traffic.lookups = traffic.hits + counters_.sum(Count::kMisses);
  traffic.inserted = counters_.sum(Count::kInserts);
  traffic.removed = counters_.sum(Count::kRemovals);
  traffic.hit_bytes = counters_.sum(Count::kHitBytes);
  traffic.written_bytes = counters_.sum(Count::kMediumWrittenBytes);
  traffic.dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  // Stripes are summed one by one: a removal may be seen before its insertion.
  const uint64_t entered = traffic.inserted + counters_.sum(Count::kRecovered);
  traffic.resident_blocks = entered > traffic.removed ? entered - traffic.removed : 0;
  traffic.now_ns = clock_.now_ns();
  return traffic;
}

void AdmissionControl::add_stats(Stats* stats) const {
  stats->overhead_ratio = overhead_ratio(totals());
  stats->dataset_size_bytes = dataset_size_bytes_.load(std::memory_order_relaxed);
  stats->metadata_bytes += policy_->metadata_bytes();
  stats->admission = policy_->describe();
}

}  // namespace nvcache
