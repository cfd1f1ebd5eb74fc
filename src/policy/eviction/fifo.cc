// fifo: evicts the block that came first, whether it was hit or not. A baseline to compare other
// policies with.
//
// A doubly linked list of the slots, oldest first. Memory: 8 bytes a slot. Everything costs O(1),
// except that next_victim() steps over the pinned blocks that are older than its victim.
//
// on_hit() does nothing. The shard's lock guards the rest.
#include <algorithm>

#include "base/assert.h"
#include "base/reserved_array.h"
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

class Fifo final : public EvictionPolicy {
 public:
  explicit Fifo(uint32_t max_slots) : links_(max_slots) {}

  void on_insert(uint32_t slot, uint64_t) override {
    NVCACHE_ASSERT_SLOW(slot < links_.size());
    NVCACHE_ASSERT_SLOW(newest_ == kNone ? oldest_ == kNone : links_[newest_].newer == kNone);
    slots_used_ = std::max(slots_used_, uint64_t{slot} + 1);
    links_[slot] = {.older = newest_, .newer = kNone};
    (newest_ == kNone ? oldest_ : links_[newest_].newer) = slot;
    newest_ = slot;
  }

  void on_hit(uint32_t) override {}

  void on_remove(uint32_t slot, uint64_t, bool) override {
    const Link link = links_[slot];
    NVCACHE_ASSERT_SLOW((link.older == kNone ? oldest_ : links_[link.older].newer) == slot);
    NVCACHE_ASSERT_SLOW((link.newer == kNone ? newest_ : links_[link.newer].older) == slot);
    (link.older == kNone ? oldest_ : links_[link.older].newer) = link.newer;
    (link.newer == kNone ? newest_ : links_[link.newer].older) = link.older;
  }

  std::optional<uint32_t> next_victim(const Residents& residents) override {
    for (uint32_t slot = oldest_; slot != kNone; slot = links_[slot].newer) {
      if (residents.evictable(slot)) return slot;
    }
    return std::nullopt;
  }

  bool keeps(uint32_t) override { return false; }

  uint64_t metadata_bytes() const override { return slots_used_ * sizeof(Link); }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Link {
    uint32_t older;
    uint32_t newer;
  };

  ReservedArray<Link> links_;
  uint64_t slots_used_ = 0;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
};

}  // namespace

EvictionOr make_fifo(const SpecMember& member, const EvictionContext& context) {
  const Status arguments = check_no_arguments(kEviction, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<Fifo>(context.max_slots);
}

}  // namespace nvcache
