// none: evicts nothing. A full cache refuses new blocks until some are erased. (*Writes Hurt*,
// section 3.2.3, table 1: without eviction the hit rate is lower and the throughput higher.)
// No state.
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

class None final : public EvictionPolicy {
 public:
  void on_insert(uint32_t, uint64_t) override {}
  void on_hit(uint32_t) override {}
  void on_remove(uint32_t, uint64_t, bool) override {}
  std::optional<uint32_t> next_victim(const Residents&) override { return std::nullopt; }
  bool evicts() const override { return false; }
  bool keeps(uint32_t) override { return false; }
  uint64_t metadata_bytes() const override { return 0; }
};

}  // namespace

EvictionOr make_none(const SpecMember& member, const EvictionContext&) {
  const Status arguments = check_no_arguments(kEviction, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<None>();
}

}  // namespace nvcache
