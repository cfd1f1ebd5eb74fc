// Which files are gone when a path is.
#include "adapters/rocksdb/live_files.h"

#include <gtest/gtest.h>

#include <string>

namespace nvcache::rocksdb {
namespace {

TEST(LiveFiles, AFileIsDeadWithItsLastPath) {
  LiveFiles files;
  files.add("/db/1.sst", 7);
  files.add("/db/1.sst", 7);
  files.add("/checkpoint/1.sst", 7);
  EXPECT_EQ(files.remove("/db/2.sst"), std::nullopt);
  EXPECT_EQ(files.remove("/db/1.sst"), std::nullopt) << "the checkpoint has it";
  EXPECT_EQ(files.remove("/db/1.sst"), std::nullopt) << "gone already";
  EXPECT_EQ(files.remove("/checkpoint/1.sst"), 7u);
  EXPECT_EQ(files.size(), 0u);
}

TEST(LiveFiles, APathMayGetAnotherFile) {
  LiveFiles files;
  files.add("/db/1.sst", 7);
  files.add("/db/1.sst", 8);
  files.add("/db/2.sst", 7);
  EXPECT_EQ(files.remove("/db/2.sst"), 7u);
  EXPECT_EQ(files.remove("/db/1.sst"), 8u);
}

TEST(LiveFiles, AreBounded) {
  LiveFiles files;
  for (uint64_t file = 0; file < LiveFiles::kMostFiles + 1000; ++file) {
    files.add("/closed/" + std::to_string(file) + ".sst", file);
  }
  EXPECT_EQ(files.size(), LiveFiles::kMostFiles);
  files.add("/db/1.sst", uint64_t{1} << 40);
  EXPECT_EQ(files.remove("/db/1.sst"), uint64_t{1} << 40);
}

}  // namespace
}  // namespace nvcache::rocksdb
