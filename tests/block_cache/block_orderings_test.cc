// The orders that lookups, erases and regions of the block cache need (docs/design/growth.md,
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

// block_cache/index/block_index.h: an entry moves to a larger table as a reader looks for it.
struct IndexGrowth {
  Order shape = Order::release;
  Order discard = Order::release;  // a fence
  Order look = Order::acquire;
  Order look_again = Order::acquire;  // a fence
  // kShape 1: the new table. kOld 1: its memory was given back. kNew 1: the entry is there.
  enum { kShape, kOld, kNew };
  bool missed = false;

  Thread grow(WeakMemory& m) {
    co_await m.store(kNew, 1, Order::release);
    co_await m.store(kShape, 1, shape);
    co_await m.fence(discard);
    co_await m.store(kOld, 1, Order::relaxed);
  }
  Thread find(WeakMemory& m) {
    const uint64_t seen = co_await m.load(kShape, look);
    const uint64_t cell = co_await m.load(seen == 0 ? kOld : kNew, Order::relaxed);
    if (cell == seen) co_return;  // found
    co_await m.fence(look_again);
    const uint64_t again = co_await m.load(kShape, Order::acquire);
    missed = again == seen;
  }
  void start(WeakMemory& m) { m.run({grow(m), find(m)}); }
  bool is_right() const { return !missed; }
};

TEST(Orderings, NoLookupMissesABlockThatGrowthMoves) {
  EXPECT_TRUE(always_right(IndexGrowth{}));
  EXPECT_FALSE(always_right(IndexGrowth{.shape = Order::relaxed}));
  EXPECT_FALSE(always_right(IndexGrowth{.discard = Order::relaxed}));
  EXPECT_FALSE(always_right(IndexGrowth{.look = Order::relaxed}));
  EXPECT_FALSE(always_right(IndexGrowth{.look_again = Order::relaxed}));
}

// block_cache/index/entry.h, tiered_cache/object_entry.h: one word holds pins and state

// A writer publishes a block, a reader pins it, and a third thread retires it; whoever leaves it
// without pins gives its bytes to another block.
struct PublishedBlock {
  Order publish = Order::acq_rel;
  Order pin = Order::acq_rel;
  Order unpin = Order::acq_rel;
  Order retire = Order::acq_rel;
  static constexpr uint64_t kLive = 16;
  static constexpr uint64_t kDying = 64;
  enum { kWord, kBytes };

  Thread writer(WeakMemory& m) {
    co_await m.write(kBytes, 1);
    co_await m.add(kWord, kLive, publish);
  }
  Thread reader(WeakMemory& m) {
    const uint64_t found = co_await m.compare_exchange(kWord, kLive, kLive + 1, pin);
    if (found != kLive) co_return;
    co_await m.read(kBytes);
    const uint64_t left = co_await m.add(kWord, ~uint64_t{0}, unpin);
    if (left == kLive + kDying + 1) co_await m.write(kBytes, 2);
  }
  Thread eraser(WeakMemory& m) {
    const uint64_t found = co_await m.load(kWord, Order::relaxed);
    if (found < kLive) co_return;
    const uint64_t left = co_await m.add(kWord, kDying, retire);
    if (left == kLive) co_await m.write(kBytes, 2);
  }
  void start(WeakMemory& m) { m.run({writer(m), reader(m), eraser(m)}); }
  bool is_right() const { return true; }  // the bytes have no race
};

TEST(Orderings, ABlockIsReadWhenItIsWrittenAndGoesWhenNobodyReadsIt) {
  EXPECT_TRUE(always_right(PublishedBlock{}));
  EXPECT_FALSE(always_right(PublishedBlock{.publish = Order::acquire}));
  EXPECT_FALSE(always_right(PublishedBlock{.pin = Order::release}));
  EXPECT_FALSE(always_right(PublishedBlock{.unpin = Order::acquire}));
  EXPECT_FALSE(always_right(PublishedBlock{.retire = Order::release}));
}

// block_cache/index/key_generations.h: an engine writes its storage and erases the key, as a reader
// that missed brings in what it read.
struct EraseAndPut {
  Order erase = Order::release;
  Order token = Order::acquire;
  enum { kStorage, kGeneration };
  static constexpr size_t kShard = 0;
  uint64_t cached = 1;  // the storage's value; 1: the new one, or none

  Thread engine(WeakMemory& m) {
    co_await m.store(kStorage, 1, Order::relaxed);
    co_await m.lock(kShard);
    co_await m.add(kGeneration, 1, erase);
    cached = 1;
    co_await m.unlock(kShard);
  }
  Thread reader(WeakMemory& m) {
    const uint64_t got = co_await m.load(kGeneration, token);
    const uint64_t read = co_await m.load(kStorage, Order::relaxed);
    co_await m.lock(kShard);
    const uint64_t now = co_await m.load(kGeneration, Order::relaxed);
    if (now == got) cached = read;
    co_await m.unlock(kShard);
  }
  void start(WeakMemory& m) { m.run({engine(m), reader(m)}); }
  bool is_right() const { return cached == 1; }
};

TEST(Orderings, NoPutBringsBackWhatWasThereBeforeAnErase) {
  EXPECT_TRUE(always_right(EraseAndPut{}));
  EXPECT_FALSE(always_right(EraseAndPut{.erase = Order::relaxed}));
  EXPECT_FALSE(always_right(EraseAndPut{.token = Order::relaxed}));
}

// A reader pins, looks whether what it pinned is still there, and reads its bytes; another thread
// takes that away, looks for pins, and writes other bytes. ZoneLog::pin() and begin_switch();
// RegionWriter::copy() and unmap().
struct PinsAndBytes {
  Order pin = Order::seq_cst;
  Order look = Order::seq_cst;
  Order unpin = Order::release;
  Order take_away = Order::seq_cst;
  Order look_for_pins = Order::seq_cst;
  enum { kPins, kGone, kBytes };

  Thread reader(WeakMemory& m) {
    co_await m.add(kPins, 1, pin);
    const uint64_t gone = co_await m.load(kGone, look);
    if (gone == 0) co_await m.read(kBytes);
    co_await m.add(kPins, ~uint64_t{0}, unpin);
  }
  Thread cleaner(WeakMemory& m) {
    co_await m.exchange(kGone, 1, take_away);
    const uint64_t pins = co_await m.load(kPins, look_for_pins);
    if (pins == 0) co_await m.write(kBytes, 1);
  }
  void start(WeakMemory& m) { m.run({reader(m), cleaner(m)}); }
  bool is_right() const { return true; }  // the bytes have no race
};

TEST(Orderings, NoBytesAreOverwrittenWhileAReaderPinsThem) {
  EXPECT_TRUE(always_right(PinsAndBytes{}));
  EXPECT_FALSE(always_right(PinsAndBytes{.pin = Order::acq_rel}));
  EXPECT_FALSE(always_right(PinsAndBytes{.look = Order::acquire}));
  EXPECT_FALSE(always_right(PinsAndBytes{.unpin = Order::relaxed}));
  EXPECT_FALSE(always_right(PinsAndBytes{.take_away = Order::acq_rel}));
  EXPECT_FALSE(always_right(PinsAndBytes{.look_for_pins = Order::acquire}));
}

// block_cache/region/region_table.cc: the last block of a region goes as the region is sealed.
struct LastBlockAndSeal {
  Order remove = Order::seq_cst;
  enum { kRemoved, kSealed };
  bool listed = false;

  Thread remover(WeakMemory& m) {
    co_await m.add(kRemoved, 1, remove);
    const uint64_t sealed = co_await m.load(kSealed, Order::seq_cst);
    listed = listed || sealed != 0;
  }
  Thread sealer(WeakMemory& m) {
    co_await m.store(kSealed, 1, Order::seq_cst);
    const uint64_t removed = co_await m.load(kRemoved, Order::seq_cst);
    listed = listed || removed != 0;
  }
  void start(WeakMemory& m) { m.run({remover(m), sealer(m)}); }
  bool is_right() const { return listed; }
};

TEST(Orderings, ARegionWhoseLastBlockGoesAsItIsSealedIsListedAsDead) {
  EXPECT_TRUE(always_right(LastBlockAndSeal{}));
  EXPECT_FALSE(always_right(LastBlockAndSeal{.remove = Order::acq_rel}));
}

}  // namespace
}  // namespace nvcache::orderings
