// The caches that databases share, and the files of their statistics, with every allocation failing
// once: nothing waits for ever, no exception ends the process, and the next opening works.
#include <filesystem>
#include <memory>
#include <new>
#include <string>

#include "adapters/wiredtiger/cache_settings.h"
#include "adapters/wiredtiger/shared_caches.h"
#include "adapters/wiredtiger/stats_writer.h"
#include "out_of_memory/sweep.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::Allocations;
using test::sweep;

class SharedCachesMemory : public ::testing::Test {
 protected:
  StatusOr<std::shared_ptr<FileBlockCache>> open() {
    const auto config = read_cache(spec_);
    if (!config.ok()) return config.status();
    return open_shared_cache(**config, OnWrite::kOffer);
  }

  TempDir folder_;
  const std::string spec_ =
      "nvcache://?size=1MiB&shards=1&maintenance=0&medium=file:" + folder_.file("blocks");
};

TEST_F(SharedCachesMemory, AnOpeningThatFailsLeavesTheFileToTheNext) {
  const uint64_t failed = sweep(
      Allocations::kOfThisThread,
      [&] {
        try {
          (void)open();
        } catch (const std::bad_alloc&) {  // the extension's entry tells WiredTiger
        }
      },
      [&] {
        const auto first = open();
        ASSERT_TRUE(first.ok()) << first.status();
        const auto second = open();
        ASSERT_TRUE(second.ok()) << second.status();
        EXPECT_EQ(*first, *second);
      });
  EXPECT_GT(failed, 10u);
}

TEST_F(SharedCachesMemory, TheLastWriteOfStatisticsThrowsNothing) {
  auto files = open();
  ASSERT_TRUE(files.ok()) << files.status();
  const StatsFiles where = {.json_path = folder_.file("stats.json"),
                            .prometheus_path = folder_.file("stats.prom"),
                            .interval_seconds = 0};
  std::unique_ptr<StatsWriter> writer;
  const auto start = [&] {
    auto started = StatsWriter::start(*files, where, [](const std::string&) {});
    ASSERT_TRUE(started.ok()) << started.status();
    writer = *std::move(started);
  };
  start();
  const uint64_t failed = sweep(
      Allocations::kOfThisThread, [&] { writer.reset(); },
      [&] {
        EXPECT_TRUE(std::filesystem::exists(where.json_path)) << "the file keeps what it had";
        start();
      });
  EXPECT_GT(failed, 10u);
}

}  // namespace
}  // namespace nvcache
