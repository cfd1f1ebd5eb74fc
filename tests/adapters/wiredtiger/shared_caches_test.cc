// Which caches the databases of one process share.
#include "adapters/wiredtiger/shared_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "support/loop_device.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

Config config_on(const std::string& medium, const std::string& size = "1MiB",
                 const std::string& more = "") {
  return parse_config("nvcache://?size=" + size + "&medium=" + medium + more).value();
}

TEST(SharedCaches, OneForEachFileHoweverItIsNamed) {
  TempDir dir;
  const auto first = open_shared_cache(config_on("file:" + dir.file("a")), OnWrite::kOffer);
  const auto same = open_shared_cache(config_on("file:" + dir.file("a")), OnWrite::kOffer);
  const auto other = open_shared_cache(config_on("file:" + dir.file("b")), OnWrite::kOffer);
  ASSERT_TRUE(first.ok() && same.ok() && other.ok());
  EXPECT_EQ(*first, *same);
  EXPECT_NE(*first, *other);
  for (const auto& refused :
       {open_shared_cache(config_on("file:" + dir.file("a"), "2MiB"), OnWrite::kOffer),
        open_shared_cache(config_on("file:" + dir.path() + "/./a"), OnWrite::kOffer),
        open_shared_cache(config_on("file:" + dir.file("a")), OnWrite::kSkip)}) {
    EXPECT_TRUE(is_invalid_argument(refused.status())) << refused.status();
    EXPECT_THAT(refused.status().message(), testing::HasSubstr("another database"));
  }
}

TEST(SharedCaches, NoneInMemory) {
  const auto first = open_shared_cache(config_on("dram"), OnWrite::kOffer);
  const auto second = open_shared_cache(config_on("dram"), OnWrite::kOffer);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
}

TEST(SharedCaches, OneForEachDevice) {
  const test::LoopDevice device(uint64_t{8} << 20);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  const auto first = open_shared_cache(config_on("nvme:" + device.path()), OnWrite::kOffer);
  const auto same = open_shared_cache(config_on("nvme:" + device.path()), OnWrite::kOffer);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*first, *same);
}

// WiredTiger overwrites its files in place, and a promise of immutable keys would be a wrong one.
TEST(SharedCaches, NoneComesBackAfterARestart) {
  TempDir dir;
  const std::string path = dir.file("a");
  for (const char* io : {"", ",io=direct"}) {
    for (const char* keys : {"", "&keys=mutable", "&keys=immutable"}) {
      SCOPED_TRACE(std::string(io) + keys);
      const auto refused =
          open_shared_cache(config_on("file:" + path + io, "20MiB",
                                      std::string("&space=regions&restart=warm") + keys),
                            OnWrite::kOffer);
      EXPECT_TRUE(is_invalid_argument(refused.status())) << refused.status();
      EXPECT_THAT(refused.status().message(), testing::HasSubstr("restart: warm given"));
      EXPECT_THAT(refused.status().message(), testing::HasSubstr("allowed under WiredTiger"));
      EXPECT_THAT(refused.status().message(), testing::EndsWith("cold"));
      EXPECT_FALSE(std::filesystem::exists(path)) << "nothing was opened";
    }
  }
}

TEST(SharedCaches, ColdIsAllowedInAnySpace) {
  TempDir dir;
  for (const char* space : {"", "&space=in_place", "&space=regions"}) {
    SCOPED_TRACE(space);
    const auto opened = open_shared_cache(
        config_on("file:" + dir.file("a"), "20MiB", std::string("&restart=cold") + space),
        OnWrite::kOffer);
    EXPECT_TRUE(opened.ok()) << opened.status();
  }
  EXPECT_FALSE(std::filesystem::exists(dir.file("a"))) << "it goes with its cache";
}

// One that opens while the last one closes waits for that: it never finds the file in use.
TEST(SharedCaches, ThreadsThatOpenAndCloseFindItFree) {
  TempDir dir;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        if (!open_shared_cache(config_on("file:" + dir.file("a")), OnWrite::kOffer).ok())
          ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

// One is refused for its other settings while the last one closes: whoever lets go last closes the
// cache, and must not hold the lock that this takes.
TEST(SharedCaches, OneThatIsRefusedWhileTheLastOneClosesEnds) {
  TempDir dir;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (const char* size : {"1MiB", "2MiB", "1MiB"}) {
    threads.emplace_back([&, size] {
      for (int i = 0; i < 2000; ++i) {
        const auto opened =
            open_shared_cache(config_on("file:" + dir.file("a"), size), OnWrite::kOffer);
        if (!opened.ok() && !is_invalid_argument(opened.status())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nvcache
