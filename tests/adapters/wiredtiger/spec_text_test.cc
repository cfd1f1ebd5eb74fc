// Cache specifications as WiredTiger's configuration writes them.
#include "adapters/wiredtiger/spec_text.h"

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(SpecText, ListsBecomeSpecifications) {
  EXPECT_EQ(spec_of_list("(size=1GiB)"), "nvcache://?size=1GiB");
  EXPECT_EQ(spec_of_list("(size=1GiB,medium=[file:/x,io=direct])"),
            "nvcache://?size=1GiB&medium=file:/x,io=direct");
  EXPECT_EQ(spec_of_list("(admission=[small_bypass=8GiB,obp=[0.1,window]],eviction=[lfru=5])"),
            "nvcache://?admission=small_bypass(8GiB)+obp(0.1,window)&eviction=lfru(5)");
  EXPECT_EQ(spec_of_list("(admission=[obp=0.1,second_touch],size=1)"),
            "nvcache://?admission=obp(0.1)+second_touch&size=1");
  EXPECT_EQ(spec_of_list("(medium=[emulated:optane,on=dram])"),
            "nvcache://?medium=emulated:optane,on=dram");
  EXPECT_EQ(spec_of_list("()"), "nvcache://?");
}

TEST(SpecText, SizeZeroIsNoCache) {
  EXPECT_EQ(complete_cache_spec(""), "");
  EXPECT_EQ(complete_cache_spec("nvcache://?size=0"), "");
  EXPECT_EQ(complete_cache_spec("nvcache://?medium=dram&size=0&verify=never"), "");
  EXPECT_NE(complete_cache_spec("nvcache://?max_size=0&size=1MiB"), "");
  EXPECT_NE(complete_cache_spec("nvcache://?size=0.5MiB"), "");
}

TEST(SpecText, BlocksAreVerifiedUnlessItSaysOtherwise) {
  EXPECT_EQ(complete_cache_spec("nvcache://?size=1MiB"), "nvcache://?size=1MiB&verify=always");
  EXPECT_EQ(complete_cache_spec(" nvcache://?size=1MiB\t"), "nvcache://?size=1MiB&verify=always");
  EXPECT_EQ(complete_cache_spec("nvcache://?verify=never&size=1MiB"),
            "nvcache://?verify=never&size=1MiB");
}

}  // namespace
}  // namespace nvcache
