// Media on files: making, locking, keeping and removing them, and what happens
// when the disk is full, the file is cut short or reading it fails.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/errno_status.h"
#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/check.h"
#include "medium/file.h"
#include "medium/file_buffered.h"
#include "medium/file_dax.h"
#include "medium/file_direct.h"
#include "medium/file_mark.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSizeBytes = 1 << 20;
constexpr uint64_t kPiece = 8192;

std::string text(const Status& status) { return std::string(status.message()); }

struct AlignedPiece {
  std::unique_ptr<std::byte, void (*)(void*)> bytes{
      static_cast<std::byte*>(std::aligned_alloc(kPiece, kPiece)), &std::free};
  AlignedPiece() { std::fill(bytes.get(), bytes.get() + kPiece, std::byte{42}); }
  operator MutableBytes() { return {bytes.get(), kPiece}; }    // NOLINT: a buffer is its bytes
  operator ByteView() const { return {bytes.get(), kPiece}; }  // NOLINT
};

class FileMediumTest : public testing::TestWithParam<FileIo> {
 protected:
  StatusOr<std::unique_ptr<Medium>> try_open(uint64_t size_bytes = kSizeBytes,
                                             uint64_t max_size_bytes = 0) {
    return open_file_medium(path_, GetParam(),
                            {.size_bytes = size_bytes, .max_size_bytes = max_size_bytes});
  }
  std::unique_ptr<Medium> open(uint64_t max_size_bytes = 0) {
    auto medium = try_open(kSizeBytes, max_size_bytes);
    EXPECT_TRUE(medium.ok()) << medium.status();
    return *std::move(medium);
  }
  uint64_t allocated_bytes() const {
    struct stat found {};
    EXPECT_EQ(stat(path_.c_str(), &found), 0);
    return static_cast<uint64_t>(found.st_blocks) * 512;
  }

  TempDir directory_{TempDir::on_disk()};
  std::string path_ = directory_.file("blocks");
  AlignedPiece piece_;
};

TEST_P(FileMediumTest, MakesAPrivatePreallocatedFileAndRemovesIt) {
  {
    const auto medium = open();
    struct stat found {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    EXPECT_EQ(static_cast<uint64_t>(found.st_size), kSizeBytes + kFileMarkBytes);
    EXPECT_GE(allocated_bytes(), kSizeBytes);
    EXPECT_TRUE(medium->traits().persistent);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(FileMediumTest, KeepsAFileThatWasThere) {
  std::ofstream{path_};
  open();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_P(FileMediumTest, LeavesAFileAloneThatTookThePlaceOfItsOwn) {
  auto medium = open();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  std::ofstream(path_) << "somebody else's";
  medium.reset();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_P(FileMediumTest, PutsAFileIntoADirectory) {
  path_ = directory_.path();
  const auto medium = open();
  EXPECT_TRUE(std::filesystem::exists(directory_.file("nvcache.blocks")));
}

TEST_P(FileMediumTest, ASecondOpenerIsToldWhichFileIsInUse) {
  auto medium = open();
  const auto second = try_open();
  EXPECT_TRUE(is_failed_precondition(second.status())) << second.status();
  EXPECT_THAT(text(second.status()), AllOf(HasSubstr(path_), HasSubstr("in use")));
  EXPECT_EQ(medium->write(0, piece_), ok_status()) << "the first is not disturbed";
  medium.reset();
  EXPECT_TRUE(try_open().ok());
}

TEST_P(FileMediumTest, NoRoomIsSaidAtOpenWithPathAndSizes) {
  struct statvfs room {};
  ASSERT_EQ(statvfs(directory_.path().c_str(), &room), 0);
  const uint64_t too_much = static_cast<uint64_t>(room.f_bavail) * room.f_frsize + (1ull << 40);
  const auto medium = try_open(too_much);
  EXPECT_TRUE(is_resource_exhausted(medium.status())) << medium.status();
  EXPECT_THAT(text(medium.status()), AllOf(HasSubstr(path_), HasSubstr("no space left"),
                                           HasSubstr(std::to_string(too_much)), HasSubstr("free")));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing is left behind";
}

TEST_P(FileMediumTest, NoRoomToGrowIsAnErrorAndChangesNothing) {
  struct statvfs room {};
  ASSERT_EQ(statvfs(directory_.path().c_str(), &room), 0);
  const uint64_t too_much = static_cast<uint64_t>(room.f_bavail) * room.f_frsize + (1ull << 30);
  const auto medium = open(too_much / kPiece * kPiece);
  const Status status = medium->resize(too_much / kPiece * kPiece);
  EXPECT_TRUE(is_resource_exhausted(status)) << status;
  EXPECT_EQ(medium->size_bytes(), kSizeBytes);
  EXPECT_EQ(medium->write(kSizeBytes - kPiece, piece_), ok_status());
}

TEST_P(FileMediumTest, TheFileSizeLimitIsAnErrorAndNotASignal) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit tight{kSizeBytes / 2, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto medium = try_open();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_TRUE(is_resource_exhausted(medium.status())) << medium.status();
  EXPECT_THAT(text(medium.status()), AllOf(HasSubstr(path_), HasSubstr("ulimit -f")));
}

TEST_P(FileMediumTest, ShrinkingGivesSpaceBackWithoutCuttingTheFile) {
  const auto medium = open();
  ASSERT_EQ(medium->write(0, piece_), ok_status());
  ASSERT_EQ(medium->resize(kSizeBytes / 4), ok_status());
  EXPECT_LE(allocated_bytes(), kSizeBytes / 2);
  EXPECT_EQ(std::filesystem::file_size(path_), kSizeBytes + kFileMarkBytes);
  ASSERT_EQ(medium->resize(kSizeBytes), ok_status());
  EXPECT_GE(allocated_bytes(), kSizeBytes);
}

TEST_P(FileMediumTest, AFileCutShortByOthersIsAnErrorAndNotASignal) {
  const auto medium = open();
  ASSERT_EQ(medium->write(kSizeBytes / 2, piece_), ok_status());
  ASSERT_EQ(truncate(path_.c_str(), kPiece), 0);
  const Status read = medium->read(kSizeBytes / 2, piece_);
  EXPECT_TRUE(is_unavailable(read)) << read;
  EXPECT_THAT(text(read), AllOf(HasSubstr(path_), HasSubstr("cut short")));
  const Status write = medium->write(kSizeBytes / 2, piece_);
  EXPECT_TRUE(is_unavailable(write)) << write;
  const Status in_place = medium->on_direct_read({kSizeBytes / 2, kPiece});
  EXPECT_EQ(in_place.ok(), medium->traits().reads == Reads::kByCopy) << in_place;
  EXPECT_EQ(std::filesystem::file_size(path_), kPiece) << "a write must not grow it back";
}

TEST_P(FileMediumTest, WhatIsNoRegularFileIsRefused) {
  path_ = "/dev/null";
  const Status device = try_open().status();
  EXPECT_FALSE(device.ok());
  EXPECT_THAT(text(device), HasSubstr("/dev/null"));
  path_ = directory_.file("missing/blocks");
  const Status missing = try_open().status();
  EXPECT_TRUE(is_not_found(missing)) << missing;
  EXPECT_THAT(text(missing), HasSubstr(path_));
}

TEST_P(FileMediumTest, SizesThatMakeNoSenseAreRefused) {
  EXPECT_TRUE(is_invalid_argument(try_open(0).status()));
  const Status status = try_open(kSizeBytes, kSizeBytes / 2).status();
  EXPECT_TRUE(is_invalid_argument(status));
  EXPECT_THAT(text(status), HasSubstr("max_size"));
}

INSTANTIATE_TEST_SUITE_P(Io, FileMediumTest, testing::Values(FileIo::kMmap, FileIo::kDirect),
                         [](const testing::TestParamInfo<FileIo>& io) {
                           return io.param == FileIo::kMmap ? "mmap" : "direct";
                         });

// Maps a file that is not on DAX: what the mapping does is the same there.
TEST(DaxFileMedium, ReadsInPlaceAndNoticesAFileCutShort) {
  const TempDir directory;
  const std::string path = directory.file("blocks");
  constexpr uint64_t kFileBytes = 1 << 20;
  auto file =
      BufferedFileMedium::open(path, {.size_bytes = kFileBytes, .max_size_bytes = kFileBytes});
  ASSERT_TRUE(file.ok()) << file.status();
  auto medium = DaxFileMedium::map(*std::move(file));
  ASSERT_TRUE(medium.ok()) << medium.status();
  const std::vector<std::byte> block(8192, std::byte{7});
  ASSERT_EQ((*medium)->write(kFileBytes / 2, block), ok_status());
  ASSERT_EQ((*medium)->on_direct_read({kFileBytes / 2, block.size()}), ok_status());
  const ByteView in_place = (*medium)->direct().subspan(kFileBytes / 2, block.size());
  EXPECT_TRUE(std::equal(block.begin(), block.end(), in_place.begin()));
  EXPECT_EQ((*medium)->traits().reads, Reads::kInPlaceAsked);
  ASSERT_EQ(truncate(path.c_str(), 8192), 0);
  const Status cut = (*medium)->on_direct_read({kFileBytes / 2, block.size()});
  EXPECT_TRUE(is_unavailable(cut)) << cut;
  EXPECT_TRUE(is_out_of_range((*medium)->on_direct_read({kFileBytes, 1})));
}

TEST(DirectFileMedium, RoundsItsSizeDownToTheGranularity) {
  const TempDir directory(TempDir::on_disk());
  const auto medium =
      open_file_medium(directory.file("blocks"), FileIo::kDirect, {.size_bytes = 100'001});
  ASSERT_TRUE(medium.ok()) << medium.status();
  EXPECT_LE((*medium)->size_bytes(), 100'001u);
  EXPECT_EQ((*medium)->size_bytes() % (*medium)->traits().io_granularity_bytes, 0u);
  const auto tiny = open_file_medium(directory.file("tiny"), FileIo::kDirect, {.size_bytes = 100});
  EXPECT_TRUE(is_invalid_argument(tiny.status())) << tiny.status();
}

// Where a kernel does not tell the unit of direct I/O, trials find it.
TEST(DirectFileMedium, FindsTheSectorsOfADriveByTrial) {
  for (const uint32_t sector_bytes : {512u, 4096u, 16'384u, 65'536u}) {
    const uint32_t found =
        smallest_direct_unit([&](uint32_t unit) { return unit % sector_bytes == 0; });
    EXPECT_EQ(found, std::max(sector_bytes, 4096u));
  }
  EXPECT_EQ(smallest_direct_unit([](uint32_t unit) { return unit % (128 << 10) == 0; }), 0u);
}

TEST(ErrnoStatus, MapsWhatDevicesReturn) {
  EXPECT_TRUE(is_data_loss(errno_status("reading file", "/mnt/x", EIO)));
  EXPECT_TRUE(is_resource_exhausted(errno_status("writing file", "/mnt/x", ENOSPC)));
  EXPECT_TRUE(is_resource_exhausted(errno_status("writing file", "/mnt/x", EDQUOT)));
  EXPECT_TRUE(is_permission_denied(errno_status("opening file", "/mnt/x", EACCES)));
  EXPECT_TRUE(is_unavailable(errno_status("reading file", "/mnt/x", ENXIO)));
  EXPECT_EQ(text(errno_status("reading file", "/mnt/x", EIO)),
            "reading file /mnt/x: Input/output error");
}

}  // namespace
}  // namespace nvcache
