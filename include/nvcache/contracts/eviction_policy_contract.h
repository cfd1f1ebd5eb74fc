// The promises of every eviction policy, whatever it prefers: a suite of GoogleTest for policies of
// your own. Include it in one source file of a test program, and name the policies:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, nvcache::EvictionPolicyContract, ::testing::Values(
//       nvcache::EvictionPromises{.name = "mine", .make = make_mine}));
//
// nvcache's own policies pass the same suite. Needs GoogleTest and threads.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <thread>

#include "nvcache/contracts/policy_shard.h"
#include "nvcache/contracts/seeded_random.h"

namespace nvcache {

// A policy, and what it promises beyond the interface.
struct EvictionPromises {
  std::string name;
  std::function<std::unique_ptr<EvictionPolicy>(uint32_t max_slots)> make;
  double bytes_per_slot = 16;  // DRAM for each slot that was ever used, at most; and 4 KiB
  bool evicts = true;          // every block leaves in the end
  bool spares_used = true;     // blocks in use survive a scan
  bool keeps_used = false;     // keeps() blocks in use

  friend void PrintTo(const EvictionPromises& promises, std::ostream* out) {
    *out << promises.name;
  }
};

class EvictionPolicyContract : public ::testing::TestWithParam<EvictionPromises> {
 protected:
  PolicyShard shard_of(uint32_t max_slots) const {
    return PolicyShard(GetParam().make(max_slots), max_slots);
  }
  bool never_evicts() const { return !GetParam().evicts; }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EvictionPolicyContract);

TEST_P(EvictionPolicyContract, NamesOnlyBlocksThatAreThereAndNotPinned) {
  const uint64_t seed = 20260101;
  RecordProperty("seed", static_cast<int>(seed));
  SeededRandom random(seed);
  PolicyShard shard = shard_of(400);
  std::set<uint64_t> pinned;
  for (uint64_t key = 1; key <= 20'000; ++key) {
    if (shard.size() >= 300) {
      const auto victim = shard.next_victim();
      if (victim) {
        ASSERT_TRUE(shard.evictable(*victim)) << "slot " << *victim << " at key " << key;
        ASSERT_TRUE(shard.evict());
      } else {
        ASSERT_TRUE(never_evicts());
        break;
      }
    }
    shard.insert(key);
    const uint64_t other = 1 + random.below(key);
    if (!shard.contains(other)) continue;
    const uint64_t action = random.below(10);
    if (action < 6) {
      shard.hit(other);
    } else if (action == 6 && pinned.size() < 100 && pinned.insert(other).second) {
      shard.pin(other);
    } else if (action == 7 && pinned.count(other) == 0) {
      shard.erase(other);
    } else if (action > 7 && !pinned.empty()) {
      shard.unpin(*pinned.begin());
      pinned.erase(pinned.begin());
    }
  }
}

TEST_P(EvictionPolicyContract, EveryBlockLeavesInTheEnd) {
  PolicyShard shard = shard_of(1000);
  for (uint64_t key = 0; key < 1000; ++key) shard.insert(key);
  for (uint64_t key = 0; key < 1000; key += 3) shard.hit(key);
  std::set<uint64_t> gone;
  while (const auto key = shard.evict()) EXPECT_TRUE(gone.insert(*key).second);
  EXPECT_EQ(gone.size(), never_evicts() ? 0u : 1000u);
}

// Blocks whose part of the medium is emptied.
TEST_P(EvictionPolicyContract, KeepsWhatIsUsedForAsLongAsItIs) {
  constexpr uint64_t kHot = 7;
  constexpr uint64_t kCold = 8;
  PolicyShard shard = shard_of(400);
  const auto offer = [&shard](uint64_t key) {
    if (shard.policy().contest() != nullptr) shard.contest().offer(PolicyShard::hash_of(key));
  };
  for (uint64_t key = 0; key < 300; ++key) {
    offer(key);
    shard.insert(key);
  }
  for (int i = 0; i < 4; ++i) shard.hit(kHot);
  const auto keeps = [&shard](uint64_t key) { return shard.policy().keeps(shard.slot_of(key)); };
  EXPECT_FALSE(keeps(kCold)) << "it was never used";
  EXPECT_EQ(keeps(kHot), GetParam().keeps_used);
  uint64_t other = 1000;
  for (int round = 0; round < 1000 && keeps(kHot); ++round) {
    for (int i = 0; i < 100; ++i) offer(other++);
    shard.begin_pass(0);
  }
  EXPECT_FALSE(keeps(kHot)) << "it was not used again";
  EXPECT_EQ(shard.policy().evicts(), !never_evicts());
}

TEST_P(EvictionPolicyContract, SlotsAreUsedAgain) {
  PolicyShard shard = shard_of(64);
  for (uint64_t key = 0; key < 5000; ++key) {
    if (shard.size() == 64) {
      if (never_evicts()) {
        shard.erase(key - 64);
      } else {
        ASSERT_TRUE(shard.evict()) << key;
      }
    }
    shard.insert(key);
  }
  EXPECT_EQ(shard.slot_limit(), 64u);
}

TEST_P(EvictionPolicyContract, FindsNothingWhenAllIsPinnedAndTheOneThatIsNot) {
  PolicyShard shard = shard_of(200);
  EXPECT_EQ(shard.next_victim(), std::nullopt) << "an empty shard";
  for (uint64_t key = 0; key < 200; ++key) {
    shard.insert(key);
    shard.hit(key);
    shard.pin(key);
  }
  EXPECT_EQ(shard.next_victim(), std::nullopt);
  shard.unpin(77);
  if (never_evicts()) return;
  EXPECT_EQ(shard.evict(), 77u);
  EXPECT_EQ(shard.next_victim(), std::nullopt);
}

TEST_P(EvictionPolicyContract, AVictimLeftAloneIsNamedAgain) {
  if (never_evicts()) return;
  PolicyShard shard = shard_of(50);
  for (uint64_t key = 0; key < 50; ++key) shard.insert(key);
  ASSERT_TRUE(shard.next_victim());
  std::set<uint64_t> gone;
  while (const auto key = shard.evict()) gone.insert(*key);
  EXPECT_EQ(gone.size(), 50u);
}

TEST_P(EvictionPolicyContract, ErasedBlocksNeedNoEviction) {
  PolicyShard shard = shard_of(300);
  for (uint64_t key = 0; key < 300; ++key) shard.insert(key);
  for (uint64_t key = 0; key < 300; ++key) shard.erase(key);
  EXPECT_EQ(shard.next_victim(), std::nullopt);
}

TEST_P(EvictionPolicyContract, MetadataStaysWithinItsBudget) {
  constexpr uint32_t kBlocks = 100'000;
  constexpr uint64_t kFixedBytes = 4096;
  PolicyShard shard = shard_of(1 << 20);  // most of the slots are never used
  EXPECT_LE(shard.policy().metadata_bytes(), kFixedBytes);
  const double budget = GetParam().bytes_per_slot * kBlocks + kFixedBytes;
  SeededRandom random(7);
  for (uint64_t key = 0; key < 3 * kBlocks; ++key) {
    if (shard.size() == kBlocks) {
      shard.begin_pass(0.01);
      if (never_evicts() || shard.policy().passes() != nullptr) {
        shard.erase(key - kBlocks);
      } else {
        ASSERT_TRUE(shard.evict());
      }
    }
    shard.insert(key);
    const uint64_t other = random.below(key + 1);
    if (shard.contains(other)) shard.hit(other);
    if (key % 10'000 == 0) {
      ASSERT_LE(static_cast<double>(shard.policy().metadata_bytes()), budget) << key;
    }
    if (key == kBlocks && shard.policy().passes() != nullptr) break;  // a pass is O(slots)
  }
  EXPECT_LE(static_cast<double>(shard.policy().metadata_bytes()), budget);
}

TEST_P(EvictionPolicyContract, BlocksInUseSurviveAScan) {
  if (never_evicts() || !GetParam().spares_used) return;
  constexpr uint64_t kHot = 100;
  constexpr uint64_t kBlocks = 1000;
  PolicyShard shard = shard_of(kBlocks);
  for (uint64_t key = 0; key < kHot; ++key) shard.insert(key);
  uint64_t lost = 0;
  for (uint64_t scanned = 0; scanned < 5 * kBlocks; ++scanned) {
    if (shard.size() == kBlocks) {
      const auto victim = shard.evict();
      ASSERT_TRUE(victim);
      if (*victim < kHot) ++lost;
    }
    shard.insert(kHot + scanned);
    for (const uint64_t use :
         {2 * scanned, 2 * scanned + 1}) {  // each hot block once in 50 insertions
      if (shard.contains(use % kHot)) shard.hit(use % kHot);
    }
  }
  // Random eviction would evict each hot block with a chance of 1 - exp(-4.1): 98 of 100.
  EXPECT_LT(lost, 10u);
}

TEST_P(EvictionPolicyContract, HitsMayComeFromOtherThreadsAtAnyTime) {
  constexpr uint32_t kSlots = 500;
  PolicyShard shard = shard_of(kSlots);
  for (uint64_t key = 0; key < kSlots; ++key) shard.insert(key);
  std::atomic<bool> stop{false};
  const auto hit_all = [&](uint64_t seed) {
    SeededRandom random(seed);
    while (!stop.load(std::memory_order_relaxed)) {
      shard.policy().on_hit(static_cast<uint32_t>(random.below(kSlots)));
    }
  };
  std::thread first(hit_all, 1);
  std::thread second(hit_all, 2);
  for (uint64_t key = kSlots; key < kSlots + 3000; ++key) {
    if (!shard.evict()) shard.erase(shard.key_of(static_cast<uint32_t>(key % kSlots)));
    shard.insert(key);
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(shard.size(), kSlots);
}

}  // namespace nvcache
