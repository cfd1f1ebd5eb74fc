// kill -9 of a process under load: what was reported as committed is there when the
// database is opened again.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/prng.h"
#include "kill_report.h"
#include "tiers.h"

namespace nvcache::wt_test {
namespace {

constexpr char kLogged[] =
    "cache_size=4MB,log=(enabled=true,file_max=1MB),"
    "transaction_sync=(enabled=true,method=fsync)";
// As above, and pages are written to the data files all the time.
constexpr char kCheckpoints[] = ",checkpoint=(log_size=256KB)";

// A writer whose reports can be read.
class Writer {
 public:
  Writer(const std::string& home, const std::string& config, uint64_t seed, uint32_t first_version,
         const char* when) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    // The build puts it beside these tests.
    const std::string program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "nvcache_wiredtiger_writer";
    const std::string seed_text = std::to_string(seed);
    const std::string version_text = std::to_string(first_version);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), home.c_str(), config.c_str(), seed_text.c_str(),
              version_text.c_str(), when, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    reports_ = ends[0];
  }
  ~Writer() { ::close(reports_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Kills the writer after it has reported so many versions, and reads the reports that are
  // left. False if the writer ended before.
  bool kill_after(size_t count, std::vector<Report>* reports) {
    bool alive = true;
    Report one;
    while (read_one(&one)) {
      reports->push_back(one);
      if (alive && reports->size() >= count) {
        ::kill(process_, SIGKILL);
        alive = false;
      }
    }
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  bool read_one(Report* report) {
    size_t have = 0;
    while (have < sizeof *report) {
      const ssize_t got =
          ::read(reports_, reinterpret_cast<char*>(report) + have, sizeof *report - have);
      if (got <= 0) return false;
      have += static_cast<size_t>(got);
    }
    return true;
  }

  pid_t process_ = -1;
  int reports_ = -1;
};

// The versions that were reported, and how many of them are not there.
class Promises {
 public:
  Promises() : versions_(kKillKeys, 1) {}
  void add(const std::vector<Report>& reports) {
    for (const Report& report : reports) versions_[report.key] = report.version;
  }
  // A later version is good as well: its report may have died with the writer.
  uint32_t broken(WT_CONNECTION* connection) const {
    const VersionedTables tables(kill_shape(), kKillValueSeed);
    Session session(connection);
    WT_CURSOR* cursor = nullptr;
    EXPECT_WT_OK(session->open_cursor(session.get(), kKillTable, nullptr, nullptr, &cursor));
    uint32_t count = 0;
    for (uint32_t key = 0; key < kKillKeys; ++key) {
      cursor->set_key(cursor, static_cast<uint64_t>(key));
      WT_ITEM item{};
      uint32_t version = 0;
      if (cursor->search(cursor) == 0 && cursor->get_value(cursor, &item) == 0) {
        version = tables.version_in(0, key, item);
        EXPECT_NE(version, 0u) << "key " << key << " is damaged";
      }
      if (version < versions_[key]) ++count;
    }
    EXPECT_WT_OK(cursor->close(cursor));
    return count;
  }

 private:
  std::vector<uint32_t> versions_;
};

struct Way {
  const char* create = "";
  std::string config = std::string(kLogged) + kCheckpoints;
  const char* report = "after";
  std::string io = "";  // from the table's creation on
};

// Kills `rounds` writers on one database, and counts the promises that were broken.
class KillTest : public ::testing::Test {
 protected:
  void run(int rounds, const Way& way, uint32_t* broken) {
    Prng random(test_seed());
    Promises promises;
    Database db(dir_.file("db"));
    const std::vector<NamedTier>& tiers = all_tiers();
    // Without a sync at each insert, which would take long.
    ASSERT_WT_OK(db.open(tier_in(dram_clock(), dir_.path()), "log=(enabled=true)" + way.io))
        << db.messages();
    VersionedTables tables(kill_shape(way.create), kKillValueSeed);
    tables.create(db.get());
    ASSERT_GOOD(tables);
    ASSERT_WT_OK(db.close());
    for (int round = 0; round < rounds && *broken == 0; ++round) {
      const Tier tier = tier_in(tiers[static_cast<size_t>(round) % tiers.size()], dir_.path());
      Writer writer(db.home(), "create," + way.config + extensions(tier, db.stats_path()), random(),
                    static_cast<uint32_t>(round + 1) * 10'000'000, way.report);
      std::vector<Report> reports;
      const size_t count = 100 + random.below(500);
      ASSERT_TRUE(writer.kill_after(count, &reports)) << "the writer ended by itself";
      promises.add(reports);
      ASSERT_WT_OK(db.open(tier, way.config)) << db.messages();
      *broken += promises.broken(db.get());
      *broken += promises.broken(db.get());  // now also from the second tier
      std::printf("round %d: killed after %zu reports, %u broken\n", round, reports.size(),
                  *broken);
      ASSERT_WT_OK(db.close());
      if (has_extension()) {
        EXPECT_GT(db.stats().of_files("served_reads"), 10u) << db.stats().text();
      }
    }
  }
  TempDir dir_;
};

TEST_F(KillTest, WhatWasCommittedIsThere) {
  uint32_t broken = 0;
  ASSERT_NO_FATAL_FAILURE(run(8, {}, &broken));
  EXPECT_EQ(broken, 0u);
}

TEST_F(KillTest, WhatWasCommittedIsThereWithDirectIo) {
  uint32_t broken = 0;
  ASSERT_NO_FATAL_FAILURE(run(3,
                              {.config = std::string(kLogged) + kCheckpoints + ",direct_io=[data]",
                               .io = ",direct_io=[data]"},
                              &broken));
  EXPECT_EQ(broken, 0u);
}

// A control of the comparison: it must find promises broken that nobody gave.
TEST_F(KillTest, ControlReportedBeforeTheCommit) {
  uint32_t broken = 0;
  ASSERT_NO_FATAL_FAILURE(run(8, {.report = "before"}, &broken));
  EXPECT_GT(broken, 0u);
}

TEST_F(KillTest, ControlATableWithoutALog) {
  uint32_t broken = 0;
  ASSERT_NO_FATAL_FAILURE(run(8, {.create = "log=(enabled=false)", .config = kLogged}, &broken));
  EXPECT_GT(broken, 0u);
}

}  // namespace
}  // namespace nvcache::wt_test
