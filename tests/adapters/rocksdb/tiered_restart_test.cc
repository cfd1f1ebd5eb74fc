// A tiered cache whose lower tier comes back under real databases: after both were closed, and
// after the process was killed under load.
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/prng.h"
#include "kill/kill_database.h"
#include "support/loop_device.h"
#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

Stats below(const Tiered& tiered) { return tiered.opened->stats().tiers[1].block_cache; }

void wait_until_warm(const Tiered& tiered) {
  while (below(tiered).recovering != 0) std::this_thread::yield();
}

TEST(TieredRestartDb, TheLowerTierServesAfterAReopening) {
  TempDir dir;
  const std::string spec =
      "tiered://?dram=256KiB&tier=(size=20MiB,medium=file:" + dir.file("tier") +
      ",io=direct,space=regions,restart=warm)";
  uint64_t held = 0;
  {
    const Tiered tiered(spec);
    TestDb db(dir.file("db"), tiered_options(tiered.cache));
    db.fill(1);
    ASSERT_ROCKS_OK(db->CompactRange(::rocksdb::CompactRangeOptions(), nullptr, nullptr));
    for (uint64_t round = 0; round < 3; ++round) db.read_and_verify(12000, 1, round);
    tiered.opened->control()->drain();
    held = below(tiered).blocks;
    EXPECT_GT(held, 2000u);
  }
  const Tiered tiered(spec);
  TestDb db(dir.file("db"), tiered_options(tiered.cache));
  db.read_and_verify(100, 1);  // served while blocks come back
  wait_until_warm(tiered);
  EXPECT_GE(below(tiered).recovered_blocks, held * 9 / 10);
  const TieredStats before = tiered.opened->stats();
  db.read_and_verify(5000, 1, /*salt=*/9);
  const TieredStats after = tiered.opened->stats();
  EXPECT_GT(after.tiers[1].hits - before.tiers[1].hits, 1000u);
  EXPECT_LT(after.misses - before.misses, (after.lookups - before.lookups) / 20);
  EXPECT_EQ(below(tiered).damaged_blocks, 0u);
}

TEST(TieredRestartDb, ADamagedTierIsRefusedAndFormatStartsAnew) {
  TempDir dir;
  const auto spec = [&](const std::string& more) {
    return "tiered://?dram=256KiB&tier=(size=9MiB,medium=file:" + dir.file("tier") +
           ",io=direct,space=regions,region=128KiB,restart=warm" + more + ")";
  };
  {
    const Tiered tiered(spec(""));
    ASSERT_NE(tiered.cache, nullptr);
  }
  {
    std::fstream file(dir.file("tier"), std::ios::in | std::ios::out | std::ios::binary);
    for (const int copy : {0, 64 << 10}) {
      char byte = 0;
      file.seekg(copy + 40).read(&byte, 1);
      byte = static_cast<char>(byte ^ 1);
      file.seekp(copy + 40).write(&byte, 1);
    }
  }
  std::shared_ptr<::rocksdb::Cache> cache;
  const ::rocksdb::Status refused = NewTieredCache({.spec = spec("")}, &cache);
  EXPECT_NE(refused.ToString().find("tier 1: "), std::string::npos) << refused.ToString();
  EXPECT_NE(refused.ToString().find("format=yes"), std::string::npos) << refused.ToString();
  const Tiered again(spec(",format=yes"));
  ASSERT_NE(again.cache, nullptr);
  EXPECT_EQ(below(again).recovered_blocks, 0u);
}

// Starts the writer, and kills it after so many of its reports. `beside`: a second database's
// folder, or empty.
void write_and_kill(const std::string& folder, uint64_t seed, uint64_t reports,
                    const std::string& beside = "") {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  // The build puts it beside these tests.
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                              "nvcache_rocksdb_tiered_writer";
  const std::string seed_text = std::to_string(seed);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(program.c_str(), program.c_str(), folder.c_str(), seed_text.c_str(),
            beside.empty() ? nullptr : beside.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  char byte = 0;
  bool alive = true;
  while (alive && reports > 0) alive = ::read(ends[0], &byte, 1) == 1 && reports-- > 0;
  ::kill(writer, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ::close(ends[0]);
  ASSERT_TRUE(alive && WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
}

uint64_t count_wrong(const KillOracle& oracle, TestDb& db) {
  uint64_t wrong = 0;
  for (int record = 0; record < kKillRecords; ++record) {
    wrong += oracle.reads_right(*db.get(), record) ? 0 : 1;
  }
  return wrong;
}

void expect_right_after_kills(const TempDir& dir) {
  const std::string folder = dir.file("");
  const KillOracle oracle(folder);
  Prng random(test_seed());
  for (uint64_t life = 0; life < 10; ++life) {
    SCOPED_TRACE(life);
    ASSERT_NO_FATAL_FAILURE(
        write_and_kill(folder, random.below(uint64_t{1} << 32), 9 + random.below(30)));
    if (life % 2 == 0) continue;  // the next writer meets what the kill left
    const Tiered tiered(kill_spec(folder));
    TestDb db(dir.file("db"), kill_options(tiered.cache));
    ASSERT_EQ(count_wrong(oracle, db), 0u) << "while blocks come back";
    wait_until_warm(tiered);
    ASSERT_EQ(count_wrong(oracle, db), 0u);
    EXPECT_GT(below(tiered).recovered_blocks, 0u);
    EXPECT_GT(tiered.lower_hits(), 0u);
    EXPECT_EQ(below(tiered).damaged_regions, 0u);
    EXPECT_EQ(below(tiered).damaged_blocks, 0u);
  }
}

TEST(TieredRestartDb, EveryValueIsRightAfterManyKills) { expect_right_after_kills(TempDir()); }

TEST(TieredRestartDb, EveryValueIsRightAfterManyKillsOnADevice) {
  const test::LoopDevice device(uint64_t{12} << 20);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  const TempDir dir;
  std::filesystem::create_symlink(device.path(), dir.file("device"));
  expect_right_after_kills(dir);
}

// Two databases with a cache each, above one tier.
TEST(TieredRestartDb, EveryValueAboveASharedTierIsRightAfterManyKills) {
  TempDir dir;
  const std::string folder = dir.file("first");
  const std::string beside = dir.file("second");
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(beside);
  const KillOracle first(folder);
  const KillOracle second(beside);
  Prng random(test_seed());
  for (uint64_t life = 0; life < 6; ++life) {
    SCOPED_TRACE(life);
    ASSERT_NO_FATAL_FAILURE(
        write_and_kill(folder, random.below(uint64_t{1} << 32), 9 + random.below(30), beside));
    if (life % 2 == 0) continue;                       // the next writer meets what the kill left
    const Tiered of_second(shared_kill_spec(folder));  // in another order than the writer's
    const Tiered of_first(shared_kill_spec(folder));
    TestDb second_db(beside + "/db", kill_options(of_second.cache));
    TestDb first_db(folder + "/db", kill_options(of_first.cache));
    wait_until_warm(of_first);
    ASSERT_EQ(count_wrong(first, first_db), 0u);
    ASSERT_EQ(count_wrong(second, second_db), 0u);
    EXPECT_EQ(of_first.opened->stats().tiers[1].users, 2u);
    EXPECT_GT(below(of_first).recovered_blocks, 0u);
    EXPECT_GT(of_first.lower_hits() + of_second.lower_hits(), 0u);
    EXPECT_EQ(below(of_first).damaged_regions, 0u);
    EXPECT_EQ(below(of_first).damaged_blocks, 0u);
  }
}

// The control: a value that the oracle does not know is seen.
TEST(TieredRestartDb, TheCheckSeesAnOlderValue) {
  TempDir dir;
  const std::string folder = dir.file("");
  KillOracle oracle(folder);
  const Tiered tiered(kill_spec(folder));
  TestDb db(dir.file("db"), kill_options(tiered.cache));
  for (int record = 0; record < 100; ++record) ASSERT_TRUE(oracle.write(*db.get(), record));
  ASSERT_TRUE(oracle.write(*db.get(), 7));
  ASSERT_EQ(count_wrong(oracle, db), 0u);
  ASSERT_ROCKS_OK(db->Put({}, key_of(7), value_of(7, 1)));
  EXPECT_EQ(count_wrong(oracle, db), 1u);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
