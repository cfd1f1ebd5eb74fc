// nvme:DEVICE on loop devices: what it takes over, what it refuses, and a cache on it.
#include "medium/block_device.h"

#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nvcache/block_cache.h"
#include "support/loop_device.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

constexpr uint64_t kDeviceBytes = (uint64_t{16} << 20) + 3 * 512;  // as odd as real ones
constexpr uint64_t kMiB = uint64_t{1} << 20;

class BlockDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_.path().empty()) GTEST_SKIP() << "no loop device here: " << device_.why();
  }
  StatusOr<std::unique_ptr<Medium>> open(bool format = false, uint64_t size_bytes = kMiB) {
    return BlockDeviceMedium::open(device_.path(), format, {.size_bytes = size_bytes});
  }
  void write_behind(uint64_t at, const std::string& text) {
    std::fstream file(device_.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << text;
  }
  std::string read_behind(uint64_t at, size_t bytes) {
    std::string text(bytes, '?');
    std::ifstream file(device_.file(), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    return text;
  }

  test::LoopDevice device_{kDeviceBytes};
};

TEST_F(BlockDevice, AnEmptyOneIsTakenAndKnownAgain) {
  ASSERT_TRUE(open().ok()) << open().status();
  EXPECT_EQ(read_behind(0, BlockDeviceMedium::kMark.size()), BlockDeviceMedium::kMark);
  write_behind(2 * kMiB, "a block of the last cache");
  EXPECT_TRUE(open().ok()) << open().status();
}

TEST_F(BlockDevice, OneWithDataIsRefusedAndLeftAlone) {
  for (const uint64_t at : {uint64_t{0}, uint64_t{510}, uint64_t{1080}, 64 * 1024 + uint64_t{64},
                            kMiB - 1, kDeviceBytes - kMiB, kDeviceBytes - 512}) {
    SCOPED_TRACE(at);
    write_behind(at, "#");
    const auto refused = open();
    EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition) << refused.status();
    EXPECT_THAT(refused.status().message(), HasSubstr("format=yes"));
    EXPECT_EQ(read_behind(at, 1), "#");
    EXPECT_NE(read_behind(0, 7), "nvcache");
    write_behind(at, std::string(1, '\0'));
  }
  EXPECT_TRUE(open().ok());
}

// Our mark stays in the first sector where the superblock of the next user lies elsewhere.
TEST_F(BlockDevice, OneThatOthersUseNowIsRefusedThoughItHasOurMark) {
  ASSERT_TRUE(open().ok());
  const std::string mark = read_behind(0, 512);
  const std::string old_mark = std::string(BlockDeviceMedium::kOldMark) + std::string(489, '\0');
  for (const std::string& left : {mark, old_mark}) {
    for (const uint64_t at : {uint64_t{64}, uint64_t{510}, uint64_t{4096}, kMiB - 1,
                              kDeviceBytes - kMiB, kDeviceBytes - 512}) {
      SCOPED_TRACE(at);
      write_behind(0, left);
      write_behind(at, "#");
      write_behind(2 * kMiB, "data of others");
      const auto refused = open();
      EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition) << refused.status();
      EXPECT_EQ(read_behind(2 * kMiB, 4), "data");
      EXPECT_EQ(read_behind(0, 16), left.substr(0, 16));
      write_behind(at, std::string(1, '\0'));
    }
    write_behind(0, left);
    EXPECT_TRUE(open().ok());
  }
}

TEST_F(BlockDevice, AMarkIsBelievedWholeOnly) {
  ASSERT_TRUE(open().ok());
  for (const uint64_t at : {uint64_t{0}, uint64_t{24}, uint64_t{32}, uint64_t{40}, uint64_t{63}}) {
    const std::string before = read_behind(at, 1);
    write_behind(at, std::string(1, static_cast<char>(before[0] ^ 1)));
    EXPECT_FALSE(open().ok()) << at;
    write_behind(at, before);
  }
  EXPECT_TRUE(open().ok());
}

// Blocks lie in the last MiB: that is no mark of others.
TEST_F(BlockDevice, OneThatIsFullOfBlocksIsKnownAgain) {
  ASSERT_TRUE(open(false, 4 * kMiB).ok());
  ASSERT_TRUE(open(false, 15 * kMiB).ok());
  write_behind(kDeviceBytes - kMiB, "a block of the last cache");
  EXPECT_TRUE(open(false, 4 * kMiB).ok()) << "smaller now, but it was larger";
  EXPECT_TRUE(open(false, 15 * kMiB).ok());
}

TEST_F(BlockDevice, FormatOverwritesWhatOthersWouldFind) {
  const uint64_t places[] = {510, 1080, kMiB - 1, kMiB, 2 * kMiB - 1, kDeviceBytes - 512};
  for (const uint64_t at : places) write_behind(at, "#");
  ASSERT_TRUE(open(/*format=*/true).ok());
  for (const uint64_t at : places) {
    EXPECT_EQ(read_behind(at, 1), std::string(1, '\0')) << at;
  }
  EXPECT_TRUE(open().ok());
}

TEST_F(BlockDevice, OneCacheAtATime) {
  const auto first = open();
  ASSERT_TRUE(first.ok());
  const auto second = open();
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.status().message(), HasSubstr("in use by another cache"));
}

TEST_F(BlockDevice, AsLargeAsTheDeviceAndNoLarger) {
  EXPECT_TRUE(open(false, 15 * kMiB).ok());
  const auto refused = open(false, 15 * kMiB + 1);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("allowed: up to 15.0 MiB"));
}

TEST_F(BlockDevice, ACacheServesFromIt) {
  auto cache = open_block_cache(
      "nvcache://?size=8MiB&admission=always&eviction=clock&medium=nvme:" + device_.path());
  ASSERT_TRUE(cache.ok()) << cache.status();
  const std::vector<std::byte> block(4096, std::byte{7});
  for (uint64_t i = 0; i < 3000; ++i) {
    (void)(*cache)->put({1, i * 4096}, block, Origin::kRead);
    if (i % 64 == 0) (*cache)->drain();
  }
  (*cache)->drain();
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    const Lookup found = (*cache)->lookup({1, i * 4096});
    if (!found.hit()) continue;
    ++hits;
    ASSERT_EQ(found.pin.bytes().size(), block.size());
    EXPECT_EQ(found.pin.bytes()[100], std::byte{7});
  }
  EXPECT_GT(hits, 1500u);
}

TEST(BlockDeviceSpec, NeedsABlockDevice) {
  TempDir folder;
  const std::string path = folder.file("file");
  std::ofstream(path) << "text";
  const auto file = BlockDeviceMedium::open(path, true, {.size_bytes = kMiB});
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("medium=file:" + path));
  EXPECT_EQ(
      BlockDeviceMedium::open(folder.file("none"), true, {.size_bytes = kMiB}).status().code(),
      StatusCode::kNotFound);
  EXPECT_THAT(check_medium("nvme:").message(), HasSubstr("no device given"));
  EXPECT_THAT(check_medium("nvme:/dev/x,fmt=yes").message(), HasSubstr("allowed: format=yes"));
}

}  // namespace
}  // namespace nvcache
