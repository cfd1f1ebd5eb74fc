// Erased blocks stay erased: a cache in regions beside a model, over lives that end by closing, a
// kill or a loss of power, with either promise about keys, several sizes, and recoveries that are
// cut short. Each put has a number of its own, so that a lookup tells which one it served.
//
// NVCACHE_MODEL_SEEDS says how many seeds (200); each failure prints its own.
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "support/block_cache_fixture.h"
#include "support/power_loss_medium.h"
#include "support/region_cache.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kModelBytes = (1 << 20) + 28 * (64 << 10);
constexpr uint64_t kModelFiles = 12;
constexpr uint64_t kModelBlocks = 50;  // of a file
constexpr const char* kModelSizes[] = {
    "size=1600KiB&max_size=1600KiB", "size=1600KiB&max_size=2816KiB",
    "size=2200KiB&max_size=2816KiB", "size=2816KiB&max_size=2816KiB"};

// Small, so that puts find room while regions are not read.
size_t model_size_of(const BlockKey& key) { return 100 + key.offset * 97 % 1500; }

uint64_t model_seeds() {
  const char* const given = std::getenv("NVCACHE_MODEL_SEEDS");
  return given == nullptr ? 200 : std::strtoull(given, nullptr, 10);
}

struct Life {
  int number = 0;
  bool immutable_keys = false;
};

// The puts of one key, and which of them may still be served.
class PutsOfAKey {
 public:
  void add(uint64_t id) { puts_.push_back({.id = id}); }
  // No put of before is served from here on: in this life, or for ever.
  void end(int life) {
    for (Put& put : puts_) put.gone_in_life = life;
  }
  void end_for_ever() { puts_.clear(); }
  bool may_serve(uint64_t id, int life) const {
    for (const Put& put : puts_) {
      if (put.id == id) return put.gone_in_life != life;
    }
    return false;
  }

 private:
  struct Put {
    uint64_t id = 0;
    int gone_in_life = -1;
  };
  std::vector<Put> puts_;
};

// Works on the files of its own, so that what it expects is in order.
class ModelWorker {
 public:
  ModelWorker(uint64_t seed, uint64_t first_file, uint64_t step)
      : random_(seed), first_file_(first_file), step_(step) {}

  void run(BlockCacheImpl& cache, const Life& life, uint64_t operations) {
    for (uint64_t i = 0; i < operations; ++i) {
      const uint64_t dice = random_.below(100);
      if (dice < 55) {
        put_one(cache);
      } else if (dice < 80) {
        check(cache, any_key(), life);
      } else if (dice < 97) {
        erase_some(cache, life, 1, 0);
      } else if (dice < 99) {
        erase_some(cache, life, random_.below(5), random_.below(8) == 0 ? 1 : 0);
      } else if (random_.below(4) == 0) {
        cache.drain();
      }
    }
  }
  void check_all(BlockCacheImpl& cache, const Life& life) {
    for (uint64_t file = first_file_; file < kModelFiles; file += step_) {
      for (uint64_t block = 0; block < kModelBlocks; ++block) check(cache, {file, block}, life);
    }
  }
  void nothing_comes_back() {
    for (PutsOfAKey& each : puts_) each.end_for_ever();
  }
  uint64_t hits() const { return hits_; }

 private:
  BlockKey any_key() {
    const uint64_t mine = (kModelFiles - first_file_ + step_ - 1) / step_;
    return {first_file_ + random_.below(mine) * step_, random_.below(kModelBlocks)};
  }
  PutsOfAKey& puts_of(const BlockKey& key) { return puts_[key.file * kModelBlocks + key.offset]; }

  void put_one(BlockCache& cache) {
    const BlockKey key = any_key();
    const uint64_t id = ++last_id_ * step_ + first_file_;
    std::vector<std::byte> block = test::make_block(key, model_size_of(key), id);
    std::memcpy(block.data(), &id, sizeof id);
    if (cache.put(key, block, Origin::kRead).admitted()) puts_of(key).add(id);
  }

  void check(BlockCache& cache, const BlockKey& key, const Life& life) {
    const Lookup lookup = cache.lookup(key);
    if (!lookup.hit()) return;
    ++hits_;
    uint64_t id = 0;
    std::memcpy(&id, lookup.pin.bytes().data(), sizeof id);
    std::vector<std::byte> want = test::make_block(key, model_size_of(key), id);
    std::memcpy(want.data(), &id, sizeof id);
    EXPECT_TRUE(std::ranges::equal(lookup.pin.bytes(), want));
    EXPECT_TRUE(puts_of(key).may_serve(id, life.number))
        << "put " << id << " of " << key.file << ":" << key.offset << " in life " << life.number;
  }

  void erase_some(BlockCacheImpl& cache, const Life& life, uint64_t keys, uint64_t files) {
    std::vector<BlockKey> erased;
    for (uint64_t i = 0; i < keys; ++i) erased.push_back(any_key());
    std::vector<uint64_t> erased_files;
    for (uint64_t i = 0; i < files; ++i) erased_files.push_back(any_key().file);
    const auto gone = static_cast<Gone>(random_.below(3));
    const bool recovering = cache.recovering();
    EXPECT_TRUE(cache.erase({.keys = erased, .files = erased_files}, gone).ok());
    for (const uint64_t file : erased_files) {
      for (uint64_t block = 0; block < kModelBlocks; ++block) erased.push_back({file, block});
    }
    const bool for_ever =
        gone == Gone::kDurable || (gone == Gone::kForGood && !life.immutable_keys);
    for (const BlockKey& key : erased) {
      if (for_ever) {
        puts_of(key).end_for_ever();
      } else if (gone == Gone::kForGood || !recovering) {
        puts_of(key).end(life.number);
      }
    }
  }

  Prng random_;
  const uint64_t first_file_;
  const uint64_t step_;
  std::vector<PutsOfAKey> puts_ = std::vector<PutsOfAKey>(kModelFiles * kModelBlocks);
  uint64_t last_id_ = 0;
  uint64_t hits_ = 0;
};

// Lives of a cache on one medium.
class ModelOfRemovals {
 public:
  ModelOfRemovals(uint64_t seed, uint64_t threads) : random_(seed) {
    for (uint64_t i = 0; i < threads; ++i) workers_.emplace_back(random_(), i, threads);
  }

  // How many lookups of blocks from before a restart hit.
  uint64_t run(int lives) {
    uint64_t came_back = 0;
    for (life_.number = 0; life_.number < lives; ++life_.number) came_back += live();
    return came_back;
  }

 private:
  enum class End { kClose, kKill, kPowerLoss };

  std::string spec(bool slowly) {
    return std::string("nvcache://?") + kModelSizes[random_.below(4)] +
           "&space=regions&region=64KiB&admission=always&eviction=clock&maintenance=0&shards=4" +
           "&restart=warm" + (life_.immutable_keys ? "&keys=immutable" : "") +
           (slowly ? "&restart_rate=64KiB" : "");
  }

  uint64_t live() {
    const bool immutable_before = life_.immutable_keys;
    life_.immutable_keys = random_.below(2) != 0;
    if (life_.number > 0 && !immutable_before && life_.immutable_keys) nothing_comes_back();
    const bool slowly = random_.below(3) == 0;
    VirtualClock clock;
    auto owned = std::make_unique<PowerLossMedium>(std::move(image_));
    PowerLossMedium& medium = *owned;
    auto cache = test::make_on(spec(slowly), std::move(owned), clock);
    if (slowly) {
      clock.wait_until_ns(random_.below(400) * 1'000'000);
      test::let_some_recover(*cache, clock);
    } else if (random_.below(2) == 0) {
      test::wait_for_recovery(*cache);
    }
    uint64_t came_back = 0;
    for (ModelWorker& worker : workers_) {
      came_back -= worker.hits();
      worker.check_all(*cache, life_);
      came_back += worker.hits();
    }
    work(*cache);
    if (!slowly && random_.below(2) == 0) test::wait_for_recovery(*cache);
    if (random_.below(3) == 0) {
      EXPECT_TRUE(medium.drain().ok());
    }
    for (ModelWorker& worker : workers_) worker.check_all(*cache, life_);
    end(std::move(cache), medium);
    return came_back;
  }

  void work(BlockCacheImpl& cache) {
    const uint64_t operations = (50 + random_.below(700)) / workers_.size();
    std::vector<std::thread> threads;
    for (size_t i = 1; i < workers_.size(); ++i) {
      threads.emplace_back([&, i] { workers_[i].run(cache, life_, operations); });
    }
    workers_[0].run(cache, life_, operations);
    for (std::thread& thread : threads) thread.join();
  }

  void end(std::unique_ptr<BlockCacheImpl> cache, PowerLossMedium& medium) {
    switch (random_.below(2) == 0 ? End::kClose : static_cast<End>(1 + random_.below(2))) {
      case End::kClose:
        medium.on_destruction(&image_);
        cache.reset();
        return;
      case End::kKill:
        image_ = medium.bytes();
        break;
      case End::kPowerLoss:
        image_ = medium.crash(random_());
        break;
    }
    if (!life_.immutable_keys) nothing_comes_back();
  }
  void nothing_comes_back() {
    for (ModelWorker& worker : workers_) worker.nothing_comes_back();
  }

  Prng random_;
  Life life_;
  std::vector<ModelWorker> workers_;
  std::vector<std::byte> image_ = std::vector<std::byte>(kModelBytes);
};

void run_models(uint64_t threads) {
  uint64_t came_back = 0;
  const uint64_t count = seeds(model_seeds());
  for (uint64_t i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("NVCACHE_MODEL_SEEDS=1 NVCACHE_TEST_SEED=" + std::to_string(test_seed() + i));
    came_back += ModelOfRemovals(test_seed() + i, threads).run(10);
  }
  if (!testing::Test::HasFailure()) {
    EXPECT_GT(came_back, 200 * count) << "a restart is warm";
  }
}

TEST(RemovalModel, WhatWasErasedIsNotServed) { run_models(1); }

TEST(RemovalModel, WhatWasErasedIsNotServedByThreeThreads) { run_models(3); }

}  // namespace
}  // namespace nvcache
