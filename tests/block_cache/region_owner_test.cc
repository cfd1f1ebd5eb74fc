// A warm medium is its owner's: a program that gets another's, as by device names that a reboot
// exchanged, is refused, and told what to do.
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "nvcache/status.h"
#include "support/block_cache_fixture.h"
#include "support/region_cache.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

class RegionOwner : public testing::Test {
 protected:
  std::string spec(const std::string& file, const std::string& more) const {
    return "nvcache://?size=5MiB&space=regions&region=64KiB&admission=always&eviction=clock"
           "&maintenance=0&medium=file:" +
           folder_.file(file) + more;
  }
  void fill(const std::string& file, const std::string& more) const {
    const auto cache = test::open(spec(file, "&restart=warm" + more));
    ASSERT_NE(cache, nullptr);
    test::put_blocks(*cache, 1, 100, 1000);
  }
  // How many come back.
  uint64_t back(const std::string& file, const std::string& more) const {
    const auto cache = test::open(spec(file, "&restart=warm" + more));
    if (cache == nullptr) return 0;
    test::wait_for_recovery(*cache);
    return cache->stats().recovered_blocks;
  }
  std::string refused(const std::string& file, const std::string& more) const {
    const auto cache = open_block_cache(spec(file, more));
    EXPECT_TRUE(is_failed_precondition(cache.status())) << cache.status();
    return std::string(cache.status().message());
  }
  TempDir folder_;
};

TEST_F(RegionOwner, OfExchangedMediaNoneIsServedOrOverwritten) {
  fill("a", "&owner=orders");
  fill("b", "&owner=users");
  std::filesystem::rename(folder_.file("a"), folder_.file("c"));
  std::filesystem::rename(folder_.file("b"), folder_.file("a"));
  std::filesystem::rename(folder_.file("c"), folder_.file("b"));
  for (const char* keys : {"", "&keys=immutable"}) {
    const std::string message = refused("a", std::string("&restart=warm&owner=orders") + keys);
    EXPECT_THAT(message, HasSubstr("another owner"));
    EXPECT_THAT(message, HasSubstr("format=yes"));
  }
  EXPECT_EQ(back("a", "&owner=users"), 100u) << "nothing was changed";
  EXPECT_EQ(back("b", "&owner=orders"), 100u);
}

TEST_F(RegionOwner, WhoGivesNoNameIsRefusedWhateverTheRestart) {
  fill("a", "&owner=orders");
  for (const char* restart : {"&restart=warm", "&restart=cold"}) {
    EXPECT_THAT(refused("a", restart), HasSubstr("none is given"));
  }
  EXPECT_EQ(back("a", "&owner=orders"), 100u);
}

TEST_F(RegionOwner, BlocksOfNobodyAreNotAnOwners) {
  fill("a", "");
  EXPECT_EQ(back("a", "&owner=orders"), 0u);
}

TEST_F(RegionOwner, FormatBeginsAnew) {
  fill("a", "&owner=orders");
  EXPECT_EQ(back("a", "&owner=users&format=yes"), 0u);
  EXPECT_EQ(back("a", "&owner=users"), 0u);
  fill("a", "&owner=users");
  EXPECT_EQ(back("a", "&owner=users"), 100u);
}

TEST_F(RegionOwner, ANameNeedsARestart) {
  const auto cache = open_block_cache(spec("a", "&owner=orders"));
  EXPECT_THAT(std::string(cache.status().message()), HasSubstr("restart=warm"));
  EXPECT_TRUE(is_invalid_argument(cache.status()));
}

}  // namespace
}  // namespace nvcache
