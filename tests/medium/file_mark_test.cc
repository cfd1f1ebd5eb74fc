// A cache overwrites no file of somebody else's, and knows its own, also after a crash.
#include "medium/file_mark.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/file.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

constexpr uint64_t kBlocksBytes = 4 << 20;
constexpr uint64_t kPieceBytes = 1 << 20;

class FileMark : public testing::TestWithParam<FileIo> {
 protected:
  StatusOr<std::unique_ptr<Medium>> open(uint64_t max_size_bytes = kBlocksBytes) {
    return open_file_medium(path_, GetParam(),
                            {.size_bytes = kBlocksBytes, .max_size_bytes = max_size_bytes});
  }
  void make(uint64_t length_bytes, uint64_t data_at, const std::string& data) {
    std::filesystem::remove(path_);
    std::ofstream file(path_, std::ios::binary);
    file.seekp(static_cast<std::streamoff>(data_at));
    file << data;
    file.close();
    std::filesystem::resize_file(path_, length_bytes);
  }
  std::string contents() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }
  // Opens the medium, writes over its whole range, and takes what a kill would leave of its file.
  void leave_by_a_crash(uint64_t max_size_bytes = kBlocksBytes) {
    const std::string left = directory_.file("left");
    {
      auto medium = open(max_size_bytes);
      ASSERT_TRUE(medium.ok()) << medium.status();
      const std::unique_ptr<std::byte, void (*)(void*)> block{
          static_cast<std::byte*>(std::aligned_alloc(kPieceBytes, kPieceBytes)), &std::free};
      std::fill_n(block.get(), kPieceBytes, std::byte{42});
      for (uint64_t at = 0; at < kBlocksBytes; at += kPieceBytes) {
        ASSERT_EQ((*medium)->write(at, {block.get(), kPieceBytes}), ok_status());
      }
      std::filesystem::copy_file(path_, left, std::filesystem::copy_options::overwrite_existing);
    }
    std::filesystem::rename(left, path_);
  }

  TempDir directory_{TempDir::on_disk()};
  std::string path_ = directory_.file("blocks");
};

INSTANTIATE_TEST_SUITE_P(Io, FileMark, testing::Values(FileIo::kMmap, FileIo::kDirect),
                         [](const auto& io) {
                           return io.param == FileIo::kMmap ? "Mmap" : "Direct";
                         });

TEST_P(FileMark, DataOfOthersIsRefusedAndStaysAsItWas) {
  const struct {
    uint64_t length_bytes;
    uint64_t data_at;
  } files[] = {{8, 0},
               {5000, 4990},
               {kBlocksBytes, 0},
               {kBlocksBytes, kBlocksBytes - 8},
               {2 * kBlocksBytes, 2 * kBlocksBytes - kPieceBytes},
               {3 * kPieceBytes + 17, kPieceBytes - 8}};
  for (const auto& file : files) {
    make(file.length_bytes, file.data_at, "letters\n");
    const std::string before = contents();
    const Status refused = open().status();
    EXPECT_TRUE(is_failed_precondition(refused)) << file.length_bytes << ": " << refused;
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr(path_), HasSubstr("remove it"), HasSubstr("nothing was changed")));
    EXPECT_TRUE(contents() == before) << file.length_bytes;
  }
}

TEST_P(FileMark, FilesOfZerosAreTaken) {
  for (const uint64_t length_bytes :
       {uint64_t{0}, uint64_t{1}, kBlocksBytes, 3 * kBlocksBytes + 5}) {
    make(length_bytes, 0, "");
    EXPECT_EQ(open().status(), ok_status()) << length_bytes;
    EXPECT_EQ(open().status(), ok_status()) << "again, with its mark: " << length_bytes;
  }
}

TEST_P(FileMark, WhatACrashLeftIsTakenAgainInEverySize) {
  leave_by_a_crash();
  EXPECT_EQ(open().status(), ok_status());
  EXPECT_EQ(open(4 * kBlocksBytes).status(), ok_status()) << "larger";
  EXPECT_EQ(open().status(), ok_status()) << "smaller again";
  leave_by_a_crash(4 * kBlocksBytes);
  EXPECT_EQ(open().status(), ok_status());
}

TEST_P(FileMark, WithoutItsMarkWhatACrashLeftIsData) {  // the negative control
  leave_by_a_crash();
  std::filesystem::resize_file(path_, kBlocksBytes);
  EXPECT_TRUE(is_failed_precondition(open().status()));
}

TEST_P(FileMark, RegionsAreKnownByTheirSuperblockToo) {
  make(3 * kPieceBytes, 0, std::string(kRegionsHead) + "and blocks");
  EXPECT_EQ(open().status(), ok_status());
}

}  // namespace
}  // namespace nvcache
