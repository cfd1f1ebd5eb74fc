#include <gtest/gtest.h>

#include <vector>

#include "support/fake_shard.h"

namespace nvcache {
namespace {

std::vector<uint64_t> evict_in_order(FakeShard& shard) {
  std::vector<uint64_t> order;
  while (const auto key = shard.evict()) order.push_back(*key);
  return order;
}

TEST(FifoPolicy, EvictsInOrderOfArrivalWhateverIsHit) {
  FakeShard shard("fifo", 10);
  for (uint64_t key = 0; key < 5; ++key) shard.insert(key);
  for (int i = 0; i < 10; ++i) shard.hit(0);
  EXPECT_EQ(evict_in_order(shard), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
}

TEST(FifoPolicy, AnErasedBlockLeavesTheOrderOfTheOthers) {
  FakeShard shard("fifo", 10);
  for (uint64_t key = 0; key < 6; ++key) shard.insert(key);
  for (const uint64_t key : {0, 3, 5}) shard.erase(key);  // the oldest, one inside, the newest
  shard.insert(6);                                        // in a slot used before
  EXPECT_EQ(evict_in_order(shard), (std::vector<uint64_t>{1, 2, 4, 6}));
  shard.insert(7);
  EXPECT_EQ(shard.evict(), 7u);
}

TEST(FifoPolicy, APinnedBlockKeepsItsPlace) {
  FakeShard shard("fifo", 10);
  for (uint64_t key = 0; key < 3; ++key) shard.insert(key);
  shard.pin(0);
  EXPECT_EQ(shard.evict(), 1u);
  shard.unpin(0);
  EXPECT_EQ(evict_in_order(shard), (std::vector<uint64_t>{0, 2}));
}

}  // namespace
}  // namespace nvcache
