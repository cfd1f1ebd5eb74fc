// A process with a cache in regions is killed (SIGKILL) at any moment, again and again: each block
// that the next opening finds is right, and what was sealed comes back.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/prng.h"
#include "support/block_cache_fixture.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kKillKeys = 4000;
constexpr size_t kKillBytes = 3000;
constexpr uint64_t kRegionBytes = 128 << 10;  // as in kill_spec()

std::string kill_spec(const std::string& path) {
  return "nvcache://?size=5MiB&space=regions&region=128KiB&admission=always&eviction=clock"
         "&maintenance=0&restart=warm&keys=immutable&medium=file:" +
         path;
}

// Puts and looks up until it is killed; a byte for each so many operations once a region is
// written. On a busy machine thousands of operations may pass before that.
[[noreturn]] void live(const std::string& path, uint64_t seed, int progress) {
  auto cache = open_block_cache(kill_spec(path));
  if (!cache.ok()) _exit(1);
  Prng random(seed);
  const auto written_bytes = [&] { return (*cache)->stats().medium_written_bytes; };
  const uint64_t enough_bytes = written_bytes() + kRegionBytes;
  bool has_written = false;
  for (uint64_t i = 0;; ++i) {
    const BlockKey key{1, random.below(kKillKeys)};
    const Lookup found = (*cache)->lookup(key);
    if (found.hit() && !test::holds(found.pin.bytes(), key, kKillBytes)) _exit(2);
    if (!found.hit()) (void)test::put(**cache, key, kKillBytes);
    if (i % 16 != 0) continue;
    has_written = has_written || written_bytes() >= enough_bytes;
    if (has_written && write(progress, ".", 1) != 1) _exit(3);
  }
}

TEST(RegionKill, EveryBlockIsRightAfterManyKills) {
  const TempDir folder;
  const std::string path = folder.file("blocks");
  Prng random(test_seed());
  uint64_t found = 0;
  for (uint64_t life = 0; life < 20; ++life) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) live(path, test_seed() + life, ends[1]);
    close(ends[1]);
    char byte = 0;
    for (uint64_t steps = 20 + random.below(200); steps > 0; --steps) {
      ASSERT_EQ(read(ends[0], &byte, 1), 1) << "it ended by itself";
    }
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
    const auto cache = test::open(kill_spec(path));
    ASSERT_NE(cache, nullptr);
    test::wait_for_recovery(*cache);
    EXPECT_EQ(cache->stats().damaged_regions, 0u);
    found += test::count_blocks(*cache, 1, kKillKeys, kKillBytes);
    EXPECT_EQ(cache->stats().damaged_blocks, 0u);
  }
  EXPECT_GT(found, 1000u) << "something came back";
}

}  // namespace
}  // namespace nvcache
