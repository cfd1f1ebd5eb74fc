#include "block_cache/index/block_index.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

uint64_t hash_of_slot(uint32_t slot) { return mix64(slot); }

bool finds(const BlockIndex& index, uint32_t slot) {
  return index.find(hash_of_slot(slot), [&](uint32_t found) { return found == slot; });
}

TEST(BlockIndex, FindsWhatWasInsertedThroughGrowth) {
  constexpr uint32_t kSlots = 100'000;
  BlockIndex index(kSlots);
  for (uint32_t slot = 0; slot < kSlots; ++slot)
    index.insert(hash_of_slot(slot), slot, hash_of_slot);
  for (uint32_t slot = 0; slot < kSlots; ++slot) ASSERT_TRUE(finds(index, slot)) << slot;
  EXPECT_EQ(index.entries(), kSlots);
  const double bytes = static_cast<double>(index.metadata_bytes()) / kSlots;
  EXPECT_LE(bytes, 5.3);
  EXPECT_GE(bytes, 4.2) << "fewer bytes than the cells themselves take";
}

TEST(BlockIndex, OnlyWhatIsInItIsErased) {
  BlockIndex index(1000);
  index.insert(hash_of_slot(1), 1, hash_of_slot);
  EXPECT_DEATH(index.erase(hash_of_slot(2), 2), "at != first");
  EXPECT_DEATH(index.erase(hash_of_slot(2), 1), "at != first") << "another hash";
  index.erase(hash_of_slot(1), 1);
  EXPECT_EQ(index.entries(), 0u);
}

TEST(BlockIndex, KeepsItsShapeUpToWhatWasReserved) {
  constexpr uint32_t kSlots = 100'000;
  BlockIndex index(kSlots);
  for (uint32_t slot = 0; slot < 1000; ++slot) {
    index.insert(hash_of_slot(slot), slot, hash_of_slot);
  }
  index.reserve(50'000, hash_of_slot);
  const uint64_t reserved_bytes = index.metadata_bytes();
  uint64_t asked = 0;
  const auto counted = [&](uint32_t slot) {
    ++asked;
    return hash_of_slot(slot);
  };
  for (uint32_t slot = 1000; slot < 50'000; ++slot) {
    index.insert(hash_of_slot(slot), slot, counted);
  }
  EXPECT_EQ(asked, 0u) << "an entry moved";
  EXPECT_EQ(index.metadata_bytes(), reserved_bytes);
  index.reserve(10, hash_of_slot);
  EXPECT_EQ(index.metadata_bytes(), reserved_bytes) << "it never shrinks";
  for (uint32_t slot = 50'000; slot < kSlots; ++slot) {
    index.insert(hash_of_slot(slot), slot, hash_of_slot);
  }
  index.reserve(10 * kSlots, hash_of_slot);
  for (uint32_t slot = 0; slot < kSlots; ++slot) ASSERT_TRUE(finds(index, slot)) << slot;
}

TEST(BlockIndex, RandomInsertsAndErasesAgreeWithASet) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    constexpr uint32_t kSlots = 5000;
    BlockIndex index(kSlots);
    std::vector<bool> present(kSlots);
    Prng random(seed);
    for (int step = 0; step < 60'000; ++step) {
      const auto slot = static_cast<uint32_t>(random.below(kSlots));
      if (present[slot]) {
        index.erase(hash_of_slot(slot), slot);
      } else {
        index.insert(hash_of_slot(slot), slot, hash_of_slot);
      }
      present[slot] = !present[slot];
    }
    for (uint32_t slot = 0; slot < kSlots; ++slot) ASSERT_EQ(finds(index, slot), present[slot]);
  }
}

TEST(BlockIndex, SlotsWithOneHashAreAllOffered) {
  BlockIndex index(100);
  const auto same = [](uint32_t) { return uint64_t{42}; };
  for (uint32_t slot = 0; slot < 100; ++slot) index.insert(42, slot, same);
  std::vector<bool> seen(100);
  EXPECT_FALSE(index.find(42, [&](uint32_t slot) {
    seen[slot] = true;
    return false;
  }));
  for (uint32_t slot = 0; slot < 100; ++slot) EXPECT_TRUE(seen[slot]) << slot;
}

TEST(BlockIndex, ReadersFindStableEntriesWhileOthersComeAndGo) {
  constexpr uint32_t kStable = 1000;
  constexpr uint32_t kSlots = 20'000;
  BlockIndex index(kSlots);
  for (uint32_t slot = 0; slot < kStable; ++slot)
    index.insert(hash_of_slot(slot), slot, hash_of_slot);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> lost{0};
  std::thread reader([&] {
    Prng random(3);
    while (!stop.load(std::memory_order_relaxed)) {
      if (!finds(index, static_cast<uint32_t>(random.below(kStable)))) lost.fetch_add(1);
    }
  });
  for (uint32_t slot = kStable; slot < kSlots; ++slot)
    index.insert(hash_of_slot(slot), slot, hash_of_slot);
  for (uint32_t slot = kStable; slot < kSlots; ++slot) index.erase(hash_of_slot(slot), slot);
  stop = true;
  reader.join();
  EXPECT_EQ(lost.load(), 0u);
}

}  // namespace
}  // namespace nvcache
