// Databases with a cache each, and one tier under all of them.
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

TierStats tier_under(const Tiered& tiered) { return tiered.opened->stats().tiers[1]; }

void drain_tier(const Tiered& tiered) { tiered.opened->control()->drain(); }

TEST(SharedTierDb, TwoDatabasesWithTwoCachesHaveOneTier) {
  TempDir dir;
  const std::string spec = "tiered://?dram=256KiB&tier=(name=two_databases,size=32MiB)";
  const Tiered one(spec);
  const Tiered other(spec);
  {
    TestDb first(dir.file("first"), tiered_options(one.cache));
    TestDb second(dir.file("second"), tiered_options(other.cache));
    first.fill(1);
    second.fill(2);
    std::thread beside([&] { second.read_and_verify(12000, 2); });
    first.read_and_verify(12000, 1);
    beside.join();
    first.read_and_verify(12000, 1, /*salt=*/1);
    second.read_and_verify(12000, 2, /*salt=*/1);
    for (const Tiered* const tiered : {&one, &other}) {
      EXPECT_EQ(tier_under(*tiered).users, 2u);
      EXPECT_EQ(tier_under(*tiered).size_bytes, 32u << 20);
      EXPECT_GT(tier_under(*tiered).hits, 1000u);
    }
    EXPECT_EQ(tier_under(one).hits + tier_under(other).hits, tier_under(one).block_cache.hits);
  }
  other.expect_drained();
  EXPECT_GT(tier_under(one).blocks, 1000u) << "those of the first database stay";
  one.expect_drained();
}

// The second database is a copy of the first: its files have the same keys.
TEST(SharedTierDb, FilesThatOneDatabaseDeletesStayInTheCacheOfTheOther) {
  TempDir dir;
  const std::string spec = "tiered://?dram=256KiB&tier=(name=copies,size=64MiB)";
  const Tiered one(spec);
  const Tiered other(spec);
  {
    TestDb original(dir.file("original"), tiered_options(one.cache));
    original.fill(1);
    original.close();
    std::filesystem::copy(dir.file("original"), dir.file("copy"),
                          std::filesystem::copy_options::recursive);
  }
  ::rocksdb::Options options = tiered_options(one.cache);
  options.listeners.push_back(NewDeletedFilesListener(one.opened));
  TestDb changes(dir.file("original"), options);
  TestDb stays(dir.file("copy"), tiered_options(other.cache));
  changes.read_and_verify(12000, 1);
  drain_tier(one);
  const uint64_t of_one = tier_under(one).blocks;
  stays.read_and_verify(12000, 1);
  drain_tier(other);
  const uint64_t of_other = tier_under(one).blocks - of_one;
  EXPECT_GT(of_other, 1000u) << "each has its own";
  changes.fill(2);
  ::rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = ::rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_ROCKS_OK(changes->CompactRange(all, nullptr, nullptr));
  while (tier_under(one).block_cache.erases < of_one / 2) std::this_thread::yield();
  EXPECT_GE(tier_under(one).blocks, of_other);
  const uint64_t hits = tier_under(other).hits;
  stays.read_and_verify(4000, 1);
  EXPECT_GT(tier_under(other).hits - hits, 1000u);
  changes.read_and_verify(4000, 2);
}

TEST(SharedTierDb, ATierIsWarmForBothAfterAReopening) {
  TempDir dir;
  const std::string spec =
      "tiered://?dram=256KiB&tier=(name=warm_databases,size=40MiB,medium=file:" + dir.file("tier") +
      ",space=regions,restart=warm)";
  {
    const Tiered one(spec);
    const Tiered other(spec);
    TestDb first(dir.file("first"), tiered_options(one.cache));
    TestDb second(dir.file("second"), tiered_options(other.cache));
    first.fill(1);
    second.fill(2);
    for (TestDb* const db : {&first, &second}) {
      ASSERT_ROCKS_OK((*db)->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    }
    first.read_and_verify(12000, 1);
    second.read_and_verify(12000, 2);
    drain_tier(one);
    drain_tier(other);
    EXPECT_GT(tier_under(one).blocks, 3000u);
  }
  const Tiered other(spec);  // in another order than before
  const Tiered one(spec);
  TestDb second(dir.file("second"), tiered_options(other.cache));
  TestDb first(dir.file("first"), tiered_options(one.cache));
  while (tier_under(one).block_cache.recovering != 0) std::this_thread::yield();
  EXPECT_GT(tier_under(one).block_cache.recovered_blocks, 3000u);
  for (const auto& [tiered, db, version] :
       {std::tuple{&one, &first, 1u}, std::tuple{&other, &second, 2u}}) {
    db->read_and_verify(5000, version, /*salt=*/9);
    const TieredStats stats = tiered->opened->stats();
    EXPECT_GT(stats.tiers[1].hits, 1000u);
    EXPECT_LT(stats.misses, stats.lookups / 10);
  }
  EXPECT_EQ(tier_under(one).block_cache.damaged_blocks, 0u);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
