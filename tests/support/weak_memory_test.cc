#include "support/weak_memory.h"

#include <atomic>
#include <cstdint>

#include "gtest/gtest.h"

namespace nvcache::test {
namespace {

using Order = std::memory_order;

struct MessagePassing {
  Order release = Order::release;
  Order acquire = Order::acquire;
  enum { kData, kFlag };
  bool right = true;

  WeakMemory::Thread writer(WeakMemory& m) {
    co_await m.store(kData, 1, Order::relaxed);
    co_await m.store(kFlag, 1, release);
    co_await m.add(kFlag, 1, Order::relaxed);  // goes on with the release
  }
  WeakMemory::Thread reader(WeakMemory& m) {
    const uint64_t flag = co_await m.load(kFlag, acquire);
    const uint64_t data = co_await m.load(kData, Order::relaxed);
    right = flag == 0 || data == 1;
  }
  void start(WeakMemory& m) { m.run({writer(m), reader(m)}); }
  bool is_right() const { return right; }
};

TEST(WeakMemory, AnAcquireSeesWhatCameBeforeTheReleaseThatItReads) {
  EXPECT_TRUE(always_right(MessagePassing{}));
  EXPECT_FALSE(always_right(MessagePassing{.release = Order::relaxed}));
  EXPECT_FALSE(always_right(MessagePassing{.acquire = Order::relaxed}));
}

// The last of two holders of an object ends it.
struct LastHolder {
  Order drop = Order::acq_rel;
  enum { kObject, kDropped };
  int ended = 0;

  WeakMemory::Thread holder(WeakMemory& m) {
    co_await m.read(kObject);
    const uint64_t dropped = co_await m.add(kDropped, 1, drop);
    if (dropped == 0) co_return;
    co_await m.write(kObject, 1);
    ++ended;
  }
  void start(WeakMemory& m) { m.run({holder(m), holder(m)}); }
  bool is_right() const { return ended == 1; }
};

TEST(WeakMemory, PlainAccessesRaceUnlessAnAcquireOrdersThem) {
  EXPECT_TRUE(always_right(LastHolder{}));
  EXPECT_FALSE(always_right(LastHolder{.drop = Order::release}));
  EXPECT_FALSE(always_right(LastHolder{.drop = Order::acquire}));
}

struct TwoReadersOfTwoWriters {
  Order order = Order::seq_cst;
  uint64_t one_first[2] = {0, 0};

  WeakMemory::Thread write(WeakMemory& m, size_t place) { co_await m.store(place, 1, order); }
  WeakMemory::Thread read(WeakMemory& m, size_t first) {
    const uint64_t one = co_await m.load(first, order);
    const uint64_t other = co_await m.load(1 - first, order);
    one_first[first] = one != 0 && other == 0 ? 1 : 0;
  }
  void start(WeakMemory& m) { m.run({write(m, 0), write(m, 1), read(m, 0), read(m, 1)}); }
  bool is_right() const { return one_first[0] + one_first[1] < 2; }
};

TEST(WeakMemory, OnlyInTheOrderOfSeqCstDoReadersAgreeWhichOfTwoStoresCameFirst) {
  EXPECT_TRUE(always_right(TwoReadersOfTwoWriters{}));
  EXPECT_FALSE(always_right(TwoReadersOfTwoWriters{Order::acq_rel}));
}

struct StoreThenLoad {
  Order store = Order::seq_cst;
  Order load = Order::seq_cst;
  Order fence = Order::relaxed;
  uint64_t seen[2] = {1, 1};

  WeakMemory::Thread thread(WeakMemory& m, size_t own) {
    co_await m.store(own, 1, store);
    co_await m.fence(fence);
    seen[own] = co_await m.load(1 - own, load);
  }
  void start(WeakMemory& m) { m.run({thread(m, 0), thread(m, 1)}); }
  bool is_right() const { return seen[0] + seen[1] > 0; }
};

TEST(WeakMemory, OneOfTwoSeesTheOtherInTheOrderOfSeqCstAlone) {
  EXPECT_TRUE(always_right(StoreThenLoad{}));
  EXPECT_FALSE(always_right(StoreThenLoad{.store = Order::release}));
  EXPECT_FALSE(always_right(StoreThenLoad{.load = Order::acquire}));
  EXPECT_FALSE(always_right(
      StoreThenLoad{.store = Order::release, .load = Order::acquire, .fence = Order::acq_rel}));
  EXPECT_TRUE(always_right(StoreThenLoad{Order::relaxed, Order::relaxed, Order::seq_cst}));
}

}  // namespace
}  // namespace nvcache::test
