#include "kv_store/index/descriptor_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/test_hooks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define NVCACHE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NVCACHE_TSAN 1
#endif
#endif
#ifndef NVCACHE_TSAN
#define NVCACHE_TSAN 0
#endif

namespace nvcache {
namespace {

constexpr uint64_t kMaxStripes = 4096;

// Both words by one instruction, which a kill cannot come into. Readers see both or neither:
// processors with AVX write aligned 16 bytes at once (Intel's manual, volume 3, 9.1.1; AMD's,
// volume 2, 7.3.2). False on others, and under ThreadSanitizer, which does not know of it.
bool store_at_once(std::byte* at, const KvDescriptor& descriptor) {
#if defined(__x86_64__) && !NVCACHE_TSAN
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  if (!has_avx) return false;
  static_assert(sizeof(KvDescriptor) == 16);
  const __m128i both = _mm_set_epi64x(static_cast<int64_t>(descriptor.proof),
                                      static_cast<int64_t>(descriptor.place));
  asm volatile("movdqa %1, (%0)" : : "r"(at), "x"(both) : "memory");
  return true;
#else
  (void)at;
  (void)descriptor;
  return false;
#endif
}

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
  if (recovered) std::memset(&overflows_[0], kOverflowUnknown, groups_);
}

void DescriptorTable::learn_overflow(uint64_t group) const {
  uint8_t use = kNoOverflow;
  const uint64_t first = first_overflow(group);
  for (uint64_t slot = first; slot < first + kKvOverflowSlots; ++slot) {
    if (load_place(slot) != 0) use = kOverflow;
  }
  // Fails if a writer took one meanwhile.
  uint8_t unknown = kOverflowUnknown;
  overflow_use(group).compare_exchange_strong(unknown, use, std::memory_order_acq_rel);
}

// Elsewhere the place is empty while the proof changes, so that readers never follow a mixture; a
// kill in these few instructions loses the item.
void DescriptorTable::write(Stripe& stripe, uint64_t slot, const KvDescriptor& descriptor) {
  NVCACHE_ASSERT_SLOW(slot < groups_ * kKvGroupSlots && &stripe == &stripe_of(slot));
  std::byte* at = address(slot);
  const Sequence::Change change(stripe.sequence);
  if (descriptor.place == 0) {
    store_word(at, 0, std::memory_order_release);
  } else if (!store_at_once(at, descriptor)) {
    store_word(at, 0, std::memory_order_release);
    store_word(at + 8, descriptor.proof, std::memory_order_release);
    store_word(at, descriptor.place, std::memory_order_release);
  }
}

// Before the lock of the stripe is given back.
void DescriptorTable::clear(Stripe& stripe, uint64_t slot) {
  write(stripe, slot, {});
  stripe.clearing.store(true, std::memory_order_relaxed);
}

bool DescriptorTable::clear_each(std::vector<uint64_t>* slots, FunctionRef<bool(uint64_t)> goes) {
  std::erase_if(*slots, [&](uint64_t slot) {
    Stripe& stripe = stripe_of(slot);
    MutexLock lock(stripe.mutex);
    if (!goes(slot)) return true;
    clear(stripe, slot);
    return false;
  });
  bool durable = true;
  const bool flushes = memory_.flushes_updates() && !test_hooks.skip_sweep_flush && !slots->empty();
  for (const uint64_t slot : *slots) {
    if (!flushes) {
      note_write(slot);
    } else {
      durable = durable && memory_.flush(offset(slot), sizeof(KvDescriptor));
    }
  }
  if (flushes) durable = durable && memory_.drain();
  for (const uint64_t slot : *slots) {
    stripe_of(slot).clearing.store(false, std::memory_order_release);
  }
  return durable;
}

bool DescriptorTable::clear_where(FunctionRef<bool(const KvDescriptor&)> goes) {
  for (uint64_t group = 0; group < groups_; ++group) {
    Stripe& stripe = stripes_[group & stripe_mask_];
    MutexLock lock(stripe.mutex);
    for (uint64_t slot = group * kKvGroupSlots; slot < (group + 1) * kKvGroupSlots; ++slot) {
      const KvDescriptor there = load(slot);
      if (there.place != 0 && goes(there)) clear(stripe, slot);
    }
  }
  const bool durable = memory_.persist(table_at_, groups_ * kKvGroupSlots * sizeof(KvDescriptor));
  for (uint64_t i = 0; i <= stripe_mask_; ++i) {
    stripes_[i].clearing.store(false, std::memory_order_release);
  }
  return durable;
}

uint64_t DescriptorTable::cached_keys() const {
  uint64_t keys = 0;
  for (uint64_t i = 0; i <= stripe_mask_; ++i) {
    keys += stripes_[i].cached_keys.load(std::memory_order_relaxed);
  }
  return keys;
}

}  // namespace nvcache
