// Power failures: after recovery a key has its newest acknowledged value or none, never
// one that was deleted or overwritten, never bytes of no value.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kv_store/kv_fixture.h"
#include "kv_store/kv_history.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::Allowed;
using test::History;
using test::key_of;
using test::kv_value;
using test::Losses;
using test::size_of_value;

KvConfig config_for(uint64_t seed) {
  constexpr Durability kAll[] = {Durability::kCache, Durability::kCache, Durability::kEach,
                                 Durability::kEachLru};
  KvConfig config = test::small_config(kAll[seed % 4]);
  if (seed % 3 == 0) config.version_bits = 2;
  if (seed % 5 == 0) config.item_bytes = 4096;  // a table that is too small: slots are evicted
  if (seed % 7 == 0) config.write_cache_bytes = 0;
  if (seed % 2 == 0) config.cleaning = KvCleaning::kPaper;
  return config;
}

void step(History& history, Prng& random, uint64_t keys) {
  const std::string key = key_of(random.below(keys));
  const uint64_t what = random.below(100);
  if (what < 45) {
    history.put(key);
  } else if (what < 65) {
    history.erase(key);
  } else if (what < 95) {
    history.get(key);
  } else if (what < 96) {
    history.sync();
  } else if (what < 99) {
    history.medium().evict_lines(random(), 1 + random.below(4));
  } else if (random.below(8) == 0) {
    history.clear();
  }
}

void run_history(uint64_t seed, Losses* losses) {
  Prng random(seed);
  History history(config_for(seed), seed + 1);
  const uint64_t keys = 8 + random.below(120);
  for (int crash = 0; crash < 3; ++crash) {
    const uint64_t steps = 20 + random.below(250);
    if (random.below(2) == 0) history.arm(random.below(steps));
    for (uint64_t i = 0; i < steps && !history.crashed(); ++i) step(history, random, keys);
    if (random.below(4) == 0) {
      if (!history.crashed()) history.arm(random.below(8));
      history.close();
    }
    history.recover(losses);
  }
}

void report(const char* what, const Losses& losses) {
  std::printf(
      "%s: %llu recoveries, %llu acknowledged values, %llu lost, %llu wrong, "
      "%llu openings cut short\n",
      what, static_cast<unsigned long long>(losses.recoveries),
      static_cast<unsigned long long>(losses.acknowledged),
      static_cast<unsigned long long>(losses.lost), static_cast<unsigned long long>(losses.wrong),
      static_cast<unsigned long long>(losses.failed_openings));
}

TEST(KvCrash, RandomHistoriesNeverBringBackAnOldValue) {
  const uint64_t first = test_seed();
  Losses losses;
  for (uint64_t i = 0; i < seeds(3000); ++i) {
    const uint64_t before = losses.wrong;
    run_history(first + i, &losses);
    ASSERT_EQ(losses.wrong, before) << "history of seed " << first + i;
    if (HasFailure()) FAIL() << "history of seed " << first + i;
  }
  report("random histories", losses);
  EXPECT_LT(losses.lost, losses.acknowledged);
}

// A short history that goes through every kind of change.
void short_history(History& history) {
  for (uint64_t i = 0; i < 5; ++i) history.put(key_of(i));
  history.erase(key_of(1));
  history.put(key_of(2));
  for (int i = 0; i < 4; ++i) history.put(key_of(3));  // into the write cache
  history.put(key_of(1));
  history.erase(key_of(3));
  history.erase(key_of(1));
  for (uint64_t i = 10; i < 70; ++i) {  // cleans zones
    history.get(key_of(i - 5));
    history.put(key_of(i));
  }
  history.erase(key_of(0));
  for (uint64_t i = 10; i < 20; ++i) history.erase(key_of(i));
  history.clear();
  history.put(key_of(5));
}

TEST(KvCrash, EveryFlushBoundaryOfAShortHistory) {
  Losses losses;
  uint64_t images = 0;
  for (const Durability durability :
       {Durability::kCache, Durability::kEach, Durability::kEachLru}) {
    KvConfig config = test::small_config(durability);
    History whole(config, 1);
    const uint64_t opened = whole.boundaries();
    short_history(whole);
    const uint64_t boundaries = whole.boundaries() - opened;
    for (uint64_t boundary = 0; boundary <= boundaries; ++boundary) {
      for (uint64_t seed = 0; seed < seeds(4); ++seed) {
        History history(config, test_seed() + seed);
        history.arm(boundary);
        short_history(history);
        history.recover(&losses);
        ++images;
        ASSERT_EQ(losses.wrong, 0u) << durability_name(durability) << ", boundary " << boundary
                                    << " of " << boundaries << ", seed " << seed;
      }
    }
  }
  report("flush boundaries", losses);
  EXPECT_GT(images, 500u);
}

// A crash while a store is made, at every boundary of that.
TEST(KvCrash, AFormatThatIsCutShortIsMadeAgain) {
  const KvConfig config = test::small_config();
  auto counted = std::make_unique<CrashingMedium>(config.size_bytes);
  CrashingMedium* counter = counted.get();
  auto store = test::make_kv(config, std::move(counted));
  const uint64_t boundaries = counter->boundaries();
  ASSERT_GT(boundaries, 6u);
  for (uint64_t boundary = 0; boundary < boundaries; ++boundary) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
      CrashingMedium* seen = medium.get();
      seen->crash_at(boundary, test_seed() + seed);
      auto first = test::make_kv(config, std::move(medium));
      ASSERT_TRUE(seen->crashed());
      auto again = test::make_kv(config, std::make_unique<CrashingMedium>(seen->image()));
      ASSERT_NE(again, nullptr) << "boundary " << boundary;
      EXPECT_EQ(test::put_text(*again, "k", "v").outcome, KvOutcome::kDone);
      EXPECT_EQ(test::get_text(*again, "k"), "v");
    }
  }
}

// NVMcached's third issue (section 2): an item is evicted, then deleted; the delete misses.
TEST(KvCrash, ADeleteThatFindsItsItemReplacedIsDurable) {
  Losses losses;
  for (uint64_t seed = 0; seed < seeds(300); ++seed) {
    KvConfig config = test::small_config();
    config.write_cache_bytes = 0;
    config.hot_share = 0;
    config.cleaning = KvCleaning::kPaper;  // evicts though there is room
    History history(config, test_seed() + seed);
    for (uint64_t i = 0; i < 20; ++i) history.put(key_of(i));
    ASSERT_TRUE(history.store().sync().ok());  // all on the medium
    for (uint64_t i = 100; i < 240; ++i) history.put(key_of(i));
    for (uint64_t i = 0; i < 20; ++i) history.erase(key_of(i));
    history.recover(&losses);
    ASSERT_EQ(losses.wrong, 0u) << "seed " << seed;
  }
}

// The same where the item lost its slot in the table to another key.
TEST(KvCrash, ADeleteThatFindsItsItemLostItsSlotIsDurable) {
  Losses losses;
  for (uint64_t seed = 0; seed < seeds(300); ++seed) {
    KvConfig config = test::small_config();
    config.write_cache_bytes = 0;
    config.item_bytes = 4096;  // one group of 80 slots
    History history(config, test_seed() + seed);
    for (uint64_t i = 0; i < 60; ++i) history.put(key_of(i));
    ASSERT_TRUE(history.store().sync().ok());
    for (uint64_t i = 100; i < 140; ++i) history.put(key_of(i));
    for (uint64_t i = 0; i < 60; ++i) {
      // A delete that finds its item flushes the line, and three other slots with it.
      if (!history.store().get(key_of(i))) history.erase(key_of(i));
    }
    history.recover(&losses);
    ASSERT_EQ(losses.wrong, 0u) << "seed " << seed;
  }
}

TEST(KvCrash, AClearIsDurable) {
  Losses losses;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    History history(test::small_config(), test_seed() + seed);
    for (uint64_t i = 0; i < 20; ++i) history.put(key_of(i));
    ASSERT_TRUE(history.store().sync().ok());
    history.clear();
    for (uint64_t i = 30; i < 35; ++i) history.put(key_of(i));
    history.recover(&losses);
    for (uint64_t i = 0; i < 20; ++i) EXPECT_FALSE(history.store().get(key_of(i)));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// A crash may undo a longer life, which costs a miss, but not a shorter one.
TEST(KvCrash, AShorterLifeIsDurable) {
  for (uint64_t seed = 0; seed < seeds(300); ++seed) {
    Prng random(test_seed() + seed);
    KvConfig config = config_for(seed);
    config.now_s = [] { return 1000u; };
    auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
    CrashingMedium& lines = *medium;
    const auto store = test::make_kv(config, std::move(medium));
    std::map<std::string, uint32_t> latest_s;  // the last second that the item may live
    for (int i = 0; i < 40; ++i) {
      const std::string key = key_of(random.below(10));
      const auto expires_s = static_cast<uint32_t>(2000 + random.below(1000));
      if (random.below(3) == 0 || !latest_s.contains(key)) {
        ASSERT_EQ(test::put_text(*store, key, "value", {}, expires_s).outcome, KvOutcome::kDone);
        latest_s[key] = expires_s;
      } else if (store->touch(key, expires_s) == KvOutcome::kDone) {
        latest_s[key] = expires_s;
      }
      if (random.below(4) == 0) lines.evict_lines(random(), 2);
    }
    const auto after =
        test::make_kv(config, std::make_unique<CrashingMedium>(lines.crash(random())));
    for (const auto& [key, until_s] : latest_s) {
      const KvItem item = after->get(key);
      if (!item) continue;
      ASSERT_NE(item.meta.expires_s, 0u);
      ASSERT_LE(item.meta.expires_s, until_s) << key << ", seed " << test_seed() + seed;
    }
  }
}

// Each thread has keys of its own, and notes what it was told until the power fails.
TEST(KvCrash, SeveralThreadsMayBelieveWhatTheyWereTold) {
  constexpr uint64_t kThreads = 4;
  Losses losses;
  for (uint64_t seed = 0; seed < seeds(300); ++seed) {
    KvConfig config = config_for(seed);
    const bool ahead = seed % 2 == 1;  // a thread cleans zones
    if (ahead) config.size_bytes = 192 << 10;
    auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
    CrashingMedium& lines = *medium;
    const auto store = test::make_kv(config, std::move(medium));
    Prng chance(test_seed() + seed);
    lines.crash_at(lines.boundaries() + 20 + chance.below(ahead ? 3000 : 300), chance());
    std::array<std::map<std::string, Allowed>, kThreads> told;
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Prng random(test_seed() + seed * 100 + thread);
        for (uint64_t number = 1; number < 3000 && !lines.crashed(); ++number) {
          const std::string key = key_of(thread * 1000 + random.below(25));
          Allowed& allowed = told[thread][key];
          const bool erases = random.below(3) == 0;
          if (!erases) allowed.under_way = number;
          if (erases) {
            (void)store->erase(key);
          } else {
            (void)store->put(key, kv_value(key, number, size_of_value(number)), KvMeta{});
          }
          if (lines.crashed()) return;
          allowed = {.newest = erases ? std::nullopt : std::optional(number), .under_way = {}};
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const auto image = lines.crashed() ? lines.image() : lines.crash(1);
    const auto after = test::make_kv(config, std::make_unique<CrashingMedium>(image));
    ++losses.recoveries;
    for (const auto& keys : told) {
      for (const auto& [key, allowed] : keys) {
        const KvItem item = after->get(key);
        losses.acknowledged += allowed.newest.has_value();
        losses.lost += allowed.newest.has_value() && !item;
        if (!item) continue;
        bool right = false;
        for (const auto& number : {allowed.newest, allowed.under_way}) {
          right |=
              number && test::same(item.value(), kv_value(key, *number, size_of_value(*number)));
        }
        losses.wrong += !right;
        EXPECT_TRUE(right) << key << ", seed " << test_seed() + seed;
      }
    }
    if (HasFailure()) return;
  }
  report("threads", losses);
}

TEST(KvCrash, EachLosesNothingThatWasAcknowledged) {
  for (const Durability durability : {Durability::kEach, Durability::kEachLru}) {
    Losses losses;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      History history(test::small_config(durability), test_seed() + seed);
      for (uint64_t i = 0; i < 25; ++i) history.put(key_of(i));
      for (uint64_t i = 0; i < 10; ++i) history.erase(key_of(i));
      history.recover(&losses);
    }
    EXPECT_EQ(losses.lost, 0u) << durability_name(durability);
    EXPECT_EQ(losses.wrong, 0u) << durability_name(durability);
  }
}

// A crash loses values that are only in the write cache; those that are read often move out.
TEST(KvCrash, WhatIsReadOftenMovesOutOfTheWriteCache) {
  for (const int reads : {0, 4}) {
    auto medium = std::make_unique<CrashingMedium>(64 << 10);
    CrashingMedium& lines = *medium;
    const auto store = test::make_kv(test::small_config(), std::move(medium));
    for (int i = 0; i < 4; ++i) test::put_text(*store, "often", "value");
    for (int i = 0; i < reads; ++i) EXPECT_EQ(test::get_text(*store, "often"), "value");
    test::put_text(*store, "another", "x");
    EXPECT_EQ(test::get_text(*store, "often"), "value");
    lines.evict_lines(1, 1);  // all that was stored is on the medium, and nothing of DRAM
    const auto after =
        test::make_kv(test::small_config(), std::make_unique<CrashingMedium>(lines.crash(1)));
    EXPECT_EQ(test::get_text(*after, "often"), reads > 0 ? "value" : "") << reads;
    EXPECT_EQ(test::get_text(*after, "another"), "x");
  }
}

TEST(KvCrash, AVolatileStoreComesBackEmpty) {
  const KvConfig config = test::small_config(Durability::kVolatile);
  History history(config, 1);
  Losses losses;
  for (uint64_t i = 0; i < 10; ++i) history.put(key_of(i));
  history.recover(&losses);
  EXPECT_EQ(losses.lost, 10u);
}

// An item that a crash tore fails its check, and is counted once however often it is read.
TEST(KvCrash, DamagedItemsAreCountedOnce) {
  KvConfig config = test::small_config();
  config.write_cache_bytes = 0;
  auto medium = std::make_unique<CrashingMedium>(config.size_bytes);
  CrashingMedium* seen = medium.get();
  auto store = test::make_kv(config, std::move(medium));
  ASSERT_EQ(test::put_text(*store, "k", "0123456789abcdef").outcome, KvOutcome::kDone);
  ASSERT_TRUE(store->sync().ok());
  std::vector<std::byte> image = seen->crash(1);
  const auto at =
      std::search(image.begin(), image.end(), test::bytes_of("0123456789abcdef").begin(),
                  test::bytes_of("0123456789abcdef").end());
  ASSERT_NE(at, image.end());
  *at ^= std::byte{1};
  auto again = test::make_kv(config, std::make_unique<CrashingMedium>(image));
  EXPECT_EQ(test::get_text(*again, "k"), "");
  EXPECT_EQ(test::get_text(*again, "k"), "");
  EXPECT_EQ(again->stats().damaged, 1u);
}

}  // namespace
}  // namespace nvcache
