#include "kv_store/descriptor_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nvcache {
namespace {

constexpr uint64_t kMaxStripes = 4096;

}  // namespace

DescriptorTable::DescriptorTable(DurableMemory& memory, const KvGeometry& geometry, bool recovered)
    : memory_(memory),
      table_at_(geometry.table_at),
      table_(memory.at(geometry.table_at)),
      groups_(geometry.groups),
      buckets_(geometry.groups * kKvGroupBuckets),
      stripe_mask_(std::bit_floor(std::min(geometry.groups, kMaxStripes)) - 1),
      stripes_(std::make_unique<Stripe[]>(stripe_mask_ + 1)),
      overflows_(geometry.groups) {
  if (recovered) std::memset(&overflows_[0], 1, groups_);
}

// The place is empty while the proof changes, so that readers never follow a mixture.
void DescriptorTable::write(Stripe& stripe, uint64_t slot, const KvDescriptor& descriptor) {
  std::byte* at = address(slot);
  stripe.sequence.fetch_add(1, std::memory_order_acq_rel);
  store_word(at, 0, std::memory_order_release);
  if (descriptor.place != 0) {
    store_word(at + 8, descriptor.proof, std::memory_order_release);
    store_word(at, descriptor.place, std::memory_order_release);
  }
  stripe.sequence.fetch_add(1, std::memory_order_release);
}

void DescriptorTable::clear_where(const std::function<bool(const KvDescriptor&)>& goes) {
  for (uint64_t group = 0; group < groups_; ++group) {
    Stripe& stripe = stripes_[group & stripe_mask_];
    MutexLock lock(stripe.mutex);
    for (uint64_t slot = group * kKvGroupSlots; slot < (group + 1) * kKvGroupSlots; ++slot) {
      const KvDescriptor there = load(slot);
      if (there.place != 0 && goes(there)) write(stripe, slot, {});
    }
  }
  memory_.persist(table_at_, groups_ * kKvGroupSlots * sizeof(KvDescriptor));
}

uint64_t DescriptorTable::cached_keys() const {
  uint64_t keys = 0;
  for (uint64_t i = 0; i <= stripe_mask_; ++i) {
    keys += stripes_[i].cached_keys.load(std::memory_order_relaxed);
  }
  return keys;
}

}  // namespace nvcache
