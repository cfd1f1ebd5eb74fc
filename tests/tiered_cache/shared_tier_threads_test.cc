// Many threads on a shared tier, each an engine with a cache of its own, and a closing beside them.
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "support/shared_engines.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;
using test::shared_tier_of;

// One step of an engine on keys that all engines have: it finds what it put last, or nothing.
void live_one_step(Engine& engine, Prng& random, uint64_t version, std::vector<uint64_t>* current) {
  const uint64_t id = random.below(current->size());
  const uint64_t kind = random.below(400);
  if (kind < 100) {
    engine.put_held(id, (*current)[id] = version);
  } else if (kind < 130) {
    engine.cache->erase(key_of(id));
    (*current)[id] = 0;
  } else if (kind == 130) {
    engine.cache->erase_unreferenced();
    current->assign(current->size(), 0);
  } else {
    EXPECT_THAT(engine.get(id), testing::AnyOf(0u, (*current)[id])) << "key " << id;
  }
}

// Caches are closed and opened again meanwhile, now and then all of them at once.
void live_beside_each_other(const std::string& spec) {
  constexpr uint64_t kThreads = 4;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + t);
      for (uint64_t life = 0; life < seeds(20); ++life) {
        Engine engine(spec);
        std::vector<uint64_t> current(60, 0);
        for (uint64_t step = 1; step < 1500; ++step) {
          live_one_step(engine, random, (step * 100 + life) * kThreads + t + 1, &current);
        }
        EXPECT_GT(shared_tier_of(engine).users, 0u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedTierThreads, ConcurrentCachesNeverServeEachOther) {
  live_beside_each_other(
      "tiered://?metadata=free&dram=64KiB&policy=bidirectional(1)&"
      "tier=(name=together,size=512KiB)");
}

TEST(SharedTierThreads, ConcurrentCachesNeverServeEachOtherFromRegions) {
  const TempDir folder;
  live_beside_each_other(
      "tiered://?metadata=free&dram=64KiB&"
      "tier=(name=regions,size=4MiB,region=64KiB,space=regions,medium=file:" +
      folder.file("blocks") + ")");
}

// The tier has room for all: what the cache that stays has put there is there at the end, however
// many others came, put, erased files and left.
TEST(SharedTierThreads, CachesThatComeAndGoTakeNothingFromOneThatStays) {
  const std::string spec = test::spec_sharing("name=comings,size=8MiB,shards=4");
  Engine stays(spec);
  // Caches that find another one opening the tier do without it, and lose what they put: so it is
  // open before they come.
  test::put_versions(stays, 1, 5, 6);
  ASSERT_EQ(shared_tier_of(stays).blocks, 1u);
  std::vector<std::thread> others;
  for (uint64_t t = 0; t < 3; ++t) {
    others.emplace_back([&, t] {
      for (uint64_t life = 0; life < seeds(100); ++life) {
        Engine engine(spec);
        test::put_versions(engine, 1, 40, 100 + t);
        EXPECT_EQ(test::count_version(engine, 1, 40, 100 + t), 40u);
        const uint64_t files[] = {test::file_of_keys()};
        if (life % 2 == 0) engine.cache->erase_gone_files(files);
        if (life % 3 == 0) engine.cache->erase_unreferenced();
      }
    });
  }
  test::put_versions(stays, 1, 200, 7);
  EXPECT_EQ(test::count_version(stays, 1, 200, 7), 200u);
  for (std::thread& other : others) other.join();
  EXPECT_EQ(test::count_version(stays, 1, 200, 7), 200u);
  EXPECT_EQ(shared_tier_of(stays).blocks, 196u);
  EXPECT_EQ(shared_tier_of(stays).users, 1u);
}

}  // namespace
}  // namespace nvcache
