// A shared tier with restart=warm: each owner's blocks come back to it alone, in the next process.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/prng.h"
#include "support/shared_engines.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::count_version;
using test::Engine;
using test::put_versions;
using test::refusal_of_tier;
using test::shared_tier_of;
using testing::AllOf;
using testing::HasSubstr;

class SharedTierRestart : public testing::Test {
 protected:
  // 16 objects in the first tier, 63 regions of 31 in the lower one.
  std::string spec(const std::string& owner) const {
    return "tiered://?metadata=free&shards=1&high_priority=0&dram=64KiB&keys=immutable" +
           (owner.empty() ? "" : "&owner=" + owner) + "&tier=(name=" + name_ +
           ",size=9MiB,space=regions,region=128KiB,maintenance=0,restart=warm,"
           "medium=file:" +
           folder_.file("blocks") + ")";
  }
  static void wait_until_warm(const Engine& engine) {
    while (shared_tier_of(engine).block_cache.recovering != 0) std::this_thread::yield();
  }
  const TempDir folder_;
  const std::string name_ = test::new_tier_name();
};

TEST_F(SharedTierRestart, EachOwnerFindsItsBlocksInWhateverOrderTheyOpen) {
  {
    Engine one(spec("one"));
    Engine other(spec("other"));
    put_versions(one, 1, 100, 10);
    put_versions(other, 1, 100, 20);
    one.cache->drain();
    other.cache->drain();
  }
  EXPECT_TRUE(std::filesystem::exists(folder_.file("blocks")));
  for (uint64_t restart = 0; restart < 2; ++restart) {
    Engine other(spec("other"));
    EXPECT_GT(shared_tier_of(other).block_cache.size_bytes, 0u) << "opened with its first cache";
    wait_until_warm(other);
    EXPECT_EQ(shared_tier_of(other).blocks, 168u);
    EXPECT_EQ(shared_tier_of(other).block_cache.recovered_blocks, (restart + 1) * 168u)
        << "of all openings in the process";
    EXPECT_EQ(count_version(other, 1, 100, 20), 84u);
    Engine one(spec("one"));
    EXPECT_EQ(count_version(one, 1, 100, 10), 84u);
    Engine stranger(spec("stranger"));
    EXPECT_EQ(count_version(stranger, 1, 100, 30), 0u);
  }
}

TEST_F(SharedTierRestart, ACacheThatIsClosedTakesNothingWithIt) {
  Engine stays(spec("stays"));
  {
    Engine leaves(spec("leaves"));
    put_versions(leaves, 1, 50, 10);
    put_versions(stays, 1, 50, 20);
    leaves.cache->drain();
    stays.cache->drain();
  }
  EXPECT_EQ(count_version(stays, 1, 50, 20), 50u);
  Engine again(spec("leaves"));
  EXPECT_EQ(count_version(again, 1, 50, 10), 34u) << "what was below its first tier";
}

TEST_F(SharedTierRestart, FilesAndBlocksThatOneOwnerErasesTheOtherKeeps) {
  Engine one(spec("one"));
  Engine other(spec("other"));
  put_versions(one, 1, 50, 10);
  put_versions(other, 1, 50, 20);
  one.cache->drain();
  other.cache->drain();
  const uint64_t files[] = {test::file_of_keys()};
  one.cache->erase_gone_files(files);
  EXPECT_EQ(count_version(one, 1, 50, 10), 0u);
  EXPECT_EQ(count_version(other, 1, 50, 20), 50u);
  Engine third(spec("third"));
  put_versions(third, 1, 50, 30);
  third.cache->drain();
  third.cache->erase_unreferenced();
  EXPECT_EQ(count_version(third, 1, 50, 30), 0u);
  EXPECT_EQ(count_version(other, 1, 50, 20), 50u);
  EXPECT_EQ(shared_tier_of(other).blocks, 34u);
}

// As RocksDB's: keys that name the same bytes in all caches need no owner of their own.
TEST_F(SharedTierRestart, CachesOfAllOwnersHaveOneKeySpace) {
  {
    Engine one(spec("*"));
    Engine other(spec("*"));
    put_versions(one, 1, 50, 1);
    put_versions(other, 101, 150, 1);
    one.cache->drain();
    other.cache->drain();
    EXPECT_EQ(count_version(other, 1, 34, 1), 34u);
    one.cache->erase_unreferenced();
    EXPECT_EQ(count_version(other, 101, 134, 1), 34u) << "while others are open, nobody clears it";
  }
  Engine later(spec("*"));
  wait_until_warm(later);
  EXPECT_EQ(count_version(later, 1, 34, 1), 34u);
  EXPECT_EQ(count_version(later, 101, 134, 1), 34u);
  later.cache->erase_unreferenced();
  EXPECT_EQ(shared_tier_of(later).blocks, 0u);
}

TEST_F(SharedTierRestart, WrongPromisesAreRefusedAndNamed) {
  EXPECT_THAT(refusal_of_tier(spec("")).message(),
              AllOf(HasSubstr("tier 1: name=" + name_ + ": restart=warm: no owner given"),
                    HasSubstr("owner=NAME"), HasSubstr("owner=*")));
  std::string changing = spec("one");
  changing.replace(changing.find("immutable"), 9, "mutable");
  EXPECT_THAT(refusal_of_tier(changing).message(),
              AllOf(HasSubstr("keys=mutable given"), HasSubstr("restart=cold")));
  const Engine engine(spec("one"));
  EXPECT_THAT(refusal_of_tier(spec("one")).message(),
              AllOf(HasSubstr("owner=one: another open cache has it"), HasSubstr("name=" + name_)));
  EXPECT_EQ(shared_tier_of(engine).users, 1u);
}

// One pair of names in 16 million has one tag.
TEST_F(SharedTierRestart, OwnersWhoseKeysWouldMeetAreRefused) {
  std::map<uint32_t, std::string> names;
  std::string one;
  std::string other;
  while (one.empty()) {
    other = "store" + std::to_string(names.size());
    const auto [found, added] = names.try_emplace(KeySpace::of_owner(other).tag(), other);
    if (!added) one = found->second;
  }
  const Engine engine(spec(one));
  EXPECT_THAT(refusal_of_tier(spec(other)).message(),
              AllOf(HasSubstr("owner=" + other + ": by chance"), HasSubstr("owner=" + one),
                    HasSubstr("another name")));
}

TEST_F(SharedTierRestart, ATierThatCannotComeBackIsAnErrorOfEachOpening) {
  std::string nowhere = spec("one");
  nowhere.replace(nowhere.find(folder_.path()), folder_.path().size(), "/nowhere");
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(refusal_of_tier(nowhere).message(),
                AllOf(HasSubstr("tier 1: "), HasSubstr("/nowhere")));
  }
  Engine engine(spec("one"));
  put_versions(engine, 1, 20, 10);
  EXPECT_EQ(count_version(engine, 1, 20, 10), 20u) << "the name is free for another place";
}

constexpr std::array<const char*, 3> kOwners = {"first", "second", "third"};
constexpr uint64_t kOwnerKeys = 400;

// Inserts and looks up in a cache of each owner until it is killed; a byte for each so many
// operations.
[[noreturn]] void live_with_owners(const std::array<std::string, 3>& specs, uint64_t seed,
                                   int progress) {
  std::array<std::unique_ptr<Engine>, 3> caches;
  for (size_t i = 0; i < caches.size(); ++i) caches[i] = std::make_unique<Engine>(specs[i]);
  Prng random(seed);
  for (uint64_t step = 0;; ++step) {
    const uint64_t owner = random.below(caches.size());
    const uint64_t id = 1 + random.below(kOwnerKeys);
    const uint64_t version = caches[owner]->get(id);
    if (version != 0 && version != id * 10 + owner) _exit(2);
    if (version == 0) caches[owner]->put_held(id, id * 10 + owner);
    if (step % 512 == 511) caches[0]->cache->drain();  // something is sealed before the kill
    if (step % 16 == 0 && write(progress, ".", 1) != 1) _exit(3);
  }
}

void live_with_owners_and_die(const std::array<std::string, 3>& specs, uint64_t seed,
                              uint64_t steps) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) live_with_owners(specs, seed, ends[1]);
  close(ends[1]);
  char byte = 0;
  for (; steps > 0; --steps) ASSERT_EQ(::read(ends[0], &byte, 1), 1) << "it ended by itself";
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(ends[0]);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
}

TEST_F(SharedTierRestart, EachOwnersBlocksAreRightAfterManyKills) {
  const std::array<std::string, 3> specs = {spec(kOwners[0]), spec(kOwners[1]), spec(kOwners[2])};
  Prng random(test_seed());
  std::array<uint64_t, 3> found{};
  for (uint64_t life = 0; life < 6; ++life) {
    ASSERT_NO_FATAL_FAILURE(
        live_with_owners_and_die(specs, test_seed() + life, 80 + random.below(200)));
    for (size_t turn = 0; turn < specs.size(); ++turn) {
      const size_t owner = (life + turn) % specs.size();
      Engine engine(specs[owner]);
      wait_until_warm(engine);
      EXPECT_EQ(shared_tier_of(engine).block_cache.damaged_regions, 0u);
      for (uint64_t id = 1; id <= kOwnerKeys; ++id) {
        const uint64_t version = engine.get(id);
        ASSERT_TRUE(version == 0 || version == id * 10 + owner) << id << ": " << version;
        found[owner] += version == 0 ? 0 : 1;
      }
      EXPECT_EQ(shared_tier_of(engine).block_cache.damaged_blocks, 0u);
    }
  }
  for (const uint64_t each : found) EXPECT_GT(each, kOwnerKeys / 4) << "something came back";
}

}  // namespace
}  // namespace nvcache
