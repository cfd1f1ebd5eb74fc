// The orders that lookups and moves of a tiered cache need (docs/design/growth.md, "Orderings"): a
// model of each protocol is right in all executions with the orders that the code has, and wrong in
// some with one of them weakened. The models are not the code: who changes an order there changes
// it here, too. Places of a model begin at 0.
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

// tiered_cache/late_block_store.cc: a key changes as its tier opens, and as a block of it with
// an older token comes there, by a third thread.
struct LateTier {
  Order change = Order::seq_cst;
  Order opened = Order::seq_cst;
  Order reserve = Order::seq_cst;
  enum { kGeneration, kStore };
  bool erased = false;
  bool entered = false;

  Thread supersede(WeakMemory& m) {
    co_await m.add(kGeneration, 1, change);
    const uint64_t store = co_await m.load(kStore, opened);
    erased = store != 0;
  }
  Thread opener(WeakMemory& m) { co_await m.store(kStore, 1, Order::release); }
  Thread move(WeakMemory& m) {
    const uint64_t token = co_await m.load(kGeneration, Order::acquire);
    const uint64_t store = co_await m.load(kStore, opened);
    if (store == 0) co_return;
    const uint64_t now = co_await m.load(kGeneration, reserve);
    entered = now == token && token == 0;
  }
  void start(WeakMemory& m) { m.run({supersede(m), opener(m), move(m)}); }
  // Where the change sees the store, the shard's lock orders the two.
  bool is_right() const { return erased || !entered; }
};

TEST(Orderings, NoBlockOfAnOldValueComesIntoATierThatOpens) {
  EXPECT_TRUE(always_right(LateTier{}));
  EXPECT_FALSE(always_right(LateTier{.change = Order::acq_rel}));
  EXPECT_FALSE(always_right(LateTier{.opened = Order::acquire}));
  EXPECT_FALSE(always_right(LateTier{.reserve = Order::acquire}));
}

// tiered_cache/object_pool.cc: an entry is replaced, and its memory gets another key, as a
// lookup of the key has come as far as its address.
struct ReusedEntry {
  Order hash = Order::release;
  enum { kNumber, kHead, kPool, kHash };
  bool missed = false;

  Thread replace(WeakMemory& m) {
    co_await m.store(kNumber, 1, Order::relaxed);
    co_await m.fence(Order::release);
    co_await m.store(kHead, 1, Order::release);
    co_await m.store(kNumber, 2, Order::release);
    co_await m.store(kPool, 1, Order::release);  // what the pool's lock does
  }
  Thread make(WeakMemory& m) {
    const uint64_t there = co_await m.load(kPool, Order::acquire);
    if (there != 0) co_await m.store(kHash, 1, hash);
  }
  Thread find(WeakMemory& m) {
    const uint64_t before = co_await m.load(kNumber, Order::acquire);
    const uint64_t head = co_await m.load(kHead, Order::acquire);
    if (head == 1) co_return;  // the new entry
    const uint64_t of = co_await m.load(kHash, Order::relaxed);
    if (of == 0) co_return;  // the old one
    co_await m.fence(Order::acquire);
    const uint64_t after = co_await m.load(kNumber, Order::relaxed);
    missed = before % 2 == 0 && after == before;
  }
  void start(WeakMemory& m) { m.run({replace(m), make(m), find(m)}); }
  bool is_right() const { return !missed; }
};

TEST(Orderings, NoLookupMissesAnObjectWhoseEntryIsReplaced) {
  EXPECT_TRUE(always_right(ReusedEntry{}));
  EXPECT_FALSE(always_right(ReusedEntry{.hash = Order::relaxed}));
}

}  // namespace
}  // namespace nvcache::orderings
