// Policies joined by '+': see make_chain() in table.h.
// Thread-safe: the policies are, and the list of them never changes.
#include <algorithm>

#include "base/assert.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

class Chain final : public AdmissionPolicy {
 public:
  explicit Chain(std::vector<std::unique_ptr<AdmissionPolicy>> members)
      : members_(std::move(members)) {}

  Verdict admit(const Candidate& candidate, const Traffic& traffic) override {
    Verdict first_refusal = Verdict::admit();
    for (const auto& member : members_) {
      const Verdict verdict = member->admit(candidate, traffic);
      if (first_refusal.admitted()) first_refusal = verdict;
    }
    return first_refusal;
  }

  bool may_evict(const Traffic& traffic) override {
    bool may = true;
    for (const auto& member : members_) may = member->may_evict(traffic) && may;
    return may;
  }

  // That of the member that needs them most often.
  uint32_t totals_interval() const override {
    uint32_t shortest = 0;
    for (const auto& member : members_) {
      const uint32_t own = member->totals_interval();
      if (own != 0 && (shortest == 0 || own < shortest)) shortest = own;
    }
    return shortest;
  }

  bool weighs_costs() const override {
    return std::any_of(members_.begin(), members_.end(),
                       [](const auto& member) { return member->weighs_costs(); });
  }

  uint64_t metadata_bytes() const override {
    uint64_t bytes = members_.capacity() * sizeof(members_[0]);
    for (const auto& member : members_) bytes += member->metadata_bytes();
    return bytes;
  }

  std::string describe() const override {
    std::string joined;
    for (const auto& member : members_) {
      if (!joined.empty()) joined += '+';
      joined += member->describe();
    }
    return joined;
  }

 private:
  std::vector<std::unique_ptr<AdmissionPolicy>> members_;
};

}  // namespace

std::unique_ptr<AdmissionPolicy> make_chain(std::vector<std::unique_ptr<AdmissionPolicy>> members) {
  NVCACHE_ASSERT(!members.empty());
  if (members.size() == 1) return std::move(members[0]);
  return std::make_unique<Chain>(std::move(members));
}

}  // namespace nvcache
