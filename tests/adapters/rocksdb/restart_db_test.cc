// A cache on a file with direct I/O comes back after a restart with the blocks of a real database,
// and never with others.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "database_life.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/checkpoint.h"
#include "support/loop_device.h"

namespace nvcache::rocksdb::testing {
namespace {

namespace fs = std::filesystem;

class RestartDbTest : public ::testing::TestWithParam<Face> {
 protected:
  // A user's specification; `more` is added.
  std::string spec(const std::string& more = "") const {
    return "nvcache://?size=64MiB&admission=always&eviction=clock&medium=file:" + medium_ +
           ",io=direct" + more;
  }
  DatabaseLife live(const std::string& more = "", const std::string& db = "db") const {
    return {GetParam(), dir_.file(db), spec(more)};
  }
  // Fills the database with a version and reads it, so that the tier has its blocks.
  void live_with(uint32_t version, const std::string& db = "db") const {
    DatabaseLife life = live("", db);
    life.db().fill(version);
    life.db().read_and_verify(8000, version);
  }
  // The version is the right one, read from what comes back and from what does not.
  void expect(uint32_t version, const std::string& db = "db") const {
    DatabaseLife life = live("", db);
    life.db().read_and_verify(500, version, /*salt=*/1);
    life.wait_for_recovery();
    life.db().read_and_verify(4000, version, /*salt=*/2);
    EXPECT_EQ(life.stats().damaged_blocks + life.stats().damaged_regions, 0u);
  }

  const TempDir dir_;
  const std::string medium_ = dir_.file("medium");
};
INSTANTIATE_TEST_SUITE_P(Faces, RestartDbTest,
                         ::testing::Values(Face::kSecondary, Face::kPersistent),
                         [](const auto& face) {
                           return face.param == Face::kSecondary ? "Secondary" : "Persistent";
                         });

TEST_P(RestartDbTest, IsWarmFromTheFirstLookups) {
  {
    DatabaseLife first = live();
    first.db().fill();
    first.db().read_and_verify(30000);
  }
  EXPECT_TRUE(fs::exists(medium_)) << "the file stays when the cache is closed";
  DatabaseLife second = live();
  second.wait_for_recovery();
  const Stats before = second.stats();
  EXPECT_GT(before.recovered_blocks, 2000u) << before.to_json();
  second.db().read_and_verify(2000, 0, /*salt=*/1);
  const Stats after = second.stats();
  EXPECT_GT(after.hits - before.hits, 10 * (after.misses - before.misses)) << after.to_json();
  EXPECT_EQ(after.damaged_blocks + after.damaged_regions + after.medium_errors, 0u);
}

// Also a control of the test above: what it sees does not come from elsewhere.
TEST_P(RestartDbTest, IsColdWhenToldSo) {
  for (const char* cold : {"&restart=cold", "&space=in_place", "&space=regions&restart=cold"}) {
    SCOPED_TRACE(cold);
    for (int life = 0; life < 2; ++life) {
      DatabaseLife one = live(cold);
      if (life == 0) one.db().fill();
      const Stats before = one.stats();
      one.db().read_and_verify(500);
      const Stats after = one.stats();
      EXPECT_EQ(after.recovered_blocks, 0u);
      EXPECT_GT(after.misses - before.misses, after.hits - before.hits) << after.to_json();
    }
    EXPECT_FALSE(fs::exists(medium_)) << "the file goes with its cache";
  }
}

TEST_P(RestartDbTest, ADatabaseMadeAnewSeesNothingOfTheOld) {
  for (uint32_t version = 1; version <= 3; ++version) {
    ASSERT_ROCKS_OK(::rocksdb::DestroyDB(dir_.file("db"), ::rocksdb::Options()));
    live_with(version);
    expect(version);
  }
}

// A file gets the number of one that the copy never had.
TEST_P(RestartDbTest, ADatabasePutBackToAnOlderCopySeesNothingOfTheNewer) {
  live_with(1);
  fs::copy(dir_.file("db"), dir_.file("copy"), fs::copy_options::recursive);
  live_with(2);
  expect(2);
  fs::remove_all(dir_.file("db"));
  fs::rename(dir_.file("copy"), dir_.file("db"));
  expect(1);
  live_with(3);
  expect(3);
}

// Both have one identity, and give files the same numbers.
TEST_P(RestartDbTest, ADatabaseAndItsCopyUseOneMediumByTurns) {
  {
    DatabaseLife life = live();
    life.db().fill(1);
    ::rocksdb::Checkpoint* made = nullptr;
    ASSERT_ROCKS_OK(::rocksdb::Checkpoint::Create(life.db().get(), &made));
    const std::unique_ptr<::rocksdb::Checkpoint> checkpoint(made);
    ASSERT_ROCKS_OK(checkpoint->CreateCheckpoint(dir_.file("copy")));
  }
  live_with(2, "db");
  live_with(3, "copy");
  expect(2, "db");
  expect(3, "copy");
}

TEST_P(RestartDbTest, TwoDatabasesShareACacheThatComesBack) {
  for (int life = 0; life < 2; ++life) {
    std::shared_ptr<BlockCache> cache;
    const Caches caches = open_face(GetParam(), spec(), &cache);
    TestDb first(dir_.file("first"), db_options(caches));
    TestDb second(dir_.file("second"), db_options(caches));
    while (cache->stats().recovering != 0) std::this_thread::yield();
    if (life == 0) {
      first.fill(1);
      second.fill(2);
    }
    first.read_and_verify(4000, 1);
    second.read_and_verify(4000, 2);
    EXPECT_EQ(cache->stats().recovered_blocks > 1000, life == 1) << cache->stats().to_json();
  }
}

TEST_P(RestartDbTest, AnotherOpenerOfTheMediumIsRefused) {
  const DatabaseLife first = live();
  std::shared_ptr<::rocksdb::SecondaryCache> second;
  const ::rocksdb::Status refused = NewSecondaryCache({.spec = spec()}, &second);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.ToString().find(medium_), std::string::npos) << refused.ToString();
}

// The file of a cache in place that was killed has no mark, and is overwritten, as always.
TEST_P(RestartDbTest, AFileOfACacheInPlaceBecomesOneInRegions) {
  { const std::unique_ptr<FILE, int (*)(FILE*)> kept(fopen(medium_.c_str(), "w"), fclose); }
  {
    DatabaseLife in_place = live("&space=in_place");
    in_place.db().fill();
    in_place.db().read_and_verify(8000);
  }
  ASSERT_TRUE(fs::exists(medium_));
  {
    DatabaseLife first = live();
    EXPECT_EQ(first.stats().recovered_blocks + first.stats().recovering, 0u);
    first.db().read_and_verify(8000);
    EXPECT_EQ(first.stats().damaged_blocks, 0u);
  }
  DatabaseLife second = live();
  second.wait_for_recovery();
  EXPECT_GT(second.stats().recovered_blocks, 500u);
  second.db().read_and_verify(4000);
}

// Changes a byte of both superblocks.
void damage_superblocks(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (const off_t at : {40, (64 << 10) + 40}) {
    char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
    byte = static_cast<char>(byte ^ 1);
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
  }
  ::close(fd);
}

TEST_P(RestartDbTest, ADamagedSuperblockIsRefusedUntilToldToFormat) {
  live_with(1);
  ASSERT_NO_FATAL_FAILURE(damage_superblocks(medium_));
  Caches refused;
  const CacheOptions options{.spec = spec()};
  const ::rocksdb::Status status = GetParam() == Face::kPersistent
                                       ? NewPersistentCache(options, &refused.persistent)
                                       : NewSecondaryCache(options, &refused.secondary);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("nothing was changed. Allowed: format=yes"), std::string::npos)
      << status.ToString();
  {
    DatabaseLife anew = live("&format=yes");
    EXPECT_EQ(anew.stats().recovered_blocks, 0u);
    anew.db().read_and_verify(8000, 1);
  }
  DatabaseLife after = live();
  after.wait_for_recovery();
  EXPECT_GT(after.stats().recovered_blocks, 500u);
  after.db().read_and_verify(2000, 1);
}

TEST_P(RestartDbTest, AMediumOfAnotherProgramsKeysIsNotBelieved) {
  {
    auto other = open_block_cache(spec("&space=regions&restart=warm"));  // mutable keys
    ASSERT_TRUE(other.ok()) << other.status();
    const std::string block(4096, 'x');
    for (uint64_t i = 0; i < 100; ++i) {
      (void)(*other)->put({i + 1, i}, {reinterpret_cast<const std::byte*>(block.data()), 4096},
                          Origin::kRead);
    }
  }
  DatabaseLife life = live();
  EXPECT_EQ(life.stats().recovering, 0u);
  EXPECT_EQ(life.stats().blocks, 0u);
  life.db().fill(1);
  life.db().read_and_verify(2000, 1);
}

constexpr uint64_t kDeviceBytes = uint64_t{70} << 20;

TEST(RestartDeviceTest, ADeviceComesBack) {
  const test::LoopDevice device(kDeviceBytes);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  const TempDir dir;
  const std::string spec =
      "nvcache://?size=64MiB&admission=always&eviction=clock&medium=nvme:" + device.path();
  for (int life = 0; life < 2; ++life) {
    DatabaseLife one(Face::kSecondary, dir.file("db"), spec);
    if (life == 0) one.db().fill();
    one.wait_for_recovery();
    one.db().read_and_verify(8000);
    EXPECT_EQ(one.stats().recovered_blocks > 500, life == 1) << one.stats().to_json();
  }
}

// format=yes of the cache is no leave to overwrite a device: only its medium's is.
TEST(RestartDeviceTest, ADeviceThatHoldsOthersDataIsRefused) {
  const test::LoopDevice device(kDeviceBytes);
  if (device.path().empty()) GTEST_SKIP() << "no loop device here: " << device.why();
  const std::string data(4096, 'x');
  const int fd = ::open(device.path().c_str(), O_WRONLY | O_SYNC | O_CLOEXEC);
  ASSERT_EQ(::write(fd, data.data(), data.size()), 4096);
  ::close(fd);
  for (const char* more : {"", "&format=yes"}) {
    std::shared_ptr<::rocksdb::SecondaryCache> secondary;
    const ::rocksdb::Status refused = NewSecondaryCache(
        {.spec = "nvcache://?size=64MiB&medium=nvme:" + device.path() + more}, &secondary);
    EXPECT_NE(refused.ToString().find("holds data"), std::string::npos) << refused.ToString();
  }
}

TEST(RestartUriTest, AUriMeansTheSame) {
  const TempDir dir;
  const std::string medium = dir.file("medium");
  const std::string uri = "nvcache://?size=64MiB&medium=file:" + medium + ",io=direct";
  for (const bool cold : {true, false}) {
    std::shared_ptr<::rocksdb::SecondaryCache> secondary;
    ASSERT_ROCKS_OK(::rocksdb::SecondaryCache::CreateFromString(
        ::rocksdb::ConfigOptions(), uri + (cold ? "&restart=cold" : ""), &secondary));
    EXPECT_TRUE(fs::exists(medium));
    secondary.reset();
    EXPECT_EQ(fs::exists(medium), !cold);
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
