// Writes to a WiredTiger table until it is killed, and reports each version that
// WiredTiger promised to keep on standard output. See kill_test.cc.
// Usage: nvcache_wiredtiger_writer HOME CONFIG SEED FIRST_VERSION after|before
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "kill_report.h"
#include "versioned_tables.h"

namespace nvcache::wt_test {
namespace {

struct Job {
  WT_CONNECTION* connection;
  const VersionedTables* tables;
  uint64_t seed;
  uint32_t first_version;
  bool report_before;  // the negative control: a promise that nobody gave
};

void must(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s: %s\n", what, wiredtiger_strerror(result));
  std::_Exit(1);
}

// Small enough for a pipe to take each whole.
void report(const std::vector<Report>& reports) {
  const size_t bytes = reports.size() * sizeof(Report);
  if (::write(STDOUT_FILENO, reports.data(), bytes) != static_cast<ssize_t>(bytes)) std::_Exit(2);
}

WT_CURSOR* open_cursor(WT_CONNECTION* connection, WT_SESSION** session) {
  WT_CURSOR* cursor = nullptr;
  must(connection->open_session(connection, nullptr, nullptr, session), "open_session");
  must((*session)->open_cursor(*session, kKillTable, nullptr, nullptr, &cursor), "open_cursor");
  return cursor;
}

void write_forever(const Job& job, uint32_t number) {
  WT_SESSION* session = nullptr;
  WT_CURSOR* const cursor = open_cursor(job.connection, &session);
  Prng random(mix64(job.seed + number));
  for (uint32_t version = job.first_version;;) {
    std::vector<Report> reports(job.report_before ? 100 : 1 + random.below(4));
    for (Report& one : reports) {
      const uint64_t own = random.below(kKillKeys / kKillThreads);
      one = {static_cast<uint32_t>(own * kKillThreads + number), version++};
    }
    if (job.report_before) report(reports);
    must(session->begin_transaction(session, nullptr), "begin_transaction");
    int result = 0;
    for (const Report& one : reports) {
      const std::string value = job.tables->value(0, one.key, one.version);
      WT_ITEM item{};
      item.data = value.data();
      item.size = value.size();
      cursor->set_key(cursor, static_cast<uint64_t>(one.key));
      cursor->set_value(cursor, &item);
      if (result == 0) result = cursor->insert(cursor);
    }
    if (result == WT_ROLLBACK) {
      must(session->rollback_transaction(session, nullptr), "rollback_transaction");
      continue;
    }
    must(result, "insert");
    result = session->commit_transaction(session, nullptr);
    if (result == WT_ROLLBACK) continue;
    must(result, "commit_transaction");
    if (!job.report_before) report(reports);
  }
}

// Reads what the others write, so that the second tier has something to serve.
void read_forever(const Job& job) {
  WT_SESSION* session = nullptr;
  WT_CURSOR* const cursor = open_cursor(job.connection, &session);
  Prng random(mix64(job.seed + 1000));
  for (;;) {
    const auto key = static_cast<uint32_t>(random.below(kKillKeys));
    cursor->set_key(cursor, static_cast<uint64_t>(key));
    const int result = cursor->search(cursor);
    if (result == WT_ROLLBACK) continue;
    must(result, "search");
    WT_ITEM item{};
    must(cursor->get_value(cursor, &item), "get_value");
    if (job.tables->version_in(0, key, item) == 0) must(WT_ERROR, "a damaged value");
    must(cursor->reset(cursor), "reset");
  }
}

int run(char** arguments) {
  const VersionedTables tables(kill_shape(), kKillValueSeed);
  Job job{.connection = nullptr,
          .tables = &tables,
          .seed = std::strtoull(arguments[3], nullptr, 10),
          .first_version = static_cast<uint32_t>(std::strtoul(arguments[4], nullptr, 10)),
          .report_before = std::string(arguments[5]) == "before"};
  must(wiredtiger_open(arguments[1], nullptr, arguments[2], &job.connection), "wiredtiger_open");
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kKillThreads; ++number) {
    threads.emplace_back([&job, number] { write_forever(job, number); });
  }
  threads.emplace_back([&job] { read_forever(job); });
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace nvcache::wt_test

int main(int count, char** arguments) {
  if (count != 6) return 64;
  return nvcache::wt_test::run(arguments);
}
