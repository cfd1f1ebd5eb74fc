// The orders that writes to cached files need (docs/design/growth.md, "Orderings"): a model of each
// protocol is right in all executions with the orders that the code has, and wrong in some with one
// of them weakened. The models are not the code: who changes an order there changes it here, too.
// Places of a model begin at 0.
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

// file_cache/cached_file.cc: a file is written as a reader that missed offers what it read.
struct WriteAndOffer {
  Order move = Order::acq_rel;
  Order sum = Order::acquire;
  enum { kFile, kStretch };
  static constexpr size_t kMap = 0;
  uint64_t cached = 1;

  Thread write(WeakMemory& m) {
    co_await m.lock(kMap);
    co_await m.add(kStretch, 1, move);
    cached = 1;
    co_await m.unlock(kMap);
    co_await m.store(kFile, 1, Order::relaxed);
    co_await m.lock(kMap);
    co_await m.add(kStretch, 1, move);
    cached = 1;
    co_await m.unlock(kMap);
  }
  Thread read(WeakMemory& m) {
    const uint64_t ticket = co_await m.load(kStretch, sum);
    const uint64_t read = co_await m.load(kFile, Order::relaxed);
    co_await m.lock(kMap);
    const uint64_t now = co_await m.load(kStretch, sum);
    if (now == ticket) cached = read;
    co_await m.unlock(kMap);
  }
  void start(WeakMemory& m) { m.run({write(m), read(m)}); }
  bool is_right() const { return cached == 1; }
};

TEST(Orderings, NoOfferBringsBackWhatAFileHeldBeforeAWrite) {
  EXPECT_TRUE(always_right(WriteAndOffer{}));
  EXPECT_FALSE(always_right(WriteAndOffer{.move = Order::relaxed}));
  EXPECT_FALSE(always_right(WriteAndOffer{.sum = Order::relaxed}));
}

}  // namespace
}  // namespace nvcache::orderings
