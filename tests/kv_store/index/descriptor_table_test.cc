// The table of descriptors: what readers see, which slot a new descriptor takes.
#include <vector>

#include "kv_store/parts_fixture.h"

namespace nvcache {
namespace {

using SlotUse = DescriptorTable::SlotUse;

class DescriptorTableTest : public test::PartsFixture {
 protected:
  DescriptorTable& table() { return parts_->table; }
  void write(const DescriptorTable::Bucket& bucket, uint64_t slot, const KvDescriptor& descriptor) {
    MutexLock lock(bucket.stripe.mutex);
    table().write(bucket.stripe, slot, descriptor);
  }
  std::optional<DescriptorTable::SlotChoice> choose(const DescriptorTable::Bucket& bucket,
                                                    SlotUse use, uint64_t oldest = 0) {
    MutexLock lock(bucket.stripe.mutex);
    return table().choose_slot(
        bucket, [&](const KvDescriptor&) { return use; },
        [&](uint64_t slot) { return slot == oldest ? 9u : 1u; });
  }
  // Fills what choose_slot() hands out until it evicts; returns the slots.
  std::vector<uint64_t> fill(const DescriptorTable::Bucket& bucket) {
    std::vector<uint64_t> slots;
    for (;;) {
      const auto choice = choose(bucket, SlotUse::kInUse);
      if (!choice || choice->evicts || slots.size() > kKvGroupSlots) return slots;
      write(bucket, choice->slot, make_descriptor(4096, kv_tag(bucket.hash), 1, 2));
      slots.push_back(choice->slot);
    }
  }
};

TEST_F(DescriptorTableTest, AWrittenDescriptorIsRead) {
  const auto bucket = bucket_of("key");
  const KvDescriptor descriptor = make_descriptor(8192, kv_tag(bucket.hash), 3, 99);
  const uint64_t before = bucket.stripe.sequence.now();
  write(bucket, bucket.first_slot + 2, descriptor);
  EXPECT_EQ(table().load(bucket.first_slot + 2), descriptor);
  EXPECT_FALSE(bucket.stripe.sequence.is_still(before));
  EXPECT_TRUE(bucket.stripe.sequence.is_still(bucket.stripe.sequence.now())) << "it is over";
  EXPECT_EQ(descriptor.address(), 8192u);
  EXPECT_EQ(descriptor.version(), 3u);
  KvDescriptor whole;
  EXPECT_TRUE(table().load_whole(bucket.first_slot + 2, descriptor.place, &whole));
  EXPECT_EQ(whole, descriptor);
  write(bucket, bucket.first_slot + 2, {});
  EXPECT_EQ(table().load_place(bucket.first_slot + 2), 0u);
  EXPECT_FALSE(table().load_whole(bucket.first_slot + 2, descriptor.place, &whole));
}

TEST_F(DescriptorTableTest, ABucketLiesWithinItsGroup) {
  for (int i = 0; i < 1000; ++i) {
    const auto bucket = bucket_of("key" + std::to_string(i));
    EXPECT_LT(bucket.group, parts_->geometry.groups);
    EXPECT_GE(bucket.first_slot, bucket.group * kKvGroupSlots);
    EXPECT_LE(bucket.first_slot + kKvBucketSlots, (bucket.group + 1) * kKvGroupSlots);
    EXPECT_EQ(&table().stripe_of(bucket.first_slot), &bucket.stripe);
  }
}

TEST_F(DescriptorTableTest, ChoosesFreeSlotsThenOverflowsThenTheOldest) {
  const auto bucket = bucket_of("key");
  uint64_t visited = 0;
  const auto count = [&](uint64_t) { return ++visited, false; };
  EXPECT_FALSE(table().any_slot(bucket, count));
  EXPECT_EQ(visited, kKvBucketSlots) << "no overflow descriptor is in use";

  const std::vector<uint64_t> slots = fill(bucket);
  ASSERT_EQ(slots.size(), kKvBucketSlots + kKvOverflowSlots);
  EXPECT_EQ(slots.front(), bucket.first_slot);
  EXPECT_EQ(slots.back(), (bucket.group + 1) * kKvGroupSlots - 1);
  visited = 0;
  EXPECT_FALSE(table().any_slot(bucket, count));
  EXPECT_EQ(visited, kKvBucketSlots + kKvOverflowSlots);

  const auto victim = choose(bucket, SlotUse::kInUse, bucket.first_slot + 5);
  ASSERT_TRUE(victim.has_value());
  EXPECT_TRUE(victim->evicts);
  EXPECT_EQ(victim->slot, bucket.first_slot + 5);
}

// A restart does not make misses dearer: what overflows is learnt by the first miss of a group.
TEST_F(DescriptorTableTest, AMissAfterARestartReadsOverflowsOnlyWhereThereAreAny) {
  const auto visits_of = [&](const DescriptorTable& of, std::string_view key) {
    uint64_t visited = 0;
    EXPECT_FALSE(of.any_slot(of.bucket_of(hash_bytes(key)), [&](uint64_t) {
      ++visited;
      return false;
    }));
    return visited;
  };
  KvConfig config = test::small_config();
  config.item_bytes = 64;
  make(config);
  ASSERT_GT(parts_->geometry.groups, 4u);
  const std::vector<uint64_t> slots = fill(bucket_of("key"));
  ASSERT_EQ(slots.size(), kKvBucketSlots + kKvOverflowSlots);
  DescriptorTable again(parts_->memory, parts_->geometry, /*recovered=*/true);
  std::string other = "other0";
  for (int i = 1; again.bucket_of(hash_bytes(other)).group == bucket_of("key").group; ++i) {
    other = "other" + std::to_string(i);
  }
  EXPECT_EQ(visits_of(again, other), kKvBucketSlots + kKvOverflowSlots);
  EXPECT_EQ(visits_of(again, other), kKvBucketSlots);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(visits_of(again, "key"), kKvBucketSlots + kKvOverflowSlots);
  }
}

TEST_F(DescriptorTableTest, TakesAVoidDescriptorAndWaitsForTheCleaner) {
  const auto bucket = bucket_of("key");
  fill(bucket);
  const auto free = choose(bucket, SlotUse::kFree);
  ASSERT_TRUE(free.has_value());
  EXPECT_FALSE(free->evicts);
  EXPECT_FALSE(choose(bucket, SlotUse::kBeingCleaned).has_value());
}

TEST_F(DescriptorTableTest, ClearsWhatIsAskedFor) {
  const auto bucket = bucket_of("key");
  write(bucket, bucket.first_slot, make_descriptor(4096, 1, 1, 0));
  write(bucket, bucket.first_slot + 1, make_descriptor(8192, 1, 1, 0));
  table().clear_where([](const KvDescriptor& each) { return each.address() == 4096; });
  EXPECT_EQ(table().load_place(bucket.first_slot), 0u);
  EXPECT_NE(table().load_place(bucket.first_slot + 1), 0u);
  EXPECT_EQ(count(KvCounter::kDrains), 1u);
}

}  // namespace
}  // namespace nvcache
