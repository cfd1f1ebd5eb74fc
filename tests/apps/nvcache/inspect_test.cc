// `nvcache inspect`: what it prints, its exit codes, and that it changes nothing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "apps/command/interrupt.h"
#include "apps/nvcache/inspect_command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "nvcache/kv_store.h"
#include "support/block_cache_fixture.h"
#include "support/command_line.h"
#include "support/loop_device.h"
#include "support/region_cache.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InspectCommand : public testing::Test {
 protected:
  int run(const std::string& words) {
    CLI::App app{"test"};
    add_inspect_command(app);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = 0;
    try {
      app.parse("inspect " + words);
    } catch (const CLI::RuntimeError& error) {
      code = error.get_exit_code();
    } catch (const CLI::ParseError& error) {
      code = 2;
    }
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string path() const { return folder_.file("blocks"); }
  std::unique_ptr<BlockCache> open(const std::string& medium, const std::string& more = "") const {
    return test::open(
        "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=fifo"
        "&restart=warm&maintenance=0.01&medium=" +
        medium + more);
  }
  // 200 blocks with keys as WiredTiger's, 100 as RocksDB's.
  void fill(const std::string& medium) const {
    const auto cache = open(medium);
    test::put_blocks(*cache, 3, 200, 4000);
    test::put_blocks(*cache, 0xfeed'beef'0123'4567, 100, 4000);
  }
  void flip(uint64_t offset) const {
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(file.get() ^ 0x55);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  TempDir folder_;
  std::string out_;
  std::string err_;
};

TEST_F(InspectCommand, ShowsSuperblockRegionsAndBlocksByEngineAndFile) {
  fill("file:" + path());
  ASSERT_EQ(run(path() + " --blocks --regions"), 0) << err_;
  for (const char* const told :
       {"version 2; copies: whole, opening 2; whole, opening 3", "32 regions of 128 KiB",
        "brings the live blocks back: closed in order", "0 damaged", "300 blocks, 1.14 MiB",
        "damage      none\n", "RocksDB                       1          100",
        "WiredTiger or own keys        1          200", "feedbeef01234567", "0 to 199", "not known",
        "sealed"}) {
    EXPECT_THAT(out_, HasSubstr(told));
  }
  EXPECT_EQ(err_, "");
  ASSERT_EQ(run(path() + " --files 1"), 0) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("feedbeef01234567")));
  EXPECT_THAT(out_, HasSubstr("not read, see --blocks"));
  ASSERT_EQ(run(path() + " --files 0"), 0) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("0 to 199")));
}

TEST_F(InspectCommand, WritesJsonToAFileOrToStandardOutput) {
  fill("file:" + path());
  ASSERT_EQ(run(path() + " --json " + folder_.file("out.json")), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("live        300 blocks"));
  const auto json = nlohmann::json::parse(contents_of(folder_.file("out.json")));
  EXPECT_EQ(json["kind"], "inspection");
  EXPECT_EQ(json["live"]["blocks"], 300);
  EXPECT_EQ(json["comes_back"], true);
  EXPECT_EQ(json["damage"], "");
  EXPECT_EQ(json["files"].size(), 2u);
  EXPECT_EQ(json["files"][0]["number"], 3);
  EXPECT_EQ(json["engines"][0]["engine"], "RocksDB");
  EXPECT_EQ(json["engines"][0]["blocks"], 100);
  EXPECT_FALSE(json.contains("damaged_blocks")) << "they were not read";
  ASSERT_EQ(run(path() + " --json -"), 0) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_), json);
}

TEST_F(InspectCommand, TakesAMediumsNameAndAFolder) {
  fill("file:" + folder_.path());
  for (const std::string& name :
       {folder_.path(), "file:" + folder_.path(), "file:" + folder_.path() + ",io=direct",
        "emulated:optane,on=file:" + folder_.path(), folder_.file("nvcache.blocks")}) {
    EXPECT_EQ(run(name), 0) << err_;
    EXPECT_THAT(out_, HasSubstr(folder_.file("nvcache.blocks"))) << name;
  }
}

TEST_F(InspectCommand, ChangesNothing) {
  fill("file:" + path());
  const std::string before = contents_of(path());
  struct stat first {};
  ASSERT_EQ(stat(path().c_str(), &first), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0400), 0);
  ASSERT_EQ(run(path() + " --blocks"), 0) << err_;
  struct stat second {};
  ASSERT_EQ(stat(path().c_str(), &second), 0);
  EXPECT_EQ(contents_of(path()), before);
  EXPECT_EQ(first.st_mtim.tv_sec, second.st_mtim.tv_sec);
  EXPECT_EQ(first.st_mtim.tv_nsec, second.st_mtim.tv_nsec);
}

TEST_F(InspectCommand, RunsBesideACacheAndSaysSo) {
  const auto cache = open("file:" + path());
  test::put_blocks(*cache, 3, 300, 4000);
  cache->drain();
  ASSERT_EQ(run(path() + " --blocks"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("open in     another process"));  // this one is not looked at
  EXPECT_THAT(out_, HasSubstr("nothing comes back: not closed"));
  EXPECT_THAT(out_, HasSubstr("live        3"));
  EXPECT_EQ(test::count_blocks(*cache, 3, 300, 4000), 300u);
}

// It holds nothing that would keep a cache away.
TEST_F(InspectCommand, NeverKeepsACacheAway) {
  fill("file:" + path());
  const int fd = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(run(path()), 0) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("open in")));
  EXPECT_NE(open("file:" + path()), nullptr);
  ::close(fd);
}

TEST_F(InspectCommand, DamageIsNamedAndExitsWith1) {
  fill("file:" + path());
  flip(60);  // of a copy of the superblock
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(out_, HasSubstr("a damaged superblock; whole, opening 3"));
  EXPECT_THAT(err_, HasSubstr(path() + ": damaged: one copy of the superblock\n"));
  flip((1 << 20) + 100);
  EXPECT_EQ(run(path() + " --blocks"), 1);
  EXPECT_THAT(err_, HasSubstr("one copy of the superblock; 1 blocks\n"));
  flip((1 << 20) + (128 << 10) - 70);
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr("one copy of the superblock; 1 regions\n"));
  std::filesystem::resize_file(path(), 3 << 20);
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr("16 regions behind the end: the medium was cut short; 1 regions\n"));
  flip((64 << 10) + 60);
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr(path() + ": a damaged superblock"));
  EXPECT_EQ(out_, "");
}

TEST_F(InspectCommand, WhatIsNotOursExitsWith1) {
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr(path() + ": No such file"));
  std::ofstream(path()) << "short";
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr("no superblock of a cache in regions; it is too short for one"));
  std::ofstream(path()) << std::string(3 << 20, 'x');
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr("no superblock of a cache in regions; a cache with space=in_place"));
}

TEST_F(InspectCommand, NamesAKeyValueStore) {
  {
    const auto store = open_kv_store("nvkv://?size=1MiB&medium=file:" + path());
    ASSERT_TRUE(store.ok()) << store.status();
  }
  EXPECT_EQ(run(path()), 1);
  EXPECT_THAT(err_, HasSubstr("it holds a key-value store: nvcached serves it"));
}

TEST_F(InspectCommand, AWrongCommandLineExitsWith2) {
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run(path() + " --nonsense"), 2);
  for (const auto& [words, told] :
       {std::pair<std::string, std::string>{"dram", "is memory"},
        {"emulated:optane", "is memory"},
        {"file:" + path() + ",io=best", "option 'io=best' is unknown"},
        {folder_.file("pipe"), "neither a file nor a block device"},
        {path() + " --json " + folder_.file("none/out.json"), "does not exist"}}) {
    EXPECT_EQ(run(words), 2) << words;
    EXPECT_THAT(err_, HasSubstr(told));
  }
}

TEST_F(InspectCommand, ShowsADevice) {
  const test::LoopDevice device(8 << 20);
  if (device.path().empty()) GTEST_SKIP() << device.why();
  fill("nvme:" + device.path() + ",format=yes");
  EXPECT_EQ(run("nvme:" + device.path() + " --blocks"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("300 blocks"));
  EXPECT_EQ(run(device.path()), 0) << err_;
  const auto cache = open("nvme:" + device.path());
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(run(device.path()), 0) << err_;
}

// A device copied into a file.
TEST_F(InspectCommand, ShowsTheCopyOfADevice) {
  fill("file:" + path());
  const std::string blocks = contents_of(path());
  std::string mark("nvcache block device 2\n");
  mark.resize(1 << 20);
  std::ofstream(path(), std::ios::binary) << mark << blocks;
  EXPECT_EQ(run(path() + " --blocks"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("300 blocks"));
}

TEST_F(InspectCommand, CtrlCEndsItBeforeItWrites) {
  fill("file:" + path());
  EXPECT_EXIT(
      {
        watch_for_interrupt();
        std::raise(SIGINT);
        CLI::App app{"test"};
        add_inspect_command(app);
        const std::string json = folder_.file("out.json");
        const int code = test::exit_code_of_line(app, {"inspect", path(), "--json", json});
        std::_Exit(std::filesystem::exists(json) ? 99 : code);
      },
      testing::ExitedWithCode(130), "interrupted");
}

}  // namespace
}  // namespace nvcache
