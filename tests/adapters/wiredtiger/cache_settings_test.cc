// The caches that WiredTiger's configuration asks for.
#include "adapters/wiredtiger/cache_settings.h"

#include "gtest/gtest.h"

namespace nvcache {
namespace {

using Settings = std::vector<std::string>;

TEST(CacheSettings, ListsAreReadAsSettings) {
  EXPECT_EQ(settings_of_list("(size=1GiB)"), Settings{"size=1GiB"});
  EXPECT_EQ(settings_of_list("(size=1GiB,medium=[file:/x,io=direct])"),
            (Settings{"size=1GiB", "medium=file:/x,io=direct"}));
  EXPECT_EQ(settings_of_list("(admission=[small_bypass=8GiB,obp=[0.1,window]],eviction=[lfru=5])"),
            (Settings{"admission=small_bypass(8GiB)+obp(0.1,window)", "eviction=lfru(5)"}));
  EXPECT_EQ(settings_of_list("(admission=[obp=0.1,second_touch],size=1)"),
            (Settings{"admission=obp(0.1)+second_touch", "size=1"}));
  EXPECT_EQ(settings_of_list("(medium=[emulated:optane,on=dram])"),
            Settings{"medium=emulated:optane,on=dram"});
  EXPECT_EQ(settings_of_list("()"), Settings{});
}

TEST(CacheSettings, AListIsACache) {
  const auto cache =
      read_cache_list("(size=1GiB,medium=[file:/x,io=direct],admission=[obp=[0.1,window]])");
  ASSERT_TRUE(cache.ok() && *cache) << cache.status();
  EXPECT_EQ((*cache)->size_bytes, 1u << 30);
  EXPECT_EQ((*cache)->medium, "file:/x,io=direct");
  EXPECT_EQ((*cache)->admission, "obp(0.1,window)");
}

TEST(CacheSettings, SizeZeroIsNoCache) {
  for (const char* none :
       {"", " ", "nvcache://?size=0", "nvcache://?medium=dram&size=0MiB&verify=never"}) {
    const auto cache = read_cache(none);
    ASSERT_TRUE(cache.ok()) << none;
    EXPECT_FALSE(*cache) << none;
  }
  const auto list = read_cache_list("(size=0)");
  EXPECT_TRUE(list.ok() && !*list);
  EXPECT_FALSE(read_cache("nvcache://?max_size=0&size=1MiB").ok());
  EXPECT_TRUE(read_cache("nvcache://?size=0.5MiB").value());
  EXPECT_FALSE(read_cache("nvcache://?medium=dram").ok());
}

TEST(CacheSettings, BlocksAreVerifiedUnlessItSaysOtherwise) {
  EXPECT_EQ(read_cache("nvcache://?size=1MiB").value()->verify, Verify::kAlways);
  EXPECT_EQ(read_cache(" nvcache://?size=1MiB\t").value()->verify, Verify::kAlways);
  EXPECT_EQ(read_cache("nvcache://?verify=never&size=1MiB").value()->verify, Verify::kNever);
}

}  // namespace
}  // namespace nvcache
