// A child that the host forks may close its copies of caches, or exit: it waits for no thread, and
// its parent's caches serve on.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "nvcache/block_cache.h"
#include "support/block_cache_fixture.h"
#include "support/forked_child.h"
#include "support/region_cache.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

TEST(ForkedChildOfACache, ClosesItWithoutHarm) {
  const TempDir folder(TempDir::on_disk());
  const std::string file = "&medium=file:" + folder.file("blocks");
  for (const std::string& more :
       {std::string("&medium=dram"), file, file + ",io=direct&space=in_place",
        file + "&space=regions&region=128KiB",
        file + "&space=regions&region=128KiB&restart=warm"}) {
    SCOPED_TRACE(more);
    const std::string spec = "nvcache://?size=5MiB&admission=always&eviction=clock" + more;
    auto cache = test::open(spec);
    test::put_blocks(*cache, 1, 500, 4000);
    // Some writes are under way.
    test::ForkedChild child([&] { return cache.reset(), 0; });
    EXPECT_EQ(child.end(), 0);
    test::put_blocks(*cache, 2, 100, 4000);
    cache->drain();
    EXPECT_EQ(test::count_blocks(*cache, 2, 100, 4000), 100u);
    EXPECT_EQ(cache->stats().medium_errors, 0u);
    if (more.find("warm") == more.npos) continue;
    cache.reset();
    cache = test::open(spec);
    test::wait_for_recovery(*cache);
    EXPECT_EQ(test::count_blocks(*cache, 2, 100, 4000), 100u);
  }
}

}  // namespace
}  // namespace nvcache
