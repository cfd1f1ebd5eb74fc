// Runs on an engine that need no real one: configurations, output files, the folder of databases,
// and a run on an engine in memory.
#include "experiments/run/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "apps/command/exit_code.h"
#include "apps/command/output_file.h"
#include "base/clock.h"
#include "experiments/run/bench.h"
#include "experiments/run/databases.h"
#include "experiments/run/ycsb_load.h"
#include "experiments/workload/record.h"
#include "nlohmann/json.hpp"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Load> load_of(std::string_view letter, uint64_t records = 500) {
  YcsbLoadOptions options;
  options.workload = ycsb_workload(letter).value();
  options.records = records;
  options.seed = 1;
  return make_ycsb_load(options);
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Seeds, DifferByWorkloadAndRound) {
  BenchOptions options;
  std::set<uint64_t> seeds;
  for (const uint32_t first : {0, 10}) {
    options.first_round = first;
    for (const char* letter : {"a", "b", "c"}) {
      const auto load = load_of(letter);
      for (uint32_t round = 1; round <= 3; ++round) seeds.insert(seed_of(options, *load, round));
    }
  }
  EXPECT_EQ(seeds.size(), 2u * 3 * 3);
}

// An engine in memory. After `fail_after` reads it fails, or gives a damaged value.
class MapEngine final : public KvEngine {
 public:
  using Rows = std::map<std::string, std::string, std::less<>>;
  explicit MapEngine(Rows rows) : rows_(std::move(rows)) {}

  Status put(uint32_t, std::string_view key, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    rows_[std::string(key)] = value;
    return ok_status();
  }
  Status read(uint32_t, std::string_view key, std::string* value) override {
    const std::lock_guard lock(mutex_);
    const auto row = rows_.find(key);
    if (row == rows_.end()) return not_found_error("no such key");
    *value = row->second;
    if (damage_) (*value)[500] = static_cast<char>((*value)[500] ^ 1);
    ++reads_;
    return ok_status();
  }
  Status scan(uint32_t, std::string_view first_key, uint32_t rows,
              const RowVisitor& visit) override {
    const std::lock_guard lock(mutex_);
    for (auto row = rows_.lower_bound(first_key); row != rows_.end() && rows > 0; ++row, --rows) {
      if (Status status = visit(row->first, row->second); !status.ok()) return status;
    }
    return ok_status();
  }
  uint64_t thread_block_reads() override { return 0; }
  EngineMetrics metrics() const override { return {}; }
  Status close() override { return ok_status(); }

  void damage() { damage_ = true; }
  void lose_all() { rows_.clear(); }
  const Rows& rows() const { return rows_; }

 private:
  std::mutex mutex_;
  Rows rows_;
  bool damage_ = false;
  uint64_t reads_ = 0;
};

MapEngine::Rows rows_of(uint64_t count) {
  MapEngine::Rows rows;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = record_key(i);
    std::string value(kRecordBytes, '\0');
    fill_record(key, 1, std::span<char, kRecordBytes>(value.data(), kRecordBytes));
    rows.emplace(key, value);
  }
  return rows;
}

RunPlan small_plan() {
  RunPlan plan;
  plan.threads = 2;
  plan.warmup_seconds = 0.1;
  plan.seconds = 0.3;
  plan.title = "test";
  return plan;
}

StatusOr<RunResult> run(KvEngine& engine, const char* letter, const RunPlan& plan = small_plan()) {
  Progress progress(system_clock());
  return run_load(engine, *load_of(letter), 7, plan, system_clock(), progress);
}

class RunLoad : public testing::TestWithParam<const char*> {};

TEST_P(RunLoad, VerifiesWhatItReadsAndCountsWhatItDoes) {
  MapEngine engine(rows_of(500));
  const auto result = run(engine, GetParam());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->ops, 0u);
  EXPECT_GT(result->values_verified, 0u);
  uint64_t recorded = 0;
  for (const Histogram& histogram : result->latency_ns) recorded += histogram.count();
  EXPECT_EQ(recorded, result->ops);
  for (const auto& [key, value] : engine.rows()) ASSERT_TRUE(verify_record(key, value).ok());
  const bool inserts = ycsb_workload(GetParam()).value().share(OpType::kInsert) > 0;
  EXPECT_EQ(engine.rows().size() > 500, inserts);
}

INSTANTIATE_TEST_SUITE_P(AllWorkloads, RunLoad, testing::Values("a", "b", "c", "d", "e", "f"));

TEST(RunLoadWarmup, EndsAfterItsOperationsIfThatIsSooner) {
  MapEngine engine(rows_of(500));
  RunPlan plan = small_plan();
  plan.warmup_seconds = 60;
  plan.warmup_ops = 100;
  plan.warmup_threads = 5;
  const auto result = run(engine, "c", plan);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->warmup_seconds, 30);
}

TEST(RunLoadFailures, ADamagedValueEndsTheRun) {
  MapEngine engine(rows_of(500));
  engine.damage();
  const auto result = run(engine, "c");
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(is_data_loss(result.status()));
  EXPECT_EQ(exit_code_of(result.status()), kExitFailed);
}

TEST(RunLoadFailures, AMissingRecordIsNamed) {
  MapEngine engine(rows_of(500));
  engine.lose_all();
  const auto result = run(engine, "c");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("reading user"), std::string::npos) << result.status();
}

TEST(ParseConfiguration, NamesAndMistakes) {
  std::vector<Configuration> list;
  for (const char* text : {"none", "nvcache://?size=1GiB", "nvcache://?size=2GiB",
                           "big=nvcache://?size=3GiB&medium=dram", "plain=none", "lru:size=1MiB",
                           "tiered://?dram=1MiB&tier=(size=1MiB)", "own=wtcache:dram,size=1MiB"}) {
    auto configuration = parse_configuration(text, list);
    ASSERT_TRUE(configuration.ok()) << configuration.status();
    list.push_back(*configuration);
  }
  EXPECT_EQ(list[0].name, "none");
  EXPECT_FALSE(list[0].has_tier());
  EXPECT_EQ(list[1].name, "nvcache");
  EXPECT_EQ(list[2].name, "nvcache-2");
  EXPECT_EQ(list[3].name, "big");
  EXPECT_EQ(list[3].spec, "nvcache://?size=3GiB&medium=dram");
  EXPECT_FALSE(list[4].has_tier());
  EXPECT_EQ(list[5].name, "lru");
  EXPECT_EQ(list[6].name, "tiered");
  EXPECT_EQ(list[6].spec, "tiered://?dram=1MiB&tier=(size=1MiB)");
  for (size_t i = 5; i < list.size(); ++i) EXPECT_TRUE(list[i].has_own_cache());
  const auto message = [&](const char* text) {
    return std::string(parse_configuration(text, list).status().message());
  };
  EXPECT_NE(message("nvcache").find("'nvcache': allowed are none, nvcache://"), std::string::npos);
  EXPECT_NE(message("x=file:/tmp").find("'x=file:/tmp': allowed are"), std::string::npos);
  EXPECT_NE(message("big=none").find("the name big is given twice"), std::string::npos);
  EXPECT_NE(message("=none").find("1 to 16 characters"), std::string::npos);
  EXPECT_NE(message("seventeen-letters=none").find("1 to 16 characters"), std::string::npos);
}

TEST(OutputFile, IsReplacedWholeAndLeavesNothingBeside) {
  const TempDir folder;
  const std::string path = folder.file("out.json");
  ASSERT_TRUE(write_file_whole(path, "one").ok());
  ASSERT_TRUE(write_file_whole(path, "two").ok());
  EXPECT_EQ(contents(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(OutputFile, WhatCannotBeWrittenIsNamedBeforehand) {
  const TempDir folder;
  EXPECT_TRUE(check_writable("--json", "").ok());
  EXPECT_TRUE(check_writable("--json", folder.file("new.json")).ok());
  EXPECT_NE(check_writable("--json", folder.path()).message().find("is a directory"),
            std::string::npos);
  const auto missing = check_writable("--html", folder.file("no/such/out.html"));
  EXPECT_EQ(exit_code_of(missing), kExitUsage);
  EXPECT_NE(missing.message().find("--html"), std::string::npos);
  EXPECT_NE(missing.message().find("does not exist"), std::string::npos);
  EXPECT_FALSE(write_file_whole(folder.file("no/such/out.html"), "x").ok());
}

// A "database" is a folder with one file.
class FakeKind final : public EngineKind {
 public:
  nlohmann::json describe() const override { return {{"name", "fake"}}; }
  Status load(const std::string& directory, uint32_t, uint64_t count, const SortedPair& pair,
              uint32_t, std::function<void(uint64_t)>) override {
    ++loads;
    std::string last, key, value;
    for (uint64_t i = 0; i < count; ++i) {
      pair(0, i, &key, &value);
      if (key <= last) return internal_error("records are not sorted");
      if (Status status = verify_record(key, value); !status.ok()) return status;
      last = key;
    }
    std::ofstream(directory + "/data") << count;
    return fail_load ? internal_error("the disk is on fire") : ok_status();
  }
  Status clone(const std::string& from, const std::string& to) override {
    fs::copy(from, to);
    return ok_status();
  }
  StatusOr<std::unique_ptr<KvEngine>> open(const EngineOptions&) override {
    return unimplemented_error("not needed");
  }
  Status check_own_cache(std::string_view) const override { return ok_status(); }

  int loads = 0;
  bool fail_load = false;
};

class DatabasesTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<Databases>> take(bool keep = false) {
    return Databases::take(db_, keep);
  }
  StatusOr<Loaded> load(Databases& databases, uint64_t records = 1000) {
    return databases.load(kind_, *load_of("c", records), 1, system_clock(), progress_);
  }

  const TempDir folder_;
  std::string db_ = folder_.file("db");
  FakeKind kind_;
  Progress progress_{system_clock()};
};

TEST_F(DatabasesTest, EveryRunHasAFolderAndAllIsRemoved) {
  {
    auto databases = take();
    ASSERT_TRUE(databases.ok()) << databases.status();
    ASSERT_TRUE(load(**databases).ok());
    const std::string one = (*databases)->run_folder(), two = (*databases)->run_folder();
    EXPECT_NE(one, two);
    for (const std::string& copy : {one, two}) {
      ASSERT_TRUE(kind_.clone((*databases)->path("ycsb"), copy).ok());
      EXPECT_EQ(contents(copy + "/data"), "1000");
    }
    (*databases)->remove_runs();
    EXPECT_FALSE(fs::exists(one));
  }
  EXPECT_FALSE(fs::exists(db_));
}

TEST_F(DatabasesTest, WhatIsDoneWithGoesUnlessItIsKept) {
  for (const bool keep : {false, true}) {
    auto databases = take(keep);
    ASSERT_TRUE(load(**databases).ok());
    (*databases)->done_with("ycsb");
    EXPECT_EQ(fs::exists(db_ + "/ycsb/data"), keep);
  }
  EXPECT_TRUE(fs::exists(db_ + "/ycsb/data"));
}

TEST_F(DatabasesTest, KeptIsUsedAgainAndStays) {
  ASSERT_TRUE(load(**take(true)).ok());
  for (int i = 0; i < 2; ++i) {  // a later run that does not keep must not remove it
    auto databases = take(false);
    const auto loaded = load(**databases);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->load_seconds, 0);
    (*databases)->done_with("ycsb");
  }
  EXPECT_EQ(kind_.loads, 1);
  EXPECT_EQ(contents(db_ + "/ycsb/data"), "1000");
}

TEST_F(DatabasesTest, AnotherDatabaseOrForeignFilesAreLeftAlone) {
  ASSERT_TRUE(load(**take(true)).ok());
  const auto other = load(**take(), 2000);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("holds another database"), std::string::npos);
  EXPECT_EQ(contents(db_ + "/ycsb/data"), "1000");

  db_ = folder_.file("photos");
  fs::create_directories(db_ + "/run-1");
  std::ofstream(db_ + "/run-1/cat.jpg") << "cat";
  const auto foreign = take();
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.status().message().find("is not empty"), std::string::npos);
  EXPECT_EQ(contents(db_ + "/run-1/cat.jpg"), "cat");
}

TEST_F(DatabasesTest, AFailedLoadLeavesNothing) {
  kind_.fail_load = true;
  {
    auto databases = take(true);
    const auto loaded = load(**databases);
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.status().message().find("on fire"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(db_));
}

TEST_F(DatabasesTest, TwoAtOnceAreRefused) {
  auto first = take();
  ASSERT_TRUE(first.ok());
  const auto second = take();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another run is using it"), std::string::npos);
}

}  // namespace
}  // namespace nvcache
