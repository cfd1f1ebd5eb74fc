// `nvcache bench ycsb` on the real WiredTiger, small; and the engine by itself: what it
// reads, scans and keeps, with and without a second tier.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "apps/command/exit_code.h"
#include "base/clock.h"
#include "experiments/engines/engine.h"
#include "experiments/harness/copy_folder.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "support/engine_bench.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr char kSpec[] = "nvcache://?size=32MiB&medium=dram&admission=always&eviction=lru";
constexpr uint64_t kRows = 8000;

std::string row_key(uint64_t i) { return fmt::format("key{:08}", i); }
std::string row_value(uint64_t i, int version = 0) {
  return fmt::format("value {} of row {:08} ", version, i) + std::string(1000, 'a' + i % 26);
}

EngineOptions at(const std::string& folder, const std::string& spec, const std::string& own_cache,
                 const std::shared_ptr<BlockCache>& tier) {
  EngineOptions options;
  options.directory = folder;
  options.dram_cache_bytes = 2 << 20;
  options.tier_spec = spec;
  options.tier = tier;
  options.own_cache = own_cache;
  return options;
}

class WiredtigerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto kind = make_engine_kind("wiredtiger");
    if (!kind.ok()) GTEST_SKIP() << kind.status();
    kind_ = *std::move(kind);
  }

  TempDir folder_{fs::current_path()};
  std::unique_ptr<EngineKind> kind_;
};

class WiredtigerEngineTest : public WiredtigerTest {
 protected:
  void load() {
    const SortedPair pair = [](uint32_t, uint64_t i, std::string* key, std::string* value) {
      *key = row_key(i);
      *value = row_value(i);
    };
    const Status status = kind_->load(loaded(), 1, kRows, pair, 2, [](uint64_t) {});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::unique_ptr<KvEngine> open(const std::string& folder, const std::string& spec = "",
                                 const std::string& own_cache = "") {
    auto engine = kind_->open(at(folder, spec, own_cache, nullptr));
    EXPECT_TRUE(engine.ok()) << engine.status();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  static void expect_row(KvEngine& engine, uint64_t i, const std::string& wanted) {
    std::string value;
    const Status status = engine.read(0, row_key(i), &value);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(value, wanted) << i;
  }

  std::string loaded() const { return folder_.file("loaded"); }
};

TEST_F(WiredtigerEngineTest, ReadsUpdatesInsertsAndScans) {
  load();
  auto engine = open(loaded());
  ASSERT_NE(engine, nullptr);
  expect_row(*engine, 17, row_value(17));
  ASSERT_TRUE(engine->put(0, row_key(17), row_value(17, 1)).ok());
  ASSERT_TRUE(engine->put(0, row_key(kRows), row_value(kRows)).ok());
  expect_row(*engine, 17, row_value(17, 1));
  std::string value;
  EXPECT_TRUE(is_not_found(engine->read(0, "nothing", &value)));

  std::vector<std::string> keys;
  const auto visit = [&](std::string_view key, std::string_view) {
    keys.emplace_back(key);
    return ok_status();
  };
  // From a key that is not there, and past the last row.
  ASSERT_TRUE(engine->scan(0, row_key(kRows - 2) + "x", 10, visit).ok());
  EXPECT_EQ(keys, (std::vector{row_key(kRows - 1), row_key(kRows)}));
  keys.clear();
  ASSERT_TRUE(engine->scan(0, row_key(100), 3, visit).ok());
  EXPECT_EQ(keys, (std::vector{row_key(100), row_key(101), row_key(102)}));
  keys.clear();
  ASSERT_TRUE(engine->scan(0, "zzz", 3, visit).ok());
  EXPECT_TRUE(keys.empty());
  const Status stopped =
      engine->scan(0, row_key(0), 5, [](auto, auto) { return data_loss_error("wrong"); });
  EXPECT_TRUE(is_data_loss(stopped));
  EXPECT_TRUE(engine->close().ok());
}

TEST_F(WiredtigerEngineTest, WhatWasWrittenIsThereAfterReopeningAndNotInTheOriginal) {
  load();
  const std::string copy = folder_.file("copy");
  ASSERT_TRUE(kind_->clone(loaded(), copy).ok());
  EXPECT_FALSE(kind_->clone(loaded(), copy).ok());
  auto engine = open(copy, kSpec);
  ASSERT_NE(engine, nullptr);
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(engine->put(0, row_key(i), row_value(i, 2)).ok());
  }
  for (uint64_t i = 0; i < kRows; ++i) expect_row(*engine, i, row_value(i, 2));
  ASSERT_TRUE(engine->close().ok());
  engine = open(copy, kSpec);
  ASSERT_NE(engine, nullptr);
  for (uint64_t i = 0; i < kRows; ++i) expect_row(*engine, i, row_value(i, 2));
  ASSERT_TRUE(engine->close().ok());
  engine = open(loaded());
  ASSERT_NE(engine, nullptr);
  for (uint64_t i = 0; i < kRows; i += 7) expect_row(*engine, i, row_value(i));
  EXPECT_TRUE(engine->close().ok());
}

TEST_F(WiredtigerEngineTest, ATierServesWhatThreadsReadAgain) {
  load();
  auto engine = open(loaded(), kSpec);
  ASSERT_NE(engine, nullptr);
  std::vector<std::thread> threads;
  std::vector<uint64_t> first(2), second(2);
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_EQ(engine->thread_block_reads(), 0u);
      for (uint64_t i = t; i < kRows; i += 2) expect_row(*engine, i, row_value(i));
      first[t] = engine->thread_block_reads();
      for (uint64_t i = t; i < kRows; i += 2) expect_row(*engine, i, row_value(i));
      second[t] = engine->thread_block_reads() - first[t];
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(first[0] + first[1], 100u);
  EXPECT_LT(second[0] + second[1], (first[0] + first[1]) / 10);
  const EngineMetrics metrics = engine->metrics();
  ASSERT_TRUE(metrics.tier.has_value());
  EXPECT_GT(metrics.tier->hits, 100u);
  EXPECT_EQ(metrics.tier->damaged_blocks, 0u);
  EXPECT_TRUE(engine->close().ok());
}

TEST_F(WiredtigerEngineTest, EachConnectionHasItsOwnTier) {
  load();
  ASSERT_TRUE(kind_->clone(loaded(), folder_.file("copy")).ok());
  ASSERT_TRUE(kind_->clone(loaded(), folder_.file("bare")).ok());
  std::map<std::string, std::unique_ptr<KvEngine>> engines;
  std::vector<std::thread> threads;
  for (const char* name : {"loaded", "copy", "bare"}) {
    auto& engine = engines[name];
    threads.emplace_back([this, name, &engine] {
      engine = open(folder_.file(name), std::string(name) == "bare" ? "" : kSpec);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& [name, engine] : engines) ASSERT_NE(engine, nullptr) << name;
  for (uint64_t i = 0; i < kRows; i += 5) {
    expect_row(*engines["copy"], i, row_value(i));
    expect_row(*engines["bare"], i, row_value(i));
  }
  EXPECT_GT(engines["copy"]->metrics().tier->inserts, 0u);
  EXPECT_LT(engines["loaded"]->metrics().tier->inserts,
            engines["copy"]->metrics().tier->inserts / 2);
  EXPECT_FALSE(engines["bare"]->metrics().tier.has_value());
  for (auto& [name, engine] : engines) EXPECT_TRUE(engine->close().ok()) << name;
}

TEST_F(WiredtigerEngineTest, AKeptTierStaysRightWithADatabaseThatIsReopened) {
  load();
  const std::shared_ptr<BlockCache> tier = kind_->open_tier(kSpec).value();
  for (int round = 1; round <= 3; ++round) {
    auto engine = kind_->open(at(loaded(), "", "", tier));
    ASSERT_TRUE(engine.ok()) << engine.status();
    const uint64_t hits = tier->stats().hits;
    for (uint64_t i = 0; i < kRows; i += 3) expect_row(**engine, i, row_value(i, round - 1));
    if (round > 1) {
      EXPECT_GT(tier->stats().hits, hits + 50);
    }
    for (uint64_t i = 0; i < kRows; i += 3) {
      ASSERT_TRUE((*engine)->put(0, row_key(i), row_value(i, round)).ok());
    }
    ASSERT_TRUE((*engine)->close().ok());
  }
}

TEST_F(WiredtigerEngineTest, ItsOwnBlockCacheServesInTheTiersPlace) {
  load();
  auto engine = open(loaded(), "", "wtcache:dram,size=32MiB,aggression=300");
  ASSERT_NE(engine, nullptr);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < kRows; ++i) expect_row(*engine, i, row_value(i));
  }
  const EngineMetrics metrics = engine->metrics();
  ASSERT_TRUE(metrics.tier.has_value());
  EXPECT_GT(metrics.tier->hits, 0u);
  EXPECT_GT(metrics.tier->data_bytes, 0u);
  EXPECT_TRUE(engine->close().ok());
}

TEST_F(WiredtigerEngineTest, MistakesInItsOwnBlockCacheAreNamed) {
  EXPECT_TRUE(kind_->check_own_cache("wtcache:dram,size=64MiB,full_target=90").ok());
  const std::map<std::string, std::string> wrong = {
      {"wtcache:disk,size=64MiB", "dram and nvram"},
      {"wtcache:dram", "no size="},
      {"wtcache:dram,size=64MiB,sise=3", "aggression"},
      {"wtcache:dram,size=64MiB,full_target=3", "minimum is 30"},
      {"wtcache:dram,size=64MiB,hashsize=(1)", "no value"},
  };
  for (const auto& [spec, part] : wrong) {
    const Status status = kind_->check_own_cache(spec);
    EXPECT_TRUE(is_invalid_argument(status)) << spec;
    EXPECT_NE(status.to_string().find(part), std::string::npos) << status;
  }
}

TEST_F(WiredtigerEngineTest, AFolderWithoutADatabaseIsAnError) {
  fs::create_directory(folder_.file("empty"));
  const auto engine = kind_->open(at(folder_.file("empty"), "", "", nullptr));
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.status().to_string().find("wiredtiger: open"), std::string::npos)
      << engine.status();
}

class WiredtigerBench : public WiredtigerTest {
 protected:
  WiredtigerBench() {
    options_.engine = "wiredtiger";
    options_.warmup_seconds = 0.4;
    options_.dram_cache_bytes = 2 << 20;
  }

  EngineBenchOptions options_ = small_bench(folder_.path(), kSpec);
};

TEST_F(WiredtigerBench, ASecondTierSavesBlockReadsAndEveryValueIsRight) {
  options_.loads = ycsb_loads("ca", 8000);
  options_.configurations.push_back({"own", "wtcache:dram,size=32MiB"});
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  ASSERT_NO_FATAL_FAILURE(expect_tier_saves_reads(*document, 6));
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(WiredtigerBench, AKeptTierIsKeptWithItsDatabaseThroughWritesAndScans) {
  options_.loads = ycsb_loads("def", 8000);
  options_.keep_tier = true;
  options_.rewarm_seconds = 0.1;
  options_.rounds = 2;
  const auto document = run_bench(options_, system_clock());
  ASSERT_TRUE(document.ok()) << document.status();
  for (const auto& run : (*document)["runs"]) {
    if (run["workload"] == "d") {
      EXPECT_GT(run["operations"]["insert"].get<uint64_t>(), 0u);
    } else if (run["workload"] == "e") {
      EXPECT_GT(run["rows_scanned"].get<uint64_t>(), 0u);
    } else {
      EXPECT_GT(run["operations"]["read_modify_write"].get<uint64_t>(), 0u);
    }
  }
  EXPECT_FALSE(fs::exists(options_.db));
}

TEST_F(WiredtigerBench, AMistakeInAConfigurationIsFoundBeforeLoading) {
  options_.loads = ycsb_loads("c", 8000);
  for (const char* spec : {"nvcache://?size=16MiB&admision=always", "wtcache:dram,seize=1GiB"}) {
    options_.configurations[1] = {"typo", spec};
    const auto document = run_bench(options_, system_clock());
    ASSERT_FALSE(document.ok());
    EXPECT_EQ(exit_code_of(document.status()), kExitUsage);
    const std::string message(document.status().message());
    EXPECT_NE(message.find("configuration typo"), std::string::npos) << message;
    EXPECT_FALSE(fs::exists(options_.db));
  }
}

TEST(EngineNames, AWrongOneNamesThoseThatThereAre) {
  const auto kind = make_engine_kind("wiretiger");
  ASSERT_TRUE(is_invalid_argument(kind.status()));
  EXPECT_NE(kind.status().to_string().find("rocksdb, wiredtiger"), std::string::npos);
}

TEST(EngineNames, OneWithoutABlockCacheOfItsOwnSaysSo) {
  const auto kind = make_engine_kind("rocksdb");
  if (!kind.ok()) GTEST_SKIP() << "built without RocksDB";
  EXPECT_TRUE(is_invalid_argument((*kind)->check_own_cache("wtcache:dram,size=1GiB")));
}

TEST(CopyFolder, CopiesFilesByteForByteAndRefusesATargetThatIsThere) {
  const TempDir folder(fs::current_path());
  const std::string& name = folder.path();
  fs::create_directory(name + "/from");
  std::string bytes(3 << 20, 'x');
  for (size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  FILE* file = std::fopen((name + "/from/data").c_str(), "wb");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  std::fclose(std::fopen((name + "/from/empty").c_str(), "wb"));
  ASSERT_TRUE(copy_folder(name + "/from", name + "/to").ok());
  std::string found(bytes.size(), 0);
  file = std::fopen((name + "/to/data").c_str(), "rb");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(std::fread(found.data(), 1, found.size(), file), found.size());
  std::fclose(file);
  EXPECT_TRUE(found == bytes);
  EXPECT_EQ(fs::file_size(name + "/to/data"), bytes.size());
  EXPECT_EQ(fs::file_size(name + "/to/empty"), 0u);
  EXPECT_FALSE(copy_folder(name + "/from", name + "/to").ok());
}

}  // namespace
}  // namespace nvcache
