// What every eviction policy promises, whatever it prefers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "base/prng.h"
#include "policy/eviction/table.h"
#include "support/fake_shard.h"

namespace nvcache {

void PrintTo(const EvictionRow& row, std::ostream* out) { *out << row.example; }

namespace {

class EvictionContract : public ::testing::TestWithParam<EvictionRow> {
 protected:
  std::string_view spec() const { return GetParam().example; }
  bool never_evicts() const { return !GetParam().evicts; }
};

TEST_P(EvictionContract, NamesOnlyBlocksThatAreThereAndNotPinned) {
  const uint64_t seed = 20260101;
  RecordProperty("seed", static_cast<int>(seed));
  Prng prng(seed);
  FakeShard shard(spec(), 400);
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
    const uint64_t other = 1 + prng.below(key);
    if (!shard.contains(other)) continue;
    const uint64_t action = prng.below(10);
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

TEST_P(EvictionContract, EveryBlockLeavesInTheEnd) {
  FakeShard shard(spec(), 1000);
  for (uint64_t key = 0; key < 1000; ++key) shard.insert(key);
  for (uint64_t key = 0; key < 1000; key += 3) shard.hit(key);
  std::set<uint64_t> gone;
  while (const auto key = shard.evict()) EXPECT_TRUE(gone.insert(*key).second);
  EXPECT_EQ(gone.size(), never_evicts() ? 0u : 1000u);
}

// Blocks whose part of the medium is emptied.
TEST_P(EvictionContract, KeepsWhatIsUsedForAsLongAsItIs) {
  constexpr uint64_t kHot = 7;
  constexpr uint64_t kCold = 8;
  FakeShard shard(spec(), 400);
  const auto offer = [&shard](uint64_t key) {
    if (shard.policy().contest() != nullptr) shard.contest().offer(mix64(key));
  };
  for (uint64_t key = 0; key < 300; ++key) {
    offer(key);
    shard.insert(key);
  }
  for (int i = 0; i < 4; ++i) shard.hit(kHot);
  const auto keeps = [&shard](uint64_t key) { return shard.policy().keeps(shard.slot_of(key)); };
  EXPECT_FALSE(keeps(kCold)) << "it was never used";
  const bool by_use = !never_evicts() && spec() != "fifo";
  EXPECT_EQ(keeps(kHot), by_use);
  uint64_t other = 1000;
  for (int round = 0; round < 1000 && keeps(kHot); ++round) {
    for (int i = 0; i < 100; ++i) offer(other++);
    shard.begin_pass(0);
  }
  EXPECT_FALSE(keeps(kHot)) << "it was not used again";
  EXPECT_EQ(shard.policy().evicts(), !never_evicts());
}

TEST_P(EvictionContract, SlotsAreUsedAgain) {
  FakeShard shard(spec(), 64);
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

TEST_P(EvictionContract, FindsNothingWhenAllIsPinnedAndTheOneThatIsNot) {
  FakeShard shard(spec(), 200);
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

TEST_P(EvictionContract, AVictimLeftAloneIsNamedAgain) {
  if (never_evicts()) return;
  FakeShard shard(spec(), 50);
  for (uint64_t key = 0; key < 50; ++key) shard.insert(key);
  ASSERT_TRUE(shard.next_victim());
  std::set<uint64_t> gone;
  while (const auto key = shard.evict()) gone.insert(*key);
  EXPECT_EQ(gone.size(), 50u);
}

TEST_P(EvictionContract, ErasedBlocksNeedNoEviction) {
  FakeShard shard(spec(), 300);
  for (uint64_t key = 0; key < 300; ++key) shard.insert(key);
  for (uint64_t key = 0; key < 300; ++key) shard.erase(key);
  EXPECT_EQ(shard.next_victim(), std::nullopt);
}

TEST_P(EvictionContract, MetadataStaysWithinItsBudget) {
  constexpr uint32_t kBlocks = 100'000;
  constexpr uint64_t kFixedBytes = 4096;
  FakeShard shard(spec(), 1 << 20);  // most of the slots are never used
  EXPECT_LE(shard.policy().metadata_bytes(), kFixedBytes);
  const double budget = GetParam().bytes_per_slot * kBlocks + kFixedBytes;
  Prng prng(7);
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
    const uint64_t other = prng.below(key + 1);
    if (shard.contains(other)) shard.hit(other);
    if (key % 10'000 == 0) {
      ASSERT_LE(static_cast<double>(shard.policy().metadata_bytes()), budget) << key;
    }
    if (key == kBlocks && shard.policy().passes() != nullptr) break;  // a pass is O(slots)
  }
  EXPECT_LE(static_cast<double>(shard.policy().metadata_bytes()), budget);
}

TEST_P(EvictionContract, BlocksInUseSurviveAScan) {
  if (never_evicts() || !GetParam().spares_used) return;
  constexpr uint64_t kHot = 100;
  constexpr uint64_t kBlocks = 1000;
  FakeShard shard(spec(), kBlocks);
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

TEST_P(EvictionContract, HitsMayComeFromOtherThreadsAtAnyTime) {
  constexpr uint32_t kSlots = 500;
  FakeShard shard(spec(), kSlots);
  for (uint64_t key = 0; key < kSlots; ++key) shard.insert(key);
  std::atomic<bool> stop{false};
  const auto hit_all = [&](uint64_t seed) {
    Prng prng(seed);
    while (!stop.load(std::memory_order_relaxed)) {
      shard.policy().on_hit(static_cast<uint32_t>(prng.below(kSlots)));
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

INSTANTIATE_TEST_SUITE_P(Policies, EvictionContract, ::testing::ValuesIn(kEvictionPolicies),
                         [](const auto& instance) { return std::string(instance.param.name); });

// A row's policy with other arguments.
EvictionRow with(std::string_view name, std::string_view example) {
  EvictionRow row = *std::ranges::find(kEvictionPolicies, name, &EvictionRow::name);
  row.example = example;
  return row;
}

INSTANTIATE_TEST_SUITE_P(Arguments, EvictionContract,
                         ::testing::Values(with("lfru", "lfru(1.5)"), with("tinylfu", "tinylfu(1)"),
                                           with("auto", "auto(0)")),
                         [](const auto& instance) { return std::string(instance.param.name); });

struct BadSpec {
  std::string spec;
  std::string named;  // what the message must name
};

TEST(EvictionSpec, AMistakeIsNamedWithWhatIsAllowed) {
  const BadSpec cases[] = {
      {"", "no name given"},
      {"lrux", "'lrux'"},
      {"LRU", "'LRU'"},
      {"lru(1)", "1 argument"},
      {"none(1,2)", "2 argument"},
      {"lru+clock", "2 policies given"},
      {"lfru(soon)", "WINDOW_SECONDS: 'soon' given; allowed: a number from 0.001"},
      {"lfru(0)", "'0' given"},
      {"lfru(nan)", "'nan' given"},
      {"tinylfu(0)", "PERIOD: '0' given; allowed: a number from 1"},
      {"tinylfu(8,8)", "2 argument"},
      {"auto(-1)", "INSERT_COST: '-1' given; allowed: a number from 0 to 100"},
      {"lfru(1", "no ')'"},
      {"lfru(1)x", "no ')'"},
      {"lfru((1))", "'lfru((1))'"},
      {std::string("lr\0u\x01", 5), "lr\\x00u\\x01"},
  };
  for (const BadSpec& bad : cases) {
    const auto made = make_eviction(bad.spec, 0);
    ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << bad.spec;
    const std::string message(made.status().message());
    EXPECT_NE(message.find(bad.named), std::string::npos) << message;
    EXPECT_NE(message.find("allowed"), std::string::npos) << message;
  }
}

TEST(EvictionSpec, WhiteSpaceIsIgnored) {
  for (const std::string spec : {" lru ", "lru()", "lfru ( 2.5 )", "tinylfu(16)", "\tclock\n"}) {
    EXPECT_TRUE(make_eviction(spec, 0).ok()) << spec;
  }
}

TEST(EvictionSpec, AnyBytesAreReadWithoutHarm) {
  const std::string alphabet("lfru(),+ 0.91e-s3ioc\0\xff", 22);
  Prng prng(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string spec = prng.below(2) == 0 ? "lfru(" : "";
    for (uint64_t left = prng.below(12); left > 0; --left) {
      spec += alphabet[prng.below(alphabet.size())];
    }
    const auto made = make_eviction(spec, 16);
    if (!made.ok()) {
      EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace nvcache
