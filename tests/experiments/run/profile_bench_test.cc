// `nvcache bench profile`: wrong command lines, and small runs on the real RocksDB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/command/exit_code.h"
#include "apps/report/table.h"
#include "base/clock.h"
#include "experiments/run/bench.h"
#include "experiments/run/profile_files.h"
#include "experiments/run/profile_load.h"
#include "nlohmann/json.hpp"
#include "support/bench_command.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::complaint_for;
using test::exit_code_for;
using test::has_rocksdb;
using testing::HasSubstr;

constexpr char kTiered[] =
    "tiered://?policy=dram_first&dram=512KiB&tier=(size=4MiB,medium=emulated:optane)";

// ---- Command lines ----

TEST(ProfileCommandTest, RefusesWhatItDoesNotKnow) {
  const std::string lru = "lru:size=1MiB";
  EXPECT_THAT(complaint_for({"profile", "--name", "feed", "--cache", lru}), HasSubstr("laser"));
  EXPECT_THAT(complaint_for({"profile", "--name", "laser", "--cache", "nvcache://?size=1MiB"}),
              HasSubstr("tiered://"));
  EXPECT_THAT(complaint_for({"profile", "--name", "laser", "--cache", lru, "--index", "disk"}),
              HasSubstr("cache and memory"));
  EXPECT_THAT(complaint_for({"profile", "--name", "laser", "--cache", lru, "--rate", "7"}),
              HasSubstr("sine and max"));
  EXPECT_THAT(
      complaint_for({"profile", "--name", "laser", "--cache", "a=" + lru, "--cache", "a=" + lru}),
      HasSubstr("twice"));
  EXPECT_EQ(exit_code_for({"profile", "--name", "laser"}), kExitUsage);
  if (!has_rocksdb()) return;
  for (const char* cache : {"lru:size=none", "lru:shards=2", "lru:size=1MiB,color=red",
                            "tiered://?dram=1MiB&policy=none"}) {
    EXPECT_THAT(complaint_for({"profile", "--name", "laser", "--cache", cache}),
                HasSubstr("cache "));
  }
}

// ---- Runs ----

class SmallRun : public testing::Test {
 protected:
  SmallRun() {
    load_.profile = find_workload_profile("whatsapp").value();
    load_.profile.databases = 2;
    load_.gb_bytes = 32 << 10;  // 25,600 pairs a database
    load_.seed = 1;
    options_.engine = "rocksdb-small";
    options_.storage = "emulated:flash";
    options_.index_in_cache = true;
    options_.configurations = {
        {"lru", "lru:size=1MiB"},
        {"tiered", "tiered://?dram=1MiB&tier=(size=1MiB)"}};  // not all of it
    options_.threads = 2;
    options_.seconds = 0.4;
    options_.warmup_seconds = 0.3;
    options_.rounds = 1;
    options_.db = folder_.path() + "/db";
    options_.command = "test";
  }
  void SetUp() override {
    if (!has_rocksdb()) GTEST_SKIP() << "built without RocksDB";
  }

  TempDir folder_{fs::current_path()};  // on a disk, for direct I/O
  StatusOr<json> run() {
    options_.loads = {make_profile_load(load_)};
    return run_bench(options_, system_clock());
  }

  ProfileLoadOptions load_;
  EngineBenchOptions options_;
};

TEST_F(SmallRun, ALowerTierSavesReadsAndEveryValueIsRight) {
  const auto document = run();
  ASSERT_TRUE(document.ok()) << document.status();
  const json& runs = (*document)["runs"];
  ASSERT_EQ(runs.size(), 2u);
  for (const json& run : runs) {
    EXPECT_GT(run["values_verified"].get<uint64_t>(), 0u);
    EXPECT_GT(run["operations"]["get"].get<uint64_t>(), 0u);
    EXPECT_GT(run["operations"]["put"].get<uint64_t>(), 0u);
    EXPECT_GT(run["rows_scanned"].get<uint64_t>(), 0u);
    // No read ends sooner than the model of the storage says.
    EXPECT_GT(run["metrics"]["storage_read_p50_us"].get<double>(), 83);
  }
  const json& lru = runs[0]["metrics"];
  const json& tiered = runs[1]["metrics"];
  EXPECT_LT(tiered["storage_reads_per_op"].get<double>(),
            0.9 * lru["storage_reads_per_op"].get<double>());
  EXPECT_GT(tiered["hit_ratio"].get<double>(), lru["hit_ratio"].get<double>());
  EXPECT_EQ(runs[1]["tiers"]["tiers"].size(), 2u);
  EXPECT_GT(runs[1]["tiers"]["tiers"][1]["hits"].get<uint64_t>(), 0u);
  const auto tables = ycsb_tables(*document);
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT(*tables, HasSubstr("on emulated:flash"));
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(SmallRun, KeptDatabasesServeAgainAndOthersAreLeftAlone) {
  options_.configurations = {{"lru", "lru:size=1MiB"}};
  options_.seconds = 0.1;
  options_.keep_db = true;
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(fs::exists(options_.db + "/run-1"));
  auto again = run();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE((*again)["databases"][0]["load_seconds"].is_null());
  EXPECT_EQ((*again)["databases"][0]["pairs"].get<uint64_t>(),
            scaled_keys(load_.profile, load_.gb_bytes));
  load_.gb_bytes *= 2;
  EXPECT_THAT(std::string(run().status().message()), HasSubstr("holds another database"));
  options_.db = folder_.path() + "/mine";
  fs::create_directory(options_.db);
  std::ofstream(options_.db + "/precious") << "x";
  EXPECT_TRUE(is_failed_precondition(run().status()));
  EXPECT_TRUE(fs::exists(options_.db + "/precious"));
}

TEST_F(SmallRun, TheSineHoldsTheRate) {
  options_.configurations = {{"lru", "lru:size=8MiB"}};
  load_.sine = true;
  options_.storage = "disk";
  load_.profile.qps_mean = 500;
  load_.profile.qps_swing = 100;
  load_.profile.qps_period_seconds = 0.2;
  options_.seconds = 1;
  const auto document = run();
  ASSERT_TRUE(document.ok()) << document.status();
  // Never more than what is due, and some slack for a busy machine.
  const double ops = (*document)["runs"][0]["metrics"]["ops_per_second"].get<double>();
  EXPECT_LT(ops, 800);
  EXPECT_GT(ops, 100);
}

TEST_F(SmallRun, ProcessorsKeptAwakeAreNotCountedAsWork) {
  options_.configurations = {{"lru", "lru:size=8MiB"}};
  load_.sine = options_.awake = true;
  load_.profile.qps_mean = 500;
  load_.profile.qps_swing = 100;
  const auto document = run();
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_TRUE((*document)["setup"]["awake"].get<bool>());
  // The threads that keep processors awake take all idle time: with theirs it would be 1.
  EXPECT_LT((*document)["runs"][0]["metrics"]["cpu_ratio"].get<double>(), 0.7);
  EXPECT_THAT(ycsb_tables(*document).value(), HasSubstr("processors awake"));
}

TEST_F(SmallRun, AMistakeInACacheIsFoundBeforeLoading) {
  options_.configurations.push_back({"typo", "tiered://?dram=1MiB&polcy=dram_first"});
  const auto document = run();
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(exit_code_of(document.status()), kExitUsage);
  EXPECT_THAT(std::string(document.status().message()),
              testing::AllOf(HasSubstr("configuration typo"), HasSubstr("polcy")));
  EXPECT_FALSE(fs::exists(options_.db));
}

using SmallRunDeathTest = SmallRun;

TEST_F(SmallRunDeathTest, AnInterruptRemovesTheDatabasesAndEndsWith130) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  options_.seconds = 60;
  // The child makes its own folder: this fixture is made again in it.
  EXPECT_EXIT(test::exit_by_interrupt(options_.db, folder_.path(), [&] { return run().status(); }),
              testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace nvcache
