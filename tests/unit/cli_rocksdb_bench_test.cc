// `nvcache bench ycsb` on the real RocksDB, small: from loading to the report.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "cli/bench/engine.h"
#include "cli/bench/ycsb_command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/report/html.h"
#include "cli/report/table.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

class RocksdbBench : public testing::Test {
 protected:
  RocksdbBench() {
    // Not the system's temporary folder: that may be in memory, without direct I/O.
    std::string name = (fs::current_path() / "bench-test-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    options_.db = folder_ + "/db";
    options_.records = 5000;
    options_.threads = 2;
    options_.seconds = 0.4;
    options_.warmup_seconds = 0.2;
    options_.rounds = 1;
    options_.dram_cache_bytes = 256 << 10;
    options_.configurations = {{"none", ""}, {"tier", kSpec}};
    options_.command = "test";
  }
  ~RocksdbBench() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void SetUp() override {
    if (!make_engine_kind("rocksdb").ok()) GTEST_SKIP() << "built without RocksDB";
  }

  static constexpr char kSpec[] = "nvcache://?size=16MiB&medium=dram&admission=always&eviction=lru";
  std::string folder_;
  BenchOptions options_;
};

TEST_F(RocksdbBench, ASecondTierSavesBlockReadsAndEveryValueIsRight) {
  options_.workloads = {ycsb_workload("c").value(), ycsb_workload("a").value()};
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  ASSERT_EQ((*document)["runs"].size(), 4u);
  for (const auto& run : (*document)["runs"]) {
    EXPECT_GT(run["values_verified"].get<uint64_t>(), 0u);
    // A tier that holds the whole database may leave none to read.
    if (run["configuration"] == "none") {
      EXPECT_GT(run["metrics"]["block_reads_per_op"].get<double>(), 0);
    }
  }
  for (const auto& entry : (*document)["summary"]) {
    if (entry["configuration"] == "none") continue;
    EXPECT_LT(entry["ratio_to_first"]["block_reads_per_op"]["median"].get<double>(), 0.9) << entry;
    EXPECT_GT(entry["metrics"]["tier_hit_ratio"]["median"].get<double>(), 0.1) << entry;
    EXPECT_EQ(entry["metrics"]["tier_damaged_blocks"]["median"].get<double>(), 0);
  }
  EXPECT_TRUE(check_report_document(*document).ok());
  EXPECT_TRUE(report_html({*document}).ok());
  EXPECT_TRUE(ycsb_tables(*document).ok());
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(RocksdbBench, InsertsAndScansWork) {
  options_.workloads = {ycsb_workload("d").value(), ycsb_workload("e").value(),
                        ycsb_workload("f").value()};
  options_.configurations = {{"tier", kSpec}};
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_GT((*document)["runs"][0]["operations"]["insert"].get<uint64_t>(), 0u);
  EXPECT_GT((*document)["runs"][1]["rows_scanned"].get<uint64_t>(), 0u);
  EXPECT_GT((*document)["runs"][2]["operations"]["read_modify_write"].get<uint64_t>(), 0u);
}

TEST_F(RocksdbBench, AMistakeInASpecificationIsFoundBeforeLoading) {
  options_.workloads = {ycsb_workload("c").value()};
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
  options_.workloads = {ycsb_workload("a").value()};
  options_.seconds = 60;
  // The child makes its own folder: this fixture is made again in it.
  EXPECT_EXIT(
      {
        watch_for_interrupt();
        std::thread([] {
          std::this_thread::sleep_for(std::chrono::milliseconds(1500));
          ::kill(::getpid(), SIGINT);
        }).detach();
        const auto document = run_bench(options_, system_clock());
        const bool removed = !fs::exists(options_.db);
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
        std::_Exit(removed ? exit_code_of(document.status()) : 99);
      },
      testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace nvcache
