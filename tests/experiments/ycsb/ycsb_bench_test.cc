// The benchmark's parts that need no real engine: configurations, output files,
// the database folder, and a run on an engine in memory.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "apps/command/exit_code.h"
#include "apps/command/output_file.h"
#include "base/clock.h"
#include "experiments/workload/record.h"
#include "experiments/ycsb/bench_options.h"
#include "experiments/ycsb/database.h"
#include "experiments/ycsb/run.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

class TempFolder {
 public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "nvcache-test-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(YcsbSeed, DiffersByWorkloadAndRound) {
  BenchOptions options;
  std::set<uint64_t> seeds;
  for (const uint32_t first : {0, 10}) {
    options.first_round = first;
    for (const char* letter : {"a", "b", "c"}) {
      const YcsbWorkload workload = ycsb_workload(letter).value();
      for (uint32_t round = 1; round <= 3; ++round) seeds.insert(seed_of(options, workload, round));
    }
  }
  EXPECT_EQ(seeds.size(), 2u * 3 * 3);
}

// An engine in memory. After `fail_after` reads it fails, or gives a damaged value.
class MapEngine final : public KvEngine {
 public:
  using Rows = std::map<std::string, std::string, std::less<>>;
  explicit MapEngine(Rows rows) : rows_(std::move(rows)) {}

  Status insert(std::string_view key, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    rows_[std::string(key)] = value;
    return ok_status();
  }
  Status update(std::string_view key, std::string_view value) override {
    return insert(key, value);
  }
  Status read(std::string_view key, std::string* value) override {
    const std::lock_guard lock(mutex_);
    const auto row = rows_.find(key);
    if (row == rows_.end()) return not_found_error("no such key");
    *value = row->second;
    if (damage_) (*value)[500] = static_cast<char>((*value)[500] ^ 1);
    ++reads_;
    return ok_status();
  }
  Status scan(std::string_view first_key, uint32_t rows, const RowVisitor& visit) override {
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

RunPlan plan_of(const char* letter) {
  RunPlan plan;
  plan.workload = ycsb_workload(letter).value();
  plan.warmup_workload = plan.workload;
  plan.records = 500;
  plan.threads = 2;
  plan.warmup_seconds = 0.1;
  plan.seconds = 0.3;
  plan.seed = 7;
  plan.title = "test";
  return plan;
}

class RunWorkload : public testing::TestWithParam<const char*> {};

TEST_P(RunWorkload, VerifiesWhatItReadsAndCountsWhatItDoes) {
  MapEngine engine(rows_of(500));
  Progress progress(system_clock());
  const auto result = run_workload(engine, plan_of(GetParam()), system_clock(), progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->ops, 0u);
  EXPECT_GT(result->values_verified, 0u);
  uint64_t recorded = 0;
  for (const Histogram& histogram : result->latency_ns) recorded += histogram.count();
  EXPECT_EQ(recorded, result->ops);
  for (const auto& [key, value] : engine.rows()) ASSERT_TRUE(verify_record(key, value).ok());
  const bool inserts = plan_of(GetParam()).workload.share(OpType::kInsert) > 0;
  EXPECT_EQ(engine.rows().size() > 500, inserts);
}

INSTANTIATE_TEST_SUITE_P(AllWorkloads, RunWorkload, testing::Values("a", "b", "c", "d", "e", "f"));

TEST(RunWorkloadWarmup, EndsAfterItsOperationsIfThatIsSooner) {
  MapEngine engine(rows_of(500));
  Progress progress(system_clock());
  RunPlan plan = plan_of("c");
  plan.warmup_seconds = 60;
  plan.warmup_ops = 100;
  plan.warmup_threads = 5;
  const auto result = run_workload(engine, plan, system_clock(), progress);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->warmup_seconds, 30);
}

TEST(RunWorkloadFailures, ADamagedValueEndsTheRun) {
  MapEngine engine(rows_of(500));
  engine.damage();
  Progress progress(system_clock());
  const auto result = run_workload(engine, plan_of("c"), system_clock(), progress);
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(is_data_loss(result.status()));
  EXPECT_EQ(exit_code_of(result.status()), kExitFailed);
}

TEST(RunWorkloadFailures, AMissingRecordIsNamed) {
  MapEngine engine(rows_of(500));
  engine.lose_all();
  Progress progress(system_clock());
  const auto result = run_workload(engine, plan_of("c"), system_clock(), progress);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("reading user"), std::string::npos) << result.status();
}

TEST(ParseConfiguration, NamesAndMistakes) {
  std::vector<Configuration> list;
  for (const char* text : {"none", "nvcache://?size=1GiB", "nvcache://?size=2GiB",
                           "big=nvcache://?size=3GiB&medium=dram", "plain=none"}) {
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
  const TempFolder folder;
  const std::string path = folder / "out.json";
  ASSERT_TRUE(write_file_whole(path, "one").ok());
  ASSERT_TRUE(write_file_whole(path, "two").ok());
  EXPECT_EQ(contents(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(OutputFile, WhatCannotBeWrittenIsNamedBeforehand) {
  const TempFolder folder;
  EXPECT_TRUE(check_writable("--json", "").ok());
  EXPECT_TRUE(check_writable("--json", folder / "new.json").ok());
  EXPECT_NE(check_writable("--json", folder.path()).message().find("is a directory"),
            std::string::npos);
  const auto missing = check_writable("--html", folder / "no/such/out.html");
  EXPECT_EQ(exit_code_of(missing), kExitUsage);
  EXPECT_NE(missing.message().find("--html"), std::string::npos);
  EXPECT_NE(missing.message().find("does not exist"), std::string::npos);
  EXPECT_FALSE(write_file_whole(folder / "no/such/out.html", "x").ok());
}

// A "database" is a folder with one file.
class FakeKind final : public EngineKind {
 public:
  nlohmann::json describe() const override { return {{"name", "fake"}}; }
  Status load(const std::string& directory, uint64_t count, const SortedRecord& record, uint32_t,
              std::function<void(uint64_t)>) override {
    ++loads;
    fs::create_directory(directory);
    std::string last, key, value;
    for (uint64_t i = 0; i < count; ++i) {
      record(i, &key, &value);
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

  int loads = 0;
  bool fail_load = false;
};

class DatabaseFolder : public testing::Test {
 protected:
  DatabaseFolder() : progress_(system_clock()) {
    options_.records = 1000;
    options_.db = folder_ / "db";
  }
  StatusOr<std::unique_ptr<Database>> prepare() {
    return Database::prepare(kind_, options_, system_clock(), progress_);
  }

  TempFolder folder_;
  FakeKind kind_;
  BenchOptions options_;
  Progress progress_;
};

TEST_F(DatabaseFolder, EveryCopyIsFreshAndAllIsRemoved) {
  {
    auto database = prepare();
    ASSERT_TRUE(database.ok()) << database.status();
    const auto one = (*database)->fresh_copy();
    const auto two = (*database)->fresh_copy();
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_NE(*one, *two);
    EXPECT_EQ(contents(*two + "/data"), "1000");
    (*database)->remove_copy(*one);
    EXPECT_FALSE(fs::exists(*one));
    (*database)->remove_copy(*two);
  }
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(DatabaseFolder, KeptIsUsedAgainAndStays) {
  options_.keep_db = true;
  ASSERT_TRUE(prepare().ok());
  options_.keep_db = false;  // a later run that does not say so must not remove it
  for (int i = 0; i < 2; ++i) {
    auto database = prepare();
    ASSERT_TRUE(database.ok()) << database.status();
    EXPECT_TRUE((*database)->reused());
  }
  EXPECT_EQ(kind_.loads, 1);
  EXPECT_EQ(contents(options_.db + "/loaded/data"), "1000");
}

TEST_F(DatabaseFolder, AnotherDatabaseOrForeignFilesAreLeftAlone) {
  options_.keep_db = true;
  ASSERT_TRUE(prepare().ok());
  options_.records = 2000;
  const auto other = prepare();
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("holds another database"), std::string::npos);
  EXPECT_EQ(contents(options_.db + "/loaded/data"), "1000");

  options_.db = folder_ / "photos";
  options_.keep_db = false;
  fs::create_directories(options_.db + "/loaded");
  std::ofstream(options_.db + "/loaded/cat.jpg") << "cat";
  const auto foreign = prepare();
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.status().message().find("is not empty"), std::string::npos);
  EXPECT_EQ(contents(options_.db + "/loaded/cat.jpg"), "cat");
}

TEST_F(DatabaseFolder, AFailedLoadLeavesNothing) {
  kind_.fail_load = true;
  const auto database = prepare();
  ASSERT_FALSE(database.ok());
  EXPECT_NE(database.status().message().find("on fire"), std::string::npos);
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(DatabaseFolder, TwoAtOnceAreRefused) {
  auto first = prepare();
  ASSERT_TRUE(first.ok());
  const auto second = prepare();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another run is using it"), std::string::npos);
}

}  // namespace
}  // namespace nvcache
