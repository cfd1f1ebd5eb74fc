// kill -9 of a process under load, with flushes and compactions, at a random moment, again and
// again: each time the database opens, each value is right, and the tier serves hits at once.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/prng.h"
#include "database_life.h"
#include "kill/kill_shared.h"
#include "support/loop_device.h"

namespace nvcache::rocksdb::testing {
namespace {

// The program in another process, and the bytes that say how far it is.
class Writer {
 public:
  Writer(const std::string& folder, Face face, uint64_t seed, const char* mode) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    // The build puts it beside these tests.
    const std::string program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "nvcache_rocksdb_writer";
    const std::string seed_text = std::to_string(seed);
    const char* const face_text = face == Face::kPersistent ? "persistent" : "secondary";
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), folder.c_str(), face_text, seed_text.c_str(), mode,
              nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    progress_ = ends[0];
  }
  ~Writer() { ::close(progress_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False if it ended by itself.
  bool kill_after(uint64_t bytes) {
    char byte = 0;
    while (bytes > 0 && ::read(progress_, &byte, 1) == 1) --bytes;
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return bytes == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t process_ = -1;
  int progress_ = -1;
};

// After a kill: what the tier serves then, the process that was killed had put there.
constexpr char kAdmitNothing[] = "probability(0)";

// The findings of all openings after the kills.
struct Seen {
  uint64_t wrong = 0;
  uint64_t recovered = 0;
  uint64_t hits = 0;
  uint64_t openings_without_hits = 0;
  uint64_t damaged = 0;
};

class RocksdbKillTest : public ::testing::TestWithParam<Face> {
 protected:
  void open_and_read(const std::string& mode, const std::string& more, Seen* seen) {
    std::shared_ptr<BlockCache> cache;
    const std::string spec = kill_spec(dir_.path(), kAdmitNothing) + more;
    const Caches caches = open_face(GetParam(), spec, &cache);
    ASSERT_NE(cache, nullptr);
    ::rocksdb::Options options = kill_options(caches);
    options.disable_auto_compactions = mode == "misnamed";
    TestDb db(dir_.file("db"), options);
    ASSERT_NE(db.get(), nullptr);
    while (cache->stats().recovering != 0) std::this_thread::yield();
    seen->recovered += cache->stats().recovered_blocks;
    for (uint32_t key = 0; key < kKillKeys; ++key) {
      std::string value;
      const auto status = db->Get({}, key_of(static_cast<int>(key)), &value);
      if (!shared_.is_right(key, status, value, shared_.promised[key].load())) ++seen->wrong;
    }
    const Stats stats = cache->stats();
    seen->damaged += stats.damaged_blocks + stats.damaged_regions + stats.medium_errors;
    EXPECT_EQ(stats.inserts, 0u);
    seen->hits += stats.hits;
    seen->openings_without_hits += stats.hits == 0 ? 1 : 0;
  }

  // A database with all keys.
  void fill() {
    TestDb db(dir_.file("db"), kill_options({}));
    for (uint32_t key = 0; key < kKillKeys; ++key) {
      const int record = static_cast<int>(key);
      ASSERT_ROCKS_OK(db->Put({}, key_of(record), value_of(record, 1)));
      shared_.begun[key] = shared_.promised[key] = 1;
    }
  }

  void run(int kills, const char* mode, Seen* seen, const std::string& more = "") {
    ASSERT_NO_FATAL_FAILURE(fill());
    Prng random(test_seed());
    for (int round = 0; round < kills; ++round) {
      Writer writer(dir_.path(), GetParam(), random(), mode);
      const uint64_t bytes = 40 + random.below(300);
      ASSERT_TRUE(writer.kill_after(bytes))
          << "it ended by itself, round " << round << ", " << shared_.wrong_reads << " wrong reads";
      ASSERT_NO_FATAL_FAILURE(open_and_read(mode, more, seen)) << "round " << round;
    }
    std::printf(
        "%d kills: %llu wrong, %llu blocks came back, %llu hits, %llu flushes, %llu "
        "compactions\n",
        kills, static_cast<unsigned long long>(seen->wrong),
        static_cast<unsigned long long>(seen->recovered),
        static_cast<unsigned long long>(seen->hits),
        static_cast<unsigned long long>(shared_.flushes.load()),
        static_cast<unsigned long long>(shared_.compactions.load()));
  }

  void expect_right_and_warm() {
    Seen seen;
    ASSERT_NO_FATAL_FAILURE(run(10, "right", &seen));
    EXPECT_EQ(seen.wrong, 0u);
    EXPECT_EQ(seen.damaged, 0u);
    EXPECT_EQ(seen.openings_without_hits, 0u);
    EXPECT_GT(seen.recovered, 1000u);
    EXPECT_GT(shared_.flushes, 10u);
    EXPECT_GT(shared_.compactions, 0u);
  }

  const TempDir dir_;
  KillShared& shared_ = map_kill_shared(dir_.path());
};
INSTANTIATE_TEST_SUITE_P(Faces, RocksdbKillTest,
                         ::testing::Values(Face::kSecondary, Face::kPersistent),
                         [](const auto& face) {
                           return face.param == Face::kSecondary ? "Secondary" : "Persistent";
                         });

TEST_P(RocksdbKillTest, EveryValueIsRightAndTheTierIsWarm) { expect_right_and_warm(); }

TEST_P(RocksdbKillTest, EveryValueIsRightAndTheTierIsWarmOnADevice) {
  const test::LoopDevice device(uint64_t{12} << 20);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  std::filesystem::create_symlink(device.path(), dir_.file("device"));
  expect_right_and_warm();
}

// Controls. Values must be found wrong where writes are lost that RocksDB acknowledged,
TEST_P(RocksdbKillTest, ControlWritesWithoutALog) {
  Seen seen;
  ASSERT_NO_FATAL_FAILURE(run(4, "unlogged", &seen));
  EXPECT_GT(seen.wrong, 0u);
}

// where blocks come back under keys that are not theirs (parsed ones, which hold data alone),
class RocksdbKillNamesTest : public RocksdbKillTest {};
INSTANTIATE_TEST_SUITE_P(Secondary, RocksdbKillNamesTest, ::testing::Values(Face::kSecondary));
TEST_P(RocksdbKillNamesTest, ControlBlocksUnderOtherKeys) {
  Seen seen;
  ASSERT_NO_FATAL_FAILURE(run(2, "misnamed", &seen));
  EXPECT_GT(seen.wrong, 0u);
}

// and a tier that is cold.
TEST_P(RocksdbKillTest, ControlACacheThatBeginsEmpty) {
  Seen seen;
  ASSERT_NO_FATAL_FAILURE(run(2, "right", &seen, "&format=yes"));
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_EQ(seen.recovered, 0u);
  EXPECT_EQ(seen.hits, 0u);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
