// dram_first: a new block enters the first tier. A hit in a lower tier is served from there
// (*Hybrid Cache*, section 4.2.1). Every block is written to the next tier once, when it leaves.
#include "policy/placement/table.h"

namespace nvcache {
namespace {

class DramFirst final : public PlacementPolicy {
 public:
  size_t entry_tier(size_t) const override { return 0; }
  uint32_t threshold() const override { return 0; }
  bool follows_use() const override { return false; }
  std::string describe() const override { return "dram_first"; }
};

}  // namespace

PlacementOr make_dram_first(const SpecMember& member) {
  const Status arguments = check_no_arguments(kPlacement, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<DramFirst>();
}

}  // namespace nvcache
