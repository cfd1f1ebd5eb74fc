// Pages as large as WiredTiger's leaf_page_max allows a cached block to be, in a small cache.
#include <string>

#include "tiers.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

struct PageSize {
  const char* name;
  uint32_t kib;
};
std::ostream& operator<<(std::ostream& out, const PageSize& size) { return out << size.name; }

class LargePages : public ::testing::TestWithParam<PageSize> {};

// The table fits, so nearly all reads but the first of each page are served.
TEST_P(LargePages, AreServedFromASmallCache) {
  TempDir dir;
  Database db(dir.file("db"));
  ASSERT_WT_OK(db.open({.spec = "nvcache://?size=16MiB&admission=always&eviction=clock&shards=16",
                        .writes = "offer"},
                       "cache_size=6MB"))
      << db.messages();
  const std::string page = std::to_string(GetParam().kib) + "KB";
  VersionedTables tables({.create = "allocation_size=4KB,memory_page_max=2MB,leaf_page_max=" + page,
                          .tables = 1,
                          .keys = 24000},
                         test_seed());
  tables.create_in_bulk(db.get());
  for (int round = 0; round < 4; ++round) tables.verify(db.get());
  ASSERT_GOOD(tables) << db.messages();
  ASSERT_WT_OK(db.close());
  if (!has_extension()) GTEST_SKIP() << "no extension given";
  const TierStats stats = db.stats();
  ASSERT_TRUE(stats.complete()) << stats.text();
  EXPECT_GT(stats.of_files("served_reads"), stats.of_files("disk_reads")) << stats.text();
  EXPECT_GT(stats.of_files("served_bytes") / stats.of_files("served_reads"),
            GetParam().kib * 512ULL)
      << "pages are as large as they should be";
}

INSTANTIATE_TEST_SUITE_P(Sizes, LargePages,
                         ::testing::Values(PageSize{"Usual", 32}, PageSize{"Of128KiB", 128},
                                           PageSize{"Of512KiB", 512}, PageSize{"Of1MiB", 1024}),
                         [](const auto& size) { return size.param.name; });

}  // namespace
}  // namespace nvcache::wt_test
