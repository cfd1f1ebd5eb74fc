// Every allocation of the file cache fails once: what it lists stays whole.
#include <new>
#include <vector>

#include "file_cache/file_block_cache.h"
#include "out_of_memory/sweep.h"
#include "support/block_cache_fixture.h"

namespace nvcache {
namespace {

TEST(FileCacheMemory, AnOpenWithoutMemoryLeavesNoFileBehind) {
  FileBlockCache files(test::open("nvcache://?size=1MiB&admission=always"));
  FileIdentity identity{.device = 1, .inode = 2, .size_bytes = 4096, .modified_ns = 1};
  (void)files.open("closed", identity);
  std::vector<std::shared_ptr<CachedFile>> opened(2);
  const uint64_t failed = test::sweep(
      test::Allocations::kOfThisThread,
      [&] {
        try {
          opened[0] = files.open("a file whose name is long enough to be allocated", {});
          opened[1] = files.open("closed", {.device = 1, .inode = 3});  // another by that name
        } catch (const std::bad_alloc&) {
        }
      },
      [&] {
        EXPECT_LE(files.stats().files, 2u);
        files.forget("a file whose name is long enough to be allocated");
        files.forget("closed");
        files.close("closed", *files.open("closed", identity), identity);
        opened.assign(2, nullptr);
      });
  EXPECT_GT(failed, 1u);
}

}  // namespace
}  // namespace nvcache
