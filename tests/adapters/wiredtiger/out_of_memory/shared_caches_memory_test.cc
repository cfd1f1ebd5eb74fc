// The caches that databases share, with every allocation failing once: nothing waits for ever, and
// the next opening works.
#include <memory>
#include <new>
#include <string>

#include "adapters/wiredtiger/shared_caches.h"
#include "out_of_memory/sweep.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::Allocations;
using test::sweep;

class SharedCachesMemory : public ::testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<FileBlockCache>> open() {
    return open_shared_cache(spec_, OnWrite::kOffer);
  }

  TempDir folder_;
  const std::string spec_ =
      "nvcache://?size=1MiB&shards=1&maintenance=0&medium=file:" + folder_.file("blocks");
};

TEST_F(SharedCachesMemory, AnOpeningThatFailsLeavesTheFileToTheNext) {
  const uint64_t failed = sweep(
      Allocations::kOfThisThread,
      [&] {
        try {
          (void)open();
        } catch (const std::bad_alloc&) {  // the extension's entry tells WiredTiger
        }
      },
      [&] {
        const auto first = open();
        ASSERT_TRUE(first.ok()) << first.status();
        const auto second = open();
        ASSERT_TRUE(second.ok()) << second.status();
        EXPECT_EQ(*first, *second);
      });
  EXPECT_GT(failed, 10u);
}

}  // namespace
}  // namespace nvcache
