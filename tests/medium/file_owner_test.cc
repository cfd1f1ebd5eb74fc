// A file whose content is believed when a cache opens it again is the user's own.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/file.h"
#include "nvcache/block_cache.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

class FileOwnerTest : public testing::TestWithParam<FileIo> {
 protected:
  StatusOr<std::unique_ptr<Medium>> open(bool keep_file = true) const {
    return open_file_medium(
        path_, GetParam(),
        {.size_bytes = 1 << 20, .max_size_bytes = 1 << 20, .keep_file = keep_file});
  }
  void fill() const { ASSERT_TRUE(open().ok()); }
  uint32_t mode() const {
    struct stat found {};
    EXPECT_EQ(stat(path_.c_str(), &found), 0);
    return found.st_mode & 0777;
  }
  void expect_refused(StatusCode code, const std::string& reason) const {
    const uint32_t before = mode();
    const auto opened = open();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.status().code(), code) << opened.status();
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(reason));
    EXPECT_EQ(mode(), before);
  }

  TempDir folder_{TempDir::on_disk()};
  std::string path_ = folder_.file("blocks");
};

TEST_P(FileOwnerTest, OthersLoseTheirRights) {
  fill();
  EXPECT_EQ(mode(), 0600u);
  for (const uint32_t others : {0660u, 0640u, 0604u}) {
    ASSERT_EQ(chmod(path_.c_str(), others), 0);
    EXPECT_TRUE(open().ok());
    EXPECT_EQ(mode(), 0600u);
  }
}

TEST_P(FileOwnerTest, AFileThatAllUsersMayWriteIsRefused) {
  fill();
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  expect_refused(StatusCode::kFailedPrecondition, "mode 666 lets every user write");
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_TRUE(open().ok());
}

TEST_P(FileOwnerTest, ALinkIsRefused) {
  fill();
  std::filesystem::rename(path_, folder_.file("real"));
  std::filesystem::create_symlink(folder_.file("real"), path_);
  expect_refused(StatusCode::kInvalidArgument, "a symbolic link");
  EXPECT_TRUE(open(/*keep_file=*/false).ok()) << "what it holds is not believed";
}

TEST_P(FileOwnerTest, ALinkToNothingIsRefused) {
  std::filesystem::create_symlink(folder_.file("real"), path_);
  const auto opened = open();
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("real")));
}

TEST_P(FileOwnerTest, AFileOfAnotherUserIsRefused) {
  fill();
  if (chown(path_.c_str(), geteuid() + 1, getegid()) != 0) GTEST_SKIP() << "needs root";
  expect_refused(StatusCode::kFailedPrecondition, "owned by user " + std::to_string(geteuid() + 1));
}

INSTANTIATE_TEST_SUITE_P(Io, FileOwnerTest, testing::Values(FileIo::kMmap, FileIo::kDirect),
                         [](const auto& io) {
                           return io.param == FileIo::kDirect ? "direct" : "mmap";
                         });

// The same by a specification: what comes back after a restart is not believed.
TEST(FileOwner, AWarmCacheTellsWhatToDo) {
  const TempDir folder(TempDir::on_disk());
  const std::string spec =
      "nvcache://?size=5MiB&space=regions&region=128KiB&restart=warm&medium=file:" +
      folder.file("blocks");
  ASSERT_TRUE(open_block_cache(spec).ok());
  ASSERT_EQ(chmod(folder.file("blocks").c_str(), 0666), 0);
  const auto refused = open_block_cache(spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("Remove it, or, if none did: chmod 600"));
}

}  // namespace
}  // namespace nvcache
