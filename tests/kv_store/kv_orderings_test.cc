// The orders that lookups and cleanings of the key-value store need (docs/design/growth.md,
// "Orderings"): a model of each protocol is right in all executions with the orders that the code
// has, and wrong in some with one of them weakened. The models are not the code: who changes an
// order there changes it here, too. Places of a model begin at 0.
#include <atomic>
#include <cstdint>

#include "gtest/gtest.h"
#include "support/weak_memory.h"

namespace nvcache::orderings {
namespace {

using test::always_right;
using test::WeakMemory;
using Order = std::memory_order;
using Thread = WeakMemory::Thread;

// kv_store/log/zone_log.h: a lane leaves a zone, and another thread, behind the space lock, asks
// whether a writer is still in it.
struct ZoneOfALane {
  Order is_pinned = Order::seq_cst;
  enum { kPins, kLane };
  static constexpr size_t kSpace = 0;
  bool writes = false;
  bool full = false;
  bool surveyed = false;

  Thread writer(WeakMemory& m) {
    co_await m.add(kPins, 1, Order::seq_cst);
    const uint64_t lane = co_await m.load(kLane, Order::seq_cst);
    writes = lane == 0;
  }
  Thread closer(WeakMemory& m) {
    co_await m.lock(kSpace);
    co_await m.store(kLane, 1, Order::seq_cst);
    full = true;
    co_await m.unlock(kSpace);
  }
  Thread cleaner(WeakMemory& m) {
    co_await m.lock(kSpace);
    const bool takes = full;
    co_await m.unlock(kSpace);
    if (!takes) co_return;
    const uint64_t pins = co_await m.load(kPins, is_pinned);
    surveyed = pins == 0;
  }
  void start(WeakMemory& m) { m.run({writer(m), closer(m), cleaner(m)}); }
  bool is_right() const { return !writes || !surveyed; }
};

TEST(Orderings, NoZoneIsSurveyedWhileAPutWritesToIt) {
  EXPECT_TRUE(always_right(ZoneOfALane{}));
  EXPECT_FALSE(always_right(ZoneOfALane{.is_pinned = Order::acquire}));
}

// kv_store/index/descriptor_table.h

// Place 0 with proof 0, then place 1 with proof 1; 9 stands for the empty place in between.
struct TwoWords {
  Order write = Order::release;
  Order proof = Order::acquire;
  enum { kPlace, kProof };
  bool right = true;

  Thread writer(WeakMemory& m) {
    co_await m.store(kPlace, 9, write);
    co_await m.store(kProof, 1, write);
    co_await m.store(kPlace, 1, write);
  }
  Thread reader(WeakMemory& m) {
    const uint64_t place = co_await m.load(kPlace, Order::acquire);
    const uint64_t with = co_await m.load(kProof, proof);
    const uint64_t again = co_await m.load(kPlace, Order::acquire);
    right = place == 9 || again != place || with == place;
  }
  void start(WeakMemory& m) { m.run({writer(m), reader(m)}); }
  bool is_right() const { return right; }
};

TEST(Orderings, NoReaderFollowsHalfADescriptor) {
  EXPECT_TRUE(always_right(TwoWords{}));
  EXPECT_FALSE(always_right(TwoWords{.write = Order::relaxed}));
  EXPECT_FALSE(always_right(TwoWords{.proof = Order::relaxed}));
}

// A value moves from the write cache to the medium as a reader looks in both.
struct UncachedValue {
  Order uncache = Order::release;
  Order cached = Order::acquire;
  Order is_still = Order::acquire;  // a fence
  // kGone 1: the stripe has no cached key. kPlace 1: the descriptor leads to the item.
  enum { kNumber, kPlace, kGone };
  bool missed = false;

  Thread spill(WeakMemory& m) {
    co_await m.store(kNumber, 1, Order::relaxed);
    co_await m.fence(Order::release);
    co_await m.store(kPlace, 1, Order::release);
    co_await m.store(kNumber, 2, Order::release);
    co_await m.add(kGone, 1, uncache);
  }
  Thread get(WeakMemory& m) {
    const uint64_t before = co_await m.load(kNumber, Order::acquire);
    const uint64_t gone = co_await m.load(kGone, cached);
    if (gone == 0) co_return;  // it is found in the cache
    const uint64_t place = co_await m.load(kPlace, Order::acquire);
    if (place == 1) co_return;
    co_await m.fence(is_still);
    const uint64_t after = co_await m.load(kNumber, Order::relaxed);
    missed = before % 2 == 0 && after == before;
  }
  void start(WeakMemory& m) { m.run({spill(m), get(m)}); }
  bool is_right() const { return !missed; }
};

TEST(Orderings, NoGetMissesAValueThatMovesToTheMedium) {
  EXPECT_TRUE(always_right(UncachedValue{}));
  // Either the count's orders or the sequence's would do.
  EXPECT_TRUE(always_right(UncachedValue{.uncache = Order::relaxed, .cached = Order::relaxed}));
  EXPECT_TRUE(always_right(UncachedValue{.is_still = Order::relaxed}));
  EXPECT_FALSE(always_right(UncachedValue{Order::relaxed, Order::relaxed, Order::relaxed}));
}

}  // namespace
}  // namespace nvcache::orderings
