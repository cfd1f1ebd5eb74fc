#include "policy/outside/policy_guard.h"

#include <optional>
#include <utility>

namespace nvcache {
namespace {

// What `call` returns, or `fallback` if it throws.
template <typename Result, typename Call>
Result or_else(Result fallback, const Call& call) {
  try {
    return call();
  } catch (...) {
    return fallback;
  }
}

template <typename Call>
void quietly(const Call& call) {
  try {
    call();
  } catch (...) {  // the cache goes on without what the call would have noted
  }
}

class GuardedAdmission final : public AdmissionPolicy {
 public:
  explicit GuardedAdmission(std::unique_ptr<AdmissionPolicy> policy) : policy_(std::move(policy)) {}

  Verdict admit(const Candidate& candidate, const Traffic& traffic) override {
    const Verdict refusal = Verdict::refuse(Reason::kOutsidePolicy);
    const Verdict verdict = or_else(refusal, [&] { return policy_->admit(candidate, traffic); });
    return static_cast<size_t>(verdict.reason) < kReasonCount ? verdict : refusal;
  }
  bool may_evict(const Traffic& traffic) override {
    return or_else(true, [&] { return policy_->may_evict(traffic); });
  }
  uint32_t totals_interval() const override {
    return or_else(uint32_t{1}, [&] { return policy_->totals_interval(); });
  }
  bool weighs_costs() const override {
    return or_else(false, [&] { return policy_->weighs_costs(); });
  }
  uint64_t metadata_bytes() const override {
    return or_else(uint64_t{0}, [&] { return policy_->metadata_bytes(); });
  }
  std::string describe() const override {
    return or_else(std::string(), [&] { return policy_->describe(); });
  }

 private:
  std::unique_ptr<AdmissionPolicy> policy_;
};

class GuardedEviction final : public EvictionPolicy, private Contest, private EvictionPasses {
 public:
  explicit GuardedEviction(std::unique_ptr<EvictionPolicy> policy)
      : policy_(std::move(policy)),
        contest_(or_else<Contest*>(nullptr, [&] { return policy_->contest(); })),
        passes_(or_else<EvictionPasses*>(nullptr, [&] { return policy_->passes(); })) {}

  void on_insert(uint32_t slot, uint64_t key_hash) override {
    quietly([&] { policy_->on_insert(slot, key_hash); });
  }
  void on_hit(uint32_t slot) override {
    quietly([&] { policy_->on_hit(slot); });
  }
  void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) override {
    quietly([&] { policy_->on_remove(slot, key_hash, evicted); });
  }
  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const std::optional<uint32_t> slot = or_else<std::optional<uint32_t>>(
        std::nullopt, [&] { return policy_->next_victim(residents); });
    if (!slot || *slot >= residents.slot_limit() || !residents.evictable(*slot)) {
      return std::nullopt;
    }
    return slot;
  }
  bool evicts() const override {
    return or_else(true, [&] { return policy_->evicts(); });
  }
  bool keeps(uint32_t slot) override {
    return or_else(false, [&] { return policy_->keeps(slot); });
  }
  Contest* contest() override { return contest_ == nullptr ? nullptr : this; }
  EvictionPasses* passes() override { return passes_ == nullptr ? nullptr : this; }
  uint64_t metadata_bytes() const override {
    return or_else(uint64_t{0}, [&] { return policy_->metadata_bytes(); });
  }

 private:
  void offer(uint64_t key_hash) override {
    quietly([&] { contest_->offer(key_hash); });
  }
  bool outranks_victim(uint64_t key_hash, const Residents& residents) override {
    return or_else(false, [&] { return contest_->outranks_victim(key_hash, residents); });
  }
  void begin_pass(const Residents& residents, uint64_t now_ns, double share) override {
    quietly([&] { passes_->begin_pass(residents, now_ns, share); });
  }

  std::unique_ptr<EvictionPolicy> policy_;
  Contest* contest_;
  EvictionPasses* passes_;
};

}  // namespace

std::unique_ptr<AdmissionPolicy> guard(std::unique_ptr<AdmissionPolicy> policy) {
  return std::make_unique<GuardedAdmission>(std::move(policy));
}

std::unique_ptr<EvictionPolicy> guard(std::unique_ptr<EvictionPolicy> policy) {
  return std::make_unique<GuardedEviction>(std::move(policy));
}

}  // namespace nvcache
