// A real database over a SecondaryCache: what is read is right, and really comes
// from the tier.
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fake_block_cache.h"
#include "rocksdb/convenience.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

struct Tier {
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  std::shared_ptr<BlockCache> cache;
};

Tier open_tier(const std::string& spec) {
  Tier tier;
  EXPECT_ROCKS_OK(NewSecondaryCache({.spec = spec}, &tier.secondary, &tier.cache));
  return tier;
}

constexpr char kTinyTier[] = "nvcache://?size=3MiB&admission=always&eviction=clock&verify=always";
constexpr char kLargeTier[] = "nvcache://?size=64MiB&admission=always&eviction=clock&verify=always";

class PolicyTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PolicyTest, ReadsAreRightAfterHeavyEviction) {
  TempDir dir;
  const Tier tier = open_tier(std::string("nvcache://?size=3MiB&verify=always&") + GetParam());
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
  db.fill();
  db.read_and_verify(20000);
  const Stats stats = tier.cache->stats();
  EXPECT_GT(stats.hits, 1000u) << stats.to_json();
  EXPECT_GT(stats.evictions, 1000u) << stats.to_json();
  EXPECT_EQ(stats.damaged_blocks, 0u);
  EXPECT_EQ(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), stats.hits);
}
INSTANTIATE_TEST_SUITE_P(Specs, PolicyTest,
                         ::testing::Values("admission=always&eviction=clock",
                                           "admission=always&eviction=lru",
                                           "admission=always&eviction=s3fifo",
                                           "admission=always&eviction=tinylfu(1)",
                                           "admission=second_touch&eviction=clock",
                                           "admission=obp(0.5)&eviction=clock"));

TEST(SecondaryCacheDbTest, WorksOnAMappedFileAndOnADevice) {
  for (const char* io : {"mmap", "direct"}) {
    SCOPED_TRACE(io);
    TempDir dir;
    const Tier tier = open_tier(
        "nvcache://?size=3MiB&admission=always&eviction=clock&medium=file:" + dir.file("medium") +
        ",io=" + io);
    ASSERT_NE(tier.cache, nullptr);
    TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
    db.fill();
    db.read_and_verify(20000);
    const Stats stats = tier.cache->stats();
    EXPECT_GT(stats.hits, 1000u) << stats.to_json();
    EXPECT_GT(stats.evictions, 100u) << stats.to_json();
    EXPECT_EQ(stats.damaged_blocks + stats.medium_errors, 0u) << stats.to_json();
  }
}

TEST(SecondaryCacheDbTest, IteratorsAndMultiGetReadThroughTheTier) {
  TempDir dir;
  const Tier tier = open_tier(kLargeTier);
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
  db.fill();
  for (int pass = 0; pass < 2; ++pass) {  // the first pass fills the tier
    const std::unique_ptr<::rocksdb::Iterator> it(db->NewIterator(::rocksdb::ReadOptions()));
    int record = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++record) {
      ASSERT_EQ(it->key().ToString(), key_of(record));
      ASSERT_EQ(version_in(record, it->value().ToString()), 0);
    }
    ASSERT_ROCKS_OK(it->status());
    ASSERT_EQ(record, kRecords);
  }
  const uint64_t hits_of_iterators = tier.cache->stats().hits;
  EXPECT_GT(hits_of_iterators, 1000u);

  std::mt19937_64 random(test_seed());
  for (int batch = 0; batch < 200; ++batch) {
    std::vector<int> records(32);
    std::vector<std::string> keys;
    for (int& record : records) {
      record = static_cast<int>(random() % kRecords);
      keys.push_back(key_of(record));
    }
    const std::vector<::rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<::rocksdb::PinnableSlice> values(slices.size());
    std::vector<::rocksdb::Status> statuses(slices.size());
    db->MultiGet(::rocksdb::ReadOptions(), db->DefaultColumnFamily(), slices.size(), slices.data(),
                 values.data(), statuses.data());
    for (size_t i = 0; i < records.size(); ++i) {
      ASSERT_ROCKS_OK(statuses[i]);
      ASSERT_EQ(version_in(records[i], values[i].ToString()), 0);
    }
  }
  EXPECT_GT(tier.cache->stats().hits, hits_of_iterators + 3000);
}

TEST(SecondaryCacheDbTest, ExclusiveTiersReadRightAndWriteMore) {
  uint64_t inserts[2] = {};
  for (const bool exclusive : {false, true}) {
    TempDir dir;
    CacheOptions options{.spec = kLargeTier, .exclusive = exclusive};
    Tier tier;
    ASSERT_ROCKS_OK(NewSecondaryCache(options, &tier.secondary, &tier.cache));
    TestDb db(dir.file("db"), db_options({.secondary = tier.secondary, .dram_bytes = 1 << 20}));
    db.fill();
    db.read_and_verify(40000);
    EXPECT_GT(tier.cache->stats().hits, 1000u);
    EXPECT_EQ(tier.cache->stats().erases > 0, exclusive);
    inserts[exclusive] = tier.cache->stats().inserts;
  }
  EXPECT_GT(inserts[true], inserts[false]);
}

TEST(SecondaryCacheDbTest, TheTierIsStillGoodAfterReopening) {
  TempDir dir;
  const Tier tier = open_tier(kLargeTier);
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary, .dram_bytes = 64 << 10}));
  db.fill();
  db.read_and_verify(20000);
  db.close();
  const Stats before = tier.cache->stats();
  db.open();
  db.read_and_verify(2000, 0, /*salt=*/1);
  const Stats after = tier.cache->stats();
  EXPECT_GT(after.hits - before.hits, 10 * (after.misses - before.misses))
      << "blocks keep their keys: nearly all must still be there";
}

TEST(SecondaryCacheDbTest, ADatabaseMadeAnewSeesNothingOfTheOld) {
  TempDir dir;
  const Tier tier = open_tier(kLargeTier);
  for (uint32_t version = 1; version <= 3; ++version) {
    const ::rocksdb::Options options = db_options({.secondary = tier.secondary});
    ASSERT_ROCKS_OK(::rocksdb::DestroyDB(dir.file("db"), options));
    TestDb db(dir.file("db"), options);
    db.fill(version);
    db.read_and_verify(10000, version);
  }
  EXPECT_GT(tier.cache->stats().hits, 1000u);
}

TEST(SecondaryCacheDbTest, SeveralDatabasesShareOneCache) {
  TempDir dir;
  const Tier tier = open_tier(kTinyTier);
  TestDb first(dir.file("first"), db_options({.secondary = tier.secondary}));
  TestDb second(dir.file("second"), db_options({.secondary = tier.secondary}));
  first.fill(1);
  second.fill(2);
  for (uint64_t round = 0; round < 10; ++round) {
    first.read_and_verify(2000, 1, round);
    second.read_and_verify(2000, 2, round);
  }
  EXPECT_GT(first.ticker(::rocksdb::SECONDARY_CACHE_HITS), 100u);
  EXPECT_GT(second.ticker(::rocksdb::SECONDARY_CACHE_HITS), 100u);
}

void read_while_resized(TestDb& db, const Tier& tier, const std::vector<size_t>& sizes) {
  std::atomic<bool> done{false};
  std::thread resizer([&] {
    for (size_t i = 0; !done.load(); ++i) {
      EXPECT_ROCKS_OK(tier.secondary->SetCapacity(sizes[i % sizes.size()]));
      std::this_thread::yield();
    }
  });
  db.read_and_verify(20000);
  done = true;
  resizer.join();
}

TEST(SecondaryCacheDbTest, ResizesWhileItIsRead) {
  TempDir dir;
  const Tier tier = open_tier(
      "nvcache://?size=8MiB&max_size=16MiB&admission=always&eviction=clock&verify=always");
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
  db.fill();
  read_while_resized(db, tier, {2 << 20, 16 << 20, 1 << 20, 8 << 20});
  EXPECT_ROCKS_OK(tier.secondary->SetCapacity(4 << 20));
  size_t capacity = 0;
  EXPECT_ROCKS_OK(tier.secondary->GetCapacity(capacity));
  EXPECT_EQ(capacity, 4u << 20);
  EXPECT_LE(tier.cache->stats().used_bytes, 4u << 20);
  EXPECT_TRUE(tier.secondary->SetCapacity(64 << 20).IsInvalidArgument());
  EXPECT_GT(tier.cache->stats().hits, 1000u);
}

TEST(SecondaryCacheDbTest, IsSwitchedOffAndBackByItsCapacity) {
  TempDir dir;
  const Tier tier = open_tier(kLargeTier);
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
  db.fill(0);
  db.read_and_verify(10000, 0);
  const uint64_t hits = db.ticker(::rocksdb::SECONDARY_CACHE_HITS);
  EXPECT_GT(hits, 1000u);

  EXPECT_ROCKS_OK(tier.secondary->SetCapacity(0));
  size_t capacity = 1;
  EXPECT_ROCKS_OK(tier.secondary->GetCapacity(capacity));
  EXPECT_EQ(capacity, 0u);
  EXPECT_EQ(tier.cache->stats().blocks, 0u);
  const Stats off = tier.cache->stats();
  db.fill(1);
  db.read_and_verify(10000, 1);
  EXPECT_EQ(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), hits);
  EXPECT_EQ(tier.cache->stats().inserts, off.inserts);
  EXPECT_EQ(tier.cache->stats().misses, off.misses);

  EXPECT_ROCKS_OK(tier.secondary->SetCapacity(64 << 20));
  db.read_and_verify(10000, 1);
  EXPECT_GT(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), hits + 1000);
}

TEST(SecondaryCacheDbTest, IsSwitchedOffAndBackWhileItIsRead) {
  TempDir dir;
  const Tier tier = open_tier(kTinyTier);
  TestDb db(dir.file("db"), db_options({.secondary = tier.secondary}));
  db.fill();
  read_while_resized(db, tier, {0, 3 << 20, 1 << 20});
  EXPECT_ROCKS_OK(tier.secondary->SetCapacity(0));
  EXPECT_EQ(tier.cache->stats().used_bytes, 0u);
}

// No read of the application runs beside the compaction: all its lookups must be
// known for background.
TEST(SecondaryCacheDbTest, LookupsOfCompactionAreToldApart) {
  TempDir dir;
  const auto fake = std::make_shared<FakeBlockCache>();
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  ASSERT_ROCKS_OK(NewSecondaryCache({.cache = fake}, &secondary));
  ::rocksdb::Options options = db_options({.secondary = secondary});
  options.disable_auto_compactions = true;
  options.max_subcompactions = 2;
  TestDb db(dir.file("db"), options);
  db.fill(0);
  db.fill(1);
  db.read_and_verify(10000, 1);
  const Stats before = fake->stats();
  EXPECT_EQ(before.background_hits + before.background_misses, 0u);
  EXPECT_GT(before.hits, 0u);

  ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
  const Stats after = fake->stats();
  EXPECT_GT(after.background_hits, 0u);
  EXPECT_GT(after.background_misses, 100u);
  EXPECT_EQ(after.background_hits - before.background_hits, after.hits - before.hits);
  EXPECT_EQ(after.background_misses - before.background_misses, after.misses - before.misses);
  EXPECT_EQ(after.background_misses > 0, true);
  db.read_and_verify(10000, 1);
}

TEST(SecondaryCacheDbTest, RegistersItsUri) {
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  ASSERT_ROCKS_OK(::rocksdb::SecondaryCache::CreateFromString(
      ::rocksdb::ConfigOptions(), "nvcache://?size=4MiB&admission=obp(0.1)&eviction=lru",
      &secondary));
  ASSERT_NE(secondary, nullptr);
  EXPECT_STREQ(secondary->Name(), "nvcache");
  size_t capacity = 0;
  EXPECT_ROCKS_OK(secondary->GetCapacity(capacity));
  EXPECT_EQ(capacity, 4u << 20);
}

TEST(SecondaryCacheDbTest, SaysWhatIsWrongWithAUri) {
  for (const std::string spec : {"nvcache://?size=4MiB&eviciton=lru", "nvcache://?size=lots",
                                 "nvcache://", "nvcache://?size=4MiB&eviction=fancy"}) {
    SCOPED_TRACE(spec);
    std::shared_ptr<::rocksdb::SecondaryCache> secondary;
    const ::rocksdb::Status registered =
        ::rocksdb::SecondaryCache::CreateFromString(::rocksdb::ConfigOptions(), spec, &secondary);
    EXPECT_FALSE(registered.ok());
    EXPECT_EQ(secondary, nullptr);
    const ::rocksdb::Status direct = NewSecondaryCache({.spec = spec}, &secondary);
    EXPECT_TRUE(direct.IsInvalidArgument()) << direct.ToString();
    std::shared_ptr<::rocksdb::PersistentCache> persistent;
    EXPECT_TRUE(NewPersistentCache({.spec = spec}, &persistent).IsInvalidArgument());
    const std::string culprit = spec.find("eviciton") != std::string::npos   ? "eviciton"
                                : spec.find("eviction") != std::string::npos ? "eviction"
                                                                             : "size";
    for (const ::rocksdb::Status& status : {registered, direct}) {
      EXPECT_NE(status.ToString().find(culprit), std::string::npos) << status.ToString();
      EXPECT_NE(status.ToString().find("allowed"), std::string::npos) << status.ToString();
    }
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
