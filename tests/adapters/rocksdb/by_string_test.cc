// A whole block cache that RocksDB's options name by a string, as configuration files and
// `db_bench --cache_uri` do: tiered://?... RocksDB takes one from 9.7 on.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "adapters/rocksdb/versions.h"
#include "rocksdb/convenience.h"
#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::BlockBasedTableOptions;
using ::rocksdb::Cache;
using ::rocksdb::ConfigOptions;

const std::string kSpec = "tiered://?policy=bidirectional(2)&dram=256KiB&tier=(size=4MiB)";
// Without an `id` RocksDB takes what has a `=` in it as settings of the cache that is there, and
// options of a table have one from the beginning.
const std::string kOption = "block_cache={id=" + kSpec + "}";

class ByStringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NVCACHE_ROCKSDB_CACHE_BY_STRING) {
      GTEST_SKIP() << "RocksDB " << ROCKSDB_MAJOR << '.' << ROCKSDB_MINOR
                   << " takes a block cache by a string not yet: from 9.7 on";
    }
  }
};

BlockBasedTableOptions table_of(const std::string& text, const BlockBasedTableOptions& base = {}) {
  BlockBasedTableOptions table;
  EXPECT_ROCKS_OK(
      ::rocksdb::GetBlockBasedTableOptionsFromString(ConfigOptions(), base, text, &table))
      << text;
  return table;
}

// Blocks go down and come up again, and every value is right.
void expect_serves(const BlockBasedTableOptions& table) {
  ASSERT_NE(table.block_cache, nullptr);
  ASSERT_STREQ(table.block_cache->Name(), "nvcache");
  TempDir dir;
  ::rocksdb::Options options = db_options({});
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  TestDb db(dir.file("db"), options);
  db.fill(1);
  db.read_and_verify(10000, 1);
  EXPECT_GT(db.ticker(::rocksdb::SECONDARY_CACHE_HITS), 500u);
}

TEST_F(ByStringTest, ASpecificationMakesACache) {
  std::shared_ptr<Cache> cache;
  ASSERT_ROCKS_OK(Cache::CreateFromString(ConfigOptions(), kSpec, &cache));
  ASSERT_NE(cache, nullptr);
  EXPECT_STREQ(cache->Name(), "nvcache");
  EXPECT_EQ(cache->GetCapacity(), 256u << 10);
  EXPECT_NE(cache->GetPrintableOptions().find("nvcache.tier1: dram, 4194304 bytes"),
            std::string::npos)
      << cache->GetPrintableOptions();
}

TEST_F(ByStringTest, AnOptionNamesTheBlockCacheOfADatabase) {
  const std::string text = kOption + ";block_size=4096;cache_index_and_filter_blocks=true";
  expect_serves(table_of(text));
  ::rocksdb::Options options;
  ASSERT_ROCKS_OK(::rocksdb::GetOptionsFromString(
      ConfigOptions(), ::rocksdb::Options(), "block_based_table_factory={" + text + "}", &options));
  expect_serves(*options.table_factory->GetOptions<BlockBasedTableOptions>());
}

TEST_F(ByStringTest, ItTakesThePlaceOfACacheThatIsThere) {
  BlockBasedTableOptions base;
  base.block_cache = ::rocksdb::NewLRUCache(1 << 20);
  expect_serves(table_of("block_size=4096;" + kOption, base));
}

TEST_F(ByStringTest, AMistakeIsNamed) {
  for (const std::string spec : {"tiered://?dram=1MiB&polcy=dram_first", "tiered://?dram=lots"}) {
    SCOPED_TRACE(spec);
    std::shared_ptr<Cache> cache;
    const ::rocksdb::Status status = Cache::CreateFromString(ConfigOptions(), spec, &cache);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(cache, nullptr);
    const std::string culprit = spec.find("polcy") != std::string::npos ? "polcy" : "lots";
    EXPECT_NE(status.ToString().find(culprit), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("allowed"), std::string::npos) << status.ToString();
  }
}

TEST_F(ByStringTest, StatisticsAreWrittenAtTheEnd) {
  TempDir dir;
  const std::string path = dir.file("stats.json");
  ASSERT_EQ(::setenv("NVCACHE_STATS_JSON", path.c_str(), /*overwrite=*/1), 0);
  {
    const BlockBasedTableOptions table = table_of(kOption);
    ::unsetenv("NVCACHE_STATS_JSON");
    expect_serves(table);
    EXPECT_FALSE(std::ifstream(path).good()) << "the cache is still open";
  }
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"lookups\""), std::string::npos) << text;
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
