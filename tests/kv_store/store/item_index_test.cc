// From keys to items: finding, publishing, dropping, and what each flushes.
#include "kv_store/parts_fixture.h"

namespace nvcache {
namespace {

class ItemIndexTest : public test::PartsFixture {
 protected:
  // Replaces or drops the item of a key, as a store does under the stripe's lock.
  bool drop(std::string_view key) {
    const auto bucket = bucket_of(key);
    MutexLock lock(bucket.stripe.mutex);
    ItemLocation found;
    if (index_->find_locked(bucket, key, &found) != ItemIndex::Presence::kPresent) return false;
    ZonePin pin(parts_->zones, found.zone);
    return index_->drop(bucket, found);
  }
};

TEST_F(ItemIndexTest, FindsWhatWasPublished) {
  EXPECT_EQ(find("a"), "");
  insert("a", "one");
  insert("b", "two");
  EXPECT_EQ(find("a"), "one");
  EXPECT_EQ(find("b"), "two");
  EXPECT_EQ(parts_->headers.live().items, 2u);
}

TEST_F(ItemIndexTest, AnInsertionFlushesNothingAndADeletionItsDescriptor) {
  insert("warm", "up");  // opens a zone, which flushes its header
  const uint64_t before = count(KvCounter::kDrains);
  insert("a", "one");
  EXPECT_EQ(count(KvCounter::kDrains), before);
  const uint64_t bytes = count(KvCounter::kFlushedBytes);
  EXPECT_TRUE(drop("a"));
  EXPECT_EQ(count(KvCounter::kDrains), before + 1);
  EXPECT_EQ(count(KvCounter::kFlushedBytes), bytes + sizeof(KvDescriptor));
  EXPECT_EQ(find("a"), "");
  EXPECT_FALSE(drop("a"));
  EXPECT_EQ(parts_->headers.live().items, 1u);
}

TEST_F(ItemIndexTest, AFullGroupEvictsDurably) {
  KvConfig config = test::small_config();
  config.item_bytes = 4096;  // one group of descriptors, for many more items
  make(config);
  ASSERT_EQ(parts_->geometry.groups, 1u);
  for (int i = 0; i < 200; ++i) insert("key" + std::to_string(i), "x");
  EXPECT_GT(count(KvCounter::kEvicted), 0u);
  EXPECT_GE(count(KvCounter::kDrains), count(KvCounter::kEvicted));
  EXPECT_EQ(parts_->headers.live().items + count(KvCounter::kEvicted), 200u);
  EXPECT_EQ(find("key199"), "x");
}

TEST_F(ItemIndexTest, AnItemOfAnotherVersionIsAbsent) {
  const auto room = insert("a", "one");
  MutexLock lock(parts_->zones.cleaning_mutex());
  parts_->zones.serve(room.zone, 77);
  EXPECT_EQ(find("a"), "");
}

// Its first word is of this item, its second of another one. By chance it has the version that the
// zone has.
TEST_F(ItemIndexTest, ATornDescriptorLeadsNowhereAndIsNotMendedByACleaning) {
  make(test::small_config());
  parts_->may_be_torn = true;
  insert("b", "two");
  const auto bucket = bucket_of("a");
  for (const bool cleans : {false, true}) {
    const auto room = insert("a", "one");
    EXPECT_EQ(find("a"), "one");
    ASSERT_TRUE(drop("a"));
    const KvDescriptor torn = make_descriptor(room.address, kv_tag(bucket.hash), room.version, 9);
    {
      MutexLock lock(bucket.stripe.mutex);
      parts_->table.write(bucket.stripe, bucket.first_slot + 5, torn);
    }
    if (cleans) {
      EXPECT_TRUE(clean(room.zone));
    }
    EXPECT_EQ(find("a"), "");
    EXPECT_EQ(find("b"), "two");
  }
}

TEST_F(ItemIndexTest, ADescriptorThatPointsOutsideAllZonesIsFollowedByNobody) {
  const auto bucket = bucket_of("a");
  MutexLock lock(bucket.stripe.mutex);
  parts_->table.write(bucket.stripe, bucket.first_slot,
                      make_descriptor(64, kv_tag(bucket.hash), 1, 0));
  ItemLocation found;
  EXPECT_EQ(index_->find_locked(bucket, "a", &found), ItemIndex::Presence::kAbsent);
}

}  // namespace
}  // namespace nvcache
