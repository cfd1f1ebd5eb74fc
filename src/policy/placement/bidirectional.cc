// bidirectional: a new block enters the first tier. A block that was demoted is promoted again when
// its references in the lower tier exceed the threshold (*Hybrid Cache*, section 4.2.3; section 6.1
// found 4 best).
#include "policy/placement/table.h"

namespace nvcache {
namespace {

constexpr uint32_t kBidirectionalThreshold = 4;

class Bidirectional final : public PlacementPolicy {
 public:
  explicit Bidirectional(const PromotionArguments& arguments) : arguments_(arguments) {}

  size_t entry_tier(size_t) const override { return 0; }
  uint32_t threshold() const override { return arguments_.threshold; }
  bool follows_use() const override { return arguments_.adaptive; }
  std::string describe() const override { return "bidirectional" + arguments_.describe(); }

 private:
  const PromotionArguments arguments_;
};

}  // namespace

PlacementOr make_bidirectional(const SpecMember& member) {
  const StatusOr<PromotionArguments> arguments = parse_promotion(member, kBidirectionalThreshold);
  if (!arguments.ok()) return arguments.status();
  return std::make_unique<Bidirectional>(*arguments);
}

}  // namespace nvcache
