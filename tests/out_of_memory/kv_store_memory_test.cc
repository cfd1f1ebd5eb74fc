// Every allocation of the key-value store fails once: no exception leaves it, what it says holds,
// and it works as before.
#include <optional>
#include <string>
#include <vector>

#include "kv_store/kv_fixture.h"
#include "medium/dram.h"
#include "out_of_memory/sweep.h"

namespace nvcache {
namespace {

using test::Allocations;
using test::get_text;
using test::put_text;

TEST(KvStoreMemory, AChangeThatFindsNoMemoryIsRefusedAndChangesNothing) {
  KvConfig config = test::small_config();
  config.size_bytes = 256 << 10;
  auto dram = DramMedium::open({.size_bytes = config.size_bytes});
  ASSERT_TRUE(dram.ok()) << dram.status();
  const auto store = test::make_kv(config, *std::move(dram));
  put_text(*store, "often", "0");
  std::string last = "0";
  int number = 0;
  const uint64_t failed = test::sweep(
      Allocations::kOfThisThread,
      [&] {
        for (int i = 0; i < 6; ++i) {  // into the write cache, read there, and out again
          const char text[] = {static_cast<char>('a' + ++number % 26), '\0'};
          const KvResult result = store->put("often", test::bytes_of(text), {});
          if (result.outcome == KvOutcome::kDone) {
            last[0] = text[0];
          } else {
            EXPECT_EQ(result.outcome, KvOutcome::kNoSpace);
          }
          for (int reads = 0; reads < 5; ++reads) (void)store->get("often");
        }
        (void)store->touch("often", 0);
        (void)store->erase("never there");
        (void)store->sync().ok();
      },
      [&] {
        EXPECT_EQ(get_text(*store, "often"), last);
        EXPECT_EQ(put_text(*store, "other", "value").outcome, KvOutcome::kDone);
        EXPECT_EQ(get_text(*store, "other"), "value");
      });
  EXPECT_GT(failed, 3u);
}

}  // namespace
}  // namespace nvcache
