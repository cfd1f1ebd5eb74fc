// scm_first: a new block enters the lowest tier. It is promoted by one tier whenever its references
// there exceed the threshold (*Hybrid Cache*, section 4.2.2; section 6.1 tried 2 and found 6 best).
#include "policy/placement/table.h"

namespace nvcache {
namespace {

constexpr uint32_t kScmFirstThreshold = 6;

class ScmFirst final : public PlacementPolicy {
 public:
  explicit ScmFirst(const PromotionArguments& arguments) : arguments_(arguments) {}

  size_t entry_tier(size_t tiers) const override { return tiers - 1; }
  uint32_t threshold() const override { return arguments_.threshold; }
  bool follows_use() const override { return arguments_.adaptive; }
  std::string describe() const override { return "scm_first" + arguments_.describe(); }

 private:
  const PromotionArguments arguments_;
};

}  // namespace

PlacementOr make_scm_first(const SpecMember& member) {
  const StatusOr<PromotionArguments> arguments = parse_promotion(member, kScmFirstThreshold);
  if (!arguments.ok()) return arguments.status();
  return std::make_unique<ScmFirst>(*arguments);
}

}  // namespace nvcache
