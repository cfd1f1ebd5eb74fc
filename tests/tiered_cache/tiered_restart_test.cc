// Lower tiers with restart=warm: what they held comes back after a close and after a kill, and
// nothing that was replaced or erased.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <thread>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;

constexpr uint64_t kTieredKeys = 400;

class TieredRestart : public testing::Test {
 protected:
  // 16 objects in the first tier, 39 regions of 31 in the lower one.
  std::string spec(const std::string& keys, const std::string& more = "") const {
    return "tiered://?metadata=free&shards=1&high_priority=0&dram=64KiB&keys=" + keys +
           "&tier=(size=6MiB,space=regions,region=128KiB,maintenance=0,restart=warm,medium=file:" +
           folder_.file("blocks") + more + ")";
  }
  static Stats below(const Engine& engine) { return engine.cache->stats().tiers[1].block_cache; }
  static void wait_until_warm(const Engine& engine) {
    while (below(engine).recovering != 0) std::this_thread::yield();
  }
  static void wait_until_warm(const Engine& engine, VirtualClock& clock) {
    while (below(engine).recovering != 0) {
      clock.wait_until_ns(clock.now_ns() + 1'000'000);
      std::this_thread::yield();
    }
  }
  // Inserts all keys with the version that is ten times their number.
  static void fill(Engine& engine) {
    for (uint64_t id = 1; id <= kTieredKeys; ++id) {
      engine.put_held(id, id * 10);
      if (id % 50 == 0) engine.cache->drain();
    }
    engine.cache->drain();
  }
  static uint64_t count_right(Engine& engine) {
    uint64_t found = 0;
    for (uint64_t id = 1; id <= kTieredKeys; ++id) {
      const uint64_t version = engine.get(id);
      EXPECT_TRUE(version == 0 || version == id * 10) << id;
      found += version != 0 ? 1 : 0;
    }
    return found;
  }
  TempDir folder_;
};

// As another version of an engine: it may lay out the bytes that it saves in another way.
TEST_F(TieredRestart, ObjectsOfAnotherFormAreNotFound) {
  const auto open_with = [&](uint64_t form) {
    return std::make_unique<Engine>(spec("immutable"), system_clock(), form);
  };
  fill(*open_with(7));
  {
    const auto other = open_with(8);
    wait_until_warm(*other);
    EXPECT_EQ(count_right(*other), 0u);
    other->put_held(1, 10);
  }
  const auto again = open_with(7);
  wait_until_warm(*again);
  EXPECT_GT(count_right(*again), kTieredKeys / 2);
}

TEST_F(TieredRestart, ALowerTierComesBackAfterAClose) {
  uint64_t held = 0;
  {
    Engine engine(spec("mutable"));
    fill(engine);
    held = below(engine).blocks;
    EXPECT_EQ(held, kTieredKeys - 16);
  }
  for (int restart = 0; restart < 3; ++restart) {
    Engine engine(spec("mutable"));
    wait_until_warm(engine);
    EXPECT_EQ(below(engine).recovered_blocks, held);
    EXPECT_EQ(count_right(engine), held);
    EXPECT_EQ(engine.hits(1), held);
    EXPECT_EQ(below(engine).damaged_blocks, 0u);
  }
}

TEST_F(TieredRestart, WhatWaitsForItsDemotionIsWrittenAtAClose) {
  {
    Engine engine(spec("mutable"));
    for (uint64_t id = 1; id <= 16 + 10; ++id) engine.put_held(id, id * 10);
  }
  Engine engine(spec("mutable"));
  wait_until_warm(engine);
  EXPECT_EQ(count_right(engine), 10u);
}

TEST_F(TieredRestart, WhatWasReplacedOrErasedNeverComesBack) {
  Prng random(test_seed());
  std::map<uint64_t, uint64_t> current;
  for (uint64_t life = 1; life <= 8; ++life) {
    Engine engine(spec("mutable"));
    if (life % 2 == 0) wait_until_warm(engine);
    for (uint64_t step = 0; step < 3000; ++step) {
      const uint64_t id = random.below(kTieredKeys);
      const uint64_t kind = random.below(8);
      if (kind == 0) {
        engine.put_held(id, current[id] = life * 10000 + step);
      } else if (kind == 1) {
        engine.cache->erase(key_of(id));
        current[id] = 0;
      } else if (const uint64_t found = engine.get(id); found != 0) {
        ASSERT_EQ(found, current[id]) << "life " << life << ", step " << step;
      }
    }
  }
}

// The clock stands still, so the rate does not let the recovery end.
TEST_F(TieredRestart, WhatIsReplacedWhileBlocksComeBackStaysAway) {
  {
    Engine engine(spec("mutable"));
    fill(engine);
  }
  VirtualClock clock;
  Engine engine(spec("mutable", ",restart_rate=64KiB"), clock);
  for (uint64_t id = 1; id <= kTieredKeys; ++id) {
    if (id % 2 == 0) engine.cache->erase(key_of(id));
    if (id % 2 == 1) engine.put_held(id, id * 10 + 1);
  }
  EXPECT_EQ(below(engine).recovering, 1u);
  wait_until_warm(engine, clock);
  for (uint64_t id = 1; id <= kTieredKeys; ++id) {
    const uint64_t version = engine.get(id);
    EXPECT_TRUE(version == 0 || (id % 2 == 1 && version == id * 10 + 1)) << id << ": " << version;
  }
}

TEST_F(TieredRestart, InsertionsKeepNoBlocksAwayWhereKeysAreImmutable) {
  uint64_t held = 0;
  {
    Engine engine(spec("immutable"));
    fill(engine);
    held = below(engine).blocks;
  }
  VirtualClock clock;
  Engine engine(spec("immutable", ",restart_rate=64KiB"), clock);
  // More than there are generations, of keys that stay out of the lower tier.
  for (uint64_t id = 0; id < 20000; ++id) {
    engine.put(100000 + id, 1, Priority::kLow, /*movable=*/false);
  }
  engine.cache->erase(key_of(1));
  EXPECT_EQ(below(engine).recovering, 1u);
  wait_until_warm(engine, clock);
  EXPECT_GT(below(engine).recovered_blocks, held * 9 / 10);
  EXPECT_EQ(engine.get(1), 0u) << "erased while blocks came back";
  EXPECT_GT(count_right(engine), held * 9 / 10);
}

TEST_F(TieredRestart, ATierThatCannotComeBackIsAnErrorOfTheOpening) {
  const Engine engine(spec("immutable"));
  const auto config = parse_tiered_config(spec("immutable"));
  ASSERT_TRUE(config.ok()) << config.status();
  const auto second = TieredCacheImpl::make(*config, std::make_shared<test::TestCodec>());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().to_string().find("tier 1: file "), std::string::npos)
      << second.status();
}

// Inserts and looks up until it is killed; a byte for each so many operations.
[[noreturn]] void live_tiered(const std::string& spec, uint64_t seed, int progress) {
  Engine engine(spec);
  Prng random(seed);
  for (uint64_t i = 0;; ++i) {
    const uint64_t id = 1 + random.below(kTieredKeys);
    const uint64_t version = engine.get(id);
    if (version != 0 && version != id * 10) _exit(2);
    if (version == 0) engine.put_held(id, id * 10);
    if (i % 512 == 511) engine.cache->drain();  // something is sealed before the kill
    if (i % 16 == 0 && write(progress, ".", 1) != 1) _exit(3);
  }
}

void live_and_die(const std::string& spec, uint64_t seed, uint64_t steps) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) live_tiered(spec, seed, ends[1]);
  close(ends[1]);
  char byte = 0;
  for (; steps > 0; --steps) ASSERT_EQ(::read(ends[0], &byte, 1), 1) << "it ended by itself";
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(ends[0]);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
}

TEST_F(TieredRestart, EveryBlockIsRightAfterManyKills) {
  Prng random(test_seed());
  uint64_t found = 0;
  for (uint64_t life = 0; life < 10; ++life) {
    ASSERT_NO_FATAL_FAILURE(
        live_and_die(spec("immutable"), test_seed() + life, 40 + random.below(200)));
    Engine engine(spec("immutable"));
    wait_until_warm(engine);
    EXPECT_EQ(below(engine).damaged_regions, 0u);
    found += count_right(engine);
    EXPECT_EQ(below(engine).damaged_blocks, 0u);
  }
  EXPECT_GT(found, kTieredKeys) << "something came back";
}

TEST_F(TieredRestart, AfterAKillMutableKeysDoNotComeBack) {
  ASSERT_NO_FATAL_FAILURE(live_and_die(spec("mutable"), test_seed(), 100));
  Engine engine(spec("mutable"));
  wait_until_warm(engine);
  EXPECT_EQ(below(engine).recovered_blocks, 0u);
}

}  // namespace
}  // namespace nvcache
