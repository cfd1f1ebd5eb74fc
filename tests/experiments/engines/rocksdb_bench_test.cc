// `nvcache bench ycsb` on the real RocksDB, small: from loading to the report.
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/command/exit_code.h"
#include "base/clock.h"
#include "experiments/engines/engine.h"
#include "nlohmann/json.hpp"
#include "support/command_line.h"
#include "support/engine_bench.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

class RocksdbBench : public testing::Test {
 protected:
  RocksdbBench() {
    options_.warmup_seconds = 0.2;
    options_.dram_cache_bytes = 256 << 10;
  }

  void SetUp() override {
    if (!make_engine_kind("rocksdb").ok()) GTEST_SKIP() << "built without RocksDB";
  }

  static constexpr char kSpec[] = "nvcache://?size=16MiB&medium=dram&admission=always&eviction=lru";
  TempDir folder_{fs::current_path()};
  EngineBenchOptions options_ = small_bench(folder_.path(), kSpec);
};

TEST_F(RocksdbBench, ASecondTierSavesBlockReadsAndEveryValueIsRight) {
  options_.loads = ycsb_loads("ca", 5000);
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  ASSERT_NO_FATAL_FAILURE(expect_tier_saves_reads(*document, 4));
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(RocksdbBench, InsertsAndScansWork) {
  options_.loads = ycsb_loads("def", 5000);
  options_.configurations = {{"tier", kSpec}};
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_GT((*document)["runs"][0]["operations"]["insert"].get<uint64_t>(), 0u);
  EXPECT_GT((*document)["runs"][1]["rows_scanned"].get<uint64_t>(), 0u);
  EXPECT_GT((*document)["runs"][2]["operations"]["read_modify_write"].get<uint64_t>(), 0u);
}

TEST_F(RocksdbBench, AMistakeInASpecificationIsFoundBeforeLoading) {
  options_.loads = ycsb_loads("c", 5000);
  options_.configurations.push_back({"typo", "nvcache://?size=16MiB&admision=always"});
  const auto document = run_bench(options_, system_clock());
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(exit_code_of(document.status()), kExitUsage);
  const std::string message(document.status().message());
  EXPECT_NE(message.find("configuration typo"), std::string::npos) << message;
  EXPECT_NE(message.find("admision"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(options_.db));
}

using RocksdbBenchDeathTest = RocksdbBench;

TEST_F(RocksdbBenchDeathTest, AnInterruptRemovesTheDatabaseAndEndsWith130) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  options_.loads = ycsb_loads("a", 5000);
  options_.seconds = 60;
  // The child makes its own folder: this fixture is made again in it.
  EXPECT_EXIT(test::exit_by_interrupt(options_.db, folder_.path(),
                                      [&] { return run_bench(options_, system_clock()).status(); }),
              testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace nvcache
