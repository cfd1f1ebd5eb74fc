// Which keys count as written often, and what becomes of their values.
#include "kv_store/write_cache/write_cache.h"

#include "kv_store/kv_fixture.h"

namespace nvcache {
namespace {

constexpr uint64_t kHash = 42;

KvBufferRef buffer(uint64_t hash, std::string_view key, std::string_view value) {
  return KvBufferRef(KvBuffer::make(hash, key, test::bytes_of(value), {}));
}

// Writes a key so often that the cache takes its values.
void make_hot(KvWriteCache& cache, uint64_t hash) {
  KvBufferRef fallen;
  for (uint32_t i = 1; i < KvWriteCache::kHotWrites; ++i) EXPECT_FALSE(cache.note(hash, &fallen));
  EXPECT_TRUE(cache.note(hash, &fallen));
}

TEST(KvWriteCache, TakesValuesOfKeysOnTheList) {
  KvWriteCache cache(1 << 20);
  EXPECT_FALSE(cache.insert(buffer(kHash, "a", "one"))) << "never written";
  make_hot(cache, kHash);
  const KvBufferRef first = buffer(kHash, "a", "one");
  EXPECT_TRUE(cache.insert(first));
  EXPECT_FALSE(cache.insert(buffer(kHash, "b", "two"))) << "another key of the same hash";
  EXPECT_EQ(test::text_of(cache.find(kHash, "a")->value()), "one");
  EXPECT_FALSE(cache.find(kHash, "b"));
  EXPECT_TRUE(cache.replace(first.get(), buffer(kHash, "a", "three")));
  EXPECT_FALSE(cache.take(first.get())) << "not there any more";
  const KvBufferRef second = cache.find(kHash, "a");
  EXPECT_EQ(test::text_of(second->value()), "three");
  EXPECT_TRUE(cache.take(second.get()));
  EXPECT_FALSE(cache.find(kHash, "a"));
  EXPECT_EQ(cache.used_bytes(), 0u);
}

TEST(KvWriteCache, AValueThatFellOffTheListIsFoundUntilItIsTaken) {
  KvWriteCache cache(1 << 20);
  make_hot(cache, kHash);
  ASSERT_TRUE(cache.insert(buffer(kHash, "a", "one")));
  KvBufferRef fallen;
  for (uint64_t i = 1; !fallen && i <= KvWriteCache::kListLength; ++i) {
    cache.note(kHash + i, &fallen);  // hashes of the same part
  }
  ASSERT_TRUE(fallen);
  EXPECT_EQ(fallen->key(), "a");
  EXPECT_TRUE(cache.find(kHash, "a"));
  EXPECT_EQ(cache.all().size(), 1u);
  EXPECT_TRUE(cache.take(fallen.get()));
  EXPECT_FALSE(cache.find(kHash, "a"));
}

TEST(KvWriteCache, HoldsNoMoreThanItsLimit) {
  KvWriteCache cache(1000);
  make_hot(cache, kHash);
  make_hot(cache, kHash + 1);
  EXPECT_TRUE(cache.insert(buffer(kHash, "a", std::string(600, 'x'))));
  EXPECT_FALSE(cache.insert(buffer(kHash + 1, "b", std::string(600, 'x'))));
  EXPECT_LE(cache.used_bytes(), 1000u);
}

TEST(KvWriteCache, HoldsNoMoreThanItsLimitWhenValuesGrow) {
  KvWriteCache cache(1000);
  make_hot(cache, kHash);
  make_hot(cache, kHash + 1);
  const KvBufferRef small = buffer(kHash, "a", std::string(100, 'x'));
  ASSERT_TRUE(cache.insert(small));
  ASSERT_TRUE(cache.insert(buffer(kHash + 1, "b", std::string(400, 'x'))));
  const uint64_t before_bytes = cache.used_bytes();
  EXPECT_FALSE(cache.replace(small.get(), buffer(kHash, "a", std::string(900, 'y'))));
  EXPECT_EQ(cache.used_bytes(), before_bytes);
  EXPECT_EQ(test::text_of(cache.find(kHash, "a")->value()), std::string(100, 'x'));
  const KvBufferRef larger = buffer(kHash, "a", std::string(200, 'y'));
  EXPECT_TRUE(cache.replace(small.get(), larger));
  EXPECT_EQ(cache.used_bytes(), before_bytes + 100);
  EXPECT_TRUE(cache.replace(larger.get(), buffer(kHash, "a", std::string(50, 'z'))));
  EXPECT_EQ(cache.used_bytes(), before_bytes - 50);
}

TEST(KvWriteCache, ValuesThatAreReadOftenAreHandedOutOldestFirst) {
  KvWriteCache cache(1 << 20);
  const KvBufferRef a = buffer(1, "a", "one");
  for (uint32_t i = 1; i < KvBuffer::kReadsToMove; ++i) EXPECT_FALSE(a->count_read());
  EXPECT_TRUE(a->count_read());
  EXPECT_FALSE(a->count_read()) << "once";
  cache.queue_move(a.share());
  cache.queue_move(buffer(2, "b", "two"));
  EXPECT_EQ(cache.next_move()->key(), "a");
  EXPECT_EQ(cache.next_move()->key(), "b");
  EXPECT_FALSE(cache.next_move());
}

}  // namespace
}  // namespace nvcache
