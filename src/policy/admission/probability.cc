// probability(P): admits every block with probability P. A block that is offered often enters soon;
// a block that is offered once seldom does.
//
// Thread-safe. A draw mixes the seed, the key and the number of the draw. A single thread replays
// exactly; several threads race for the numbers only.
#include <atomic>

#include "base/assert.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

class Probability final : public AdmissionPolicy {
 public:
  Probability(double probability, uint64_t seed) : probability_(probability), seed_(mix64(seed)) {
    NVCACHE_ASSERT(probability >= 0 && probability <= 1);
  }

  Verdict admit(const Candidate& candidate, const Traffic&) override {
    const uint64_t number = draws_.fetch_add(1, std::memory_order_relaxed);
    Prng draw(mix64(seed_ ^ candidate.key_hash) + number);
    if (draw.unit() < probability_) return Verdict::admit();
    return Verdict::refuse(Reason::kProbability);
  }
  std::string describe() const override {
    return fmt::format("probability({})", exact_number(probability_));
  }

 private:
  const double probability_;
  const uint64_t seed_;
  std::atomic<uint64_t> draws_{0};
};

}  // namespace

AdmissionOr make_probability(const SpecMember& member, const AdmissionContext& context) {
  constexpr std::string_view kAllowed = "probability(P) with P from 0 to 1";
  const Status arguments = check_argument_count(kAdmission, member, 1, kAllowed);
  if (!arguments.ok()) return arguments;
  if (member.arguments.empty()) {
    return bad_member(kAdmission, member, fmt::format("no P given; allowed: {}", kAllowed));
  }
  const StatusOr<double> probability = parse_number("P", shown(member.arguments[0]), 0, 1);
  if (!probability.ok()) return bad_member(kAdmission, member, probability.status().message());
  return std::make_unique<Probability>(*probability, context.seed);
}

}  // namespace nvcache
