// The promises of every tiered cache, whatever its policy and however many tiers it has.
#include <atomic>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "base/test_hooks.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;
using test::TestCodec;

struct TierKind {
  const char* name;
  const char* spec;  // FILE stands for a path in the test's folder
};

void PrintTo(const TierKind& kind, std::ostream* out) { *out << kind.spec; }

class TieredCacheContract : public testing::TestWithParam<TierKind> {
 protected:
  std::string spec(const std::string& more = "") {
    std::string spec = GetParam().spec;
    if (const size_t at = spec.find("FILE"); at != std::string::npos) {
      spec.replace(at, 4, folder_.file("blocks"));
    }
    return "tiered://?metadata=free&" + spec + more;
  }
  TempDir folder_;
};

INSTANTIATE_TEST_SUITE_P(
    Caches, TieredCacheContract,
    testing::Values(
        TierKind{"DramOnly", "dram=256KiB"}, TierKind{"DramFirst", "dram=64KiB&tier=(size=256KiB)"},
        TierKind{"ScmOnly", "dram=0&tier=(size=256KiB)"},
        TierKind{"ScmFirst", "policy=scm_first(2)&dram=64KiB&tier=(size=256KiB)"},
        TierKind{"Bidirectional", "policy=bidirectional(2)&dram=64KiB&tier=(size=256KiB)"},
        TierKind{"Adaptive", "policy=bidirectional(4,adaptive)&dram=64KiB&tier=(size=256KiB)"},
        TierKind{"InTheForeground",
                 "policy=bidirectional(2)&demote=foreground&dram=64KiB&"
                 "tier=(size=256KiB)"},
        TierKind{"OnEmulatedOptane",
                 "policy=bidirectional(1)&dram=64KiB&tier=(size=256KiB,medium=emulated:optane)"},
        TierKind{"OnDevice",
                 "policy=bidirectional(1)&dram=64KiB&tier=(size=4MiB,medium=file:FILE,io=direct)"},
        TierKind{"Guarded",
                 "policy=bidirectional(1)&dram=64KiB&tier=(size=256KiB,"
                 "admission=obp(0.3,window)+second_touch,eviction=clock)"},
        TierKind{"ThreeTiers",
                 "policy=bidirectional(1)&dram=64KiB&tier=(size=64KiB,medium=emulated:"
                 "cxl)&tier=(size=256KiB,medium=file:FILE)"},
        TierKind{"InRegions",
                 "policy=bidirectional(1)&dram=64KiB&tier=(size=4MiB,space=regions,region=128KiB,"
                 "restart=warm,medium=file:FILE)"},
        TierKind{"DramOverRegions",
                 "dram=64KiB&tier=(size=2MiB)&tier=(size=4MiB,space=regions,region=128KiB,"
                 "restart=warm,medium=file:FILE)"},
        TierKind{"FourTiers",
                 "policy=scm_first(1)&dram=64KiB&tier=(size=64KiB)&tier=(size=64KiB,"
                 "eviction=clock)&tier=(size=256KiB,medium=emulated:optane,on=dram)"},
        TierKind{"Shared", "policy=bidirectional(1)&dram=64KiB&tier=(name=contract,size=256KiB)"},
        TierKind{"OverShared",
                 "policy=scm_first(1)&dram=64KiB&tier=(size=64KiB)&"
                 "tier=(name=contract,size=4MiB,space=regions,region=128KiB,medium=file:FILE)"}),
    [](const testing::TestParamInfo<TierKind>& kind) { return std::string(kind.param.name); });

TEST_P(TieredCacheContract, ServesWhatWasInsertedOrMisses) {
  Engine engine(spec());
  EXPECT_EQ(engine.get(1), 0u);
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t id = 1; id <= 200; ++id) {
      if (const uint64_t version = engine.get(id); version != 0) {
        EXPECT_EQ(version, id * 10);
      } else {
        engine.put_held(id, id * 10);
      }
    }
    for (uint64_t i = 0; i < 10; ++i) engine.get(3);
  }
  const TieredStats stats = engine.cache->stats();
  uint64_t hits = 0;
  for (const TierStats& tier : stats.tiers) hits += tier.hits;
  EXPECT_EQ(stats.lookups, stats.misses + hits);
  EXPECT_EQ(stats.pinned_bytes, 0u);
}

TEST_P(TieredCacheContract, ABlockOverwrittenOrErasedNeverComesBack) {
  Engine engine(spec());
  Prng random(5);
  std::vector<uint64_t> current(100, 0);
  for (uint64_t step = 1; step < 20000; ++step) {
    const uint64_t id = random.below(current.size());
    const uint64_t kind = random.below(10);
    if (kind == 0) {
      engine.put(id, current[id] = step);
    } else if (kind == 1) {
      engine.put_held(id, current[id] = step);
    } else if (kind == 2) {
      engine.cache->erase(key_of(id));
      current[id] = 0;
    } else if (const uint64_t found = engine.get(id); found != 0) {
      ASSERT_EQ(found, current[id]) << "step " << step;
    }
  }
}

TEST_P(TieredCacheContract, HandlesOutliveEvictionErasureAndReplacement) {
  Engine engine(spec());
  std::vector<TieredCache::Handle*> held;
  for (uint64_t id = 0; id < 8; ++id) {
    const Object object = engine.codec->make(id, id + 1, Engine::kObjectBytes);
    TieredCache::Handle* handle = nullptr;
    ASSERT_TRUE(engine.cache->insert(key_of(id), object, Priority::kLow, &handle).ok());
    held.push_back(handle);
  }
  for (uint64_t id = 0; id < 8; ++id) {
    if (TieredCache::Handle* const again = engine.hold(id)) held.push_back(again);
  }
  engine.cache->ref(held[0]);
  held.push_back(held[0]);
  for (uint64_t id = 100; id < 400; ++id) engine.put(id);
  engine.cache->erase(key_of(1));
  engine.put(2, 77);
  EXPECT_EQ(engine.get(1), 0u);
  EXPECT_GT(engine.cache->use().pinned_bytes, 0u);
  for (size_t i = 0; i < held.size(); ++i) {
    const auto& object = TestCodec::value(engine.cache->object(held[i]));
    EXPECT_EQ(object.version, object.id + 1);
    engine.cache->release(held[i]);
  }
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
  engine.cache->erase_unreferenced();
  EXPECT_EQ(engine.codec->alive, 0);
  EXPECT_EQ(engine.cache->use().used_bytes, 0u);
}

TEST_P(TieredCacheContract, ReleasedForGoodABlockIsGoneFromAllTiers) {
  Engine engine(spec());
  for (uint64_t id = 0; id < 60; ++id) engine.put_held(id);
  for (uint64_t id = 0; id < 60; ++id) {
    if (TieredCache::Handle* const handle = engine.hold(id)) {
      EXPECT_TRUE(engine.cache->release(handle, /*erase_if_last=*/true));
    }
    EXPECT_EQ(engine.get(id), 0u);
  }
}

TEST_P(TieredCacheContract, OnlyTheLastReferenceErasesABlock) {
  Engine engine(spec());
  for (uint64_t id = 1; id <= 40; ++id) engine.put_held(id);
  engine.cache->drain();
  for (uint64_t id = 1; id <= 40; ++id) {
    TieredCache::Handle* const handle = engine.hold(id, Caller::kBackground);
    if (handle == nullptr) continue;
    engine.cache->ref(handle);
    EXPECT_FALSE(engine.cache->release(handle, /*erase_if_last=*/true));
    EXPECT_NE(engine.get(id, Caller::kBackground), 0u) << "still in use, and erased: " << id;
    engine.cache->release(handle, /*erase_if_last=*/true);
  }
}

TEST_P(TieredCacheContract, OddKeysAndUnmovableObjectsStayInTheFirstTier) {
  Engine engine(spec());
  const auto insert = [&](std::string_view key, bool movable) {
    TieredCache::Handle* handle = nullptr;
    const Object object = engine.codec->make(9, 1, Engine::kObjectBytes, movable);
    EXPECT_TRUE(engine.cache->insert(key, object, Priority::kLow, &handle).ok());
    EXPECT_EQ(engine.cache->held(handle).key, key);
    return handle;
  };
  TieredCache::Handle* const a = insert("short", true);
  TieredCache::Handle* const b = insert("", true);
  TieredCache::Handle* const c = insert(key_of(9), false);
  TieredCache::Handle* const nothing = [&] {
    TieredCache::Handle* handle = nullptr;
    EXPECT_TRUE(engine.cache
                    ->insert(key_of(2), {.value = nullptr, .kind = {}, .charge_bytes = 100},
                             Priority::kLow, &handle)
                    .ok());
    return handle;
  }();
  for (TieredCache::Handle* const handle : {a, b, c}) engine.cache->release(handle);
  EXPECT_EQ(engine.cache->object(nothing).value, nullptr);
  engine.cache->release(nothing);
  for (uint64_t id = 100; id < 300; ++id) engine.put(id);
  EXPECT_LE(engine.served_by(9), 0) << "an unmovable object went to a lower tier";
}

TEST_P(TieredCacheContract, StandaloneObjectsAreFoundByNobody) {
  Engine engine(spec());
  TieredCache::Handle* const handle =
      engine.cache->standalone(key_of(1), engine.codec->make(1, 1, Engine::kObjectBytes));
  EXPECT_EQ(engine.get(1), 0u);
  EXPECT_TRUE(engine.cache->release(handle));
}

TEST_P(TieredCacheContract, ShrinksToNothingAndBack) {
  Engine engine(spec());
  for (uint64_t id = 0; id < 100; ++id) engine.put_held(id, id + 1);
  engine.cache->set_capacity(0);
  EXPECT_EQ(engine.cache->use().used_bytes, 0u);
  for (uint64_t id = 0; id < 100; ++id) {
    const uint64_t version = engine.get(id);
    EXPECT_TRUE(version == 0 || version == id + 1);
  }
  engine.cache->set_capacity(1 << 20);
  for (uint64_t id = 0; id < 100; ++id) engine.put_held(id, id + 1);
  uint64_t found = 0;
  for (uint64_t id = 0; id < 100; ++id) found += engine.get(id) == id + 1 ? 1 : 0;
  EXPECT_GT(found, 30u);
}

TEST_P(TieredCacheContract, InspectionSeesAllAndKeepsTheOrder) {
  Engine engine(spec("&shards=1"));
  for (uint64_t id = 0; id < 12; ++id) engine.put(id);
  uint64_t seen = 0;
  for (int round = 0; round < 3; ++round) {
    seen = 0;
    engine.cache->for_each([&](std::string_view key, const Object& object) {
      EXPECT_EQ(key, key_of(TestCodec::value(object).id));
      engine.cache->erase("not there");  // a visit may call the cache
      ++seen;
    });
    EXPECT_EQ(seen, engine.cache->use().objects);
  }
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
}

TEST_P(TieredCacheContract, AnInsertWithATokenFromBeforeAChangeIsRefused) {
  Engine engine(spec());
  const auto insert = [&](uint64_t id, uint64_t version, MissToken token,
                          TieredCache::Handle** handle) {
    const Object object = engine.codec->make(id, version, Engine::kObjectBytes);
    const Status status =
        engine.cache->insert(key_of(id), object, Priority::kLow, handle, nullptr, token);
    if (!status.ok() && handle != nullptr) engine.codec->destroy(key_of(id), object);
    return status;
  };
  TieredCache::Handle* handle = nullptr;
  for (const bool holds : {false, true}) {
    TieredCache::Handle** const wanted = holds ? &handle : nullptr;
    const MissToken first = engine.cache->token(key_of(1));
    engine.put(1, 2);
    EXPECT_TRUE(is_aborted(insert(1, 1, first, wanted))) << "it was inserted meanwhile";
    EXPECT_EQ(engine.get(1), 2u);
    const MissToken second = engine.cache->token(key_of(1));
    engine.cache->erase(key_of(1));
    EXPECT_TRUE(is_aborted(insert(1, 2, second, wanted))) << "it was erased meanwhile";
    EXPECT_EQ(engine.get(1), 0u);
    EXPECT_TRUE(insert(1, 3, engine.cache->token(key_of(1)), wanted).ok());
    EXPECT_EQ(engine.get(1), 3u);
    engine.cache->erase(key_of(1));
  }
  if (handle != nullptr) engine.cache->release(handle);
}

// As an engine whose values change: readers that miss read the storage, and insert what they read.
TEST_P(TieredCacheContract, ConcurrentReadersOfStorageInsertNoReplacedValue) {
  constexpr uint64_t kKeys = 6;
  Engine engine(spec());
  engine.cache->set_capacity(4 * Engine::kObjectBytes);
  std::vector<std::atomic<uint64_t>> storage(kKeys);  // each key's version
  std::vector<std::atomic<uint64_t>> settled(kKeys);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + t);
      for (int step = 0; step < 3000; ++step) {
        const uint64_t id = random.below(kKeys);
        if (id % 4 == t && random.below(3) == 0) {  // the key's writer
          const uint64_t version = storage[id].load() + 1;
          storage[id].store(version);
          random.below(2) == 0 ? engine.put(id, version) : engine.cache->erase(key_of(id));
          settled[id].store(version);
          continue;
        }
        const uint64_t least = settled[id].load();
        const uint64_t found = engine.get(id);
        ASSERT_TRUE(found == 0 || found >= least) << found << " after " << least;
        if (found != 0) continue;
        const MissToken token =
            test_hooks.skip_tokens ? MissToken() : engine.cache->token(key_of(id));
        const uint64_t read = storage[id].load();
        if (read == 0) continue;
        std::this_thread::yield();
        const Object object = engine.codec->make(id, read, Engine::kObjectBytes);
        (void)engine.cache->insert(key_of(id), object, Priority::kLow, nullptr, nullptr, token);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads insert rising versions of a few keys, each key written by one of them, while
// all read: a reader never sees less than what was current when its lookup began.
TEST_P(TieredCacheContract, ConcurrentReadersNeverSeeAReplacedValue) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kKeysEach = 3;
  Engine engine(spec());
  engine.cache->set_capacity(4 * Engine::kObjectBytes);
  engine.codec->slow_saves = true;
  std::vector<std::atomic<uint64_t>> settled(kThreads * kKeysEach);  // the version written last
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + t);
      for (int step = 0; step < 4000; ++step) {
        if (random.below(3) == 0) {
          const uint64_t id = t + kThreads * random.below(kKeysEach);
          const uint64_t version = settled[id].load() + 1;
          random.below(4) == 0 ? engine.cache->erase(key_of(id)) : engine.put(id, version);
          settled[id].store(version);
          continue;
        }
        const uint64_t id = random.below(settled.size());
        const uint64_t least = settled[id].load();
        const uint64_t found = engine.get(id);
        if (found == 0) continue;
        ASSERT_GE(found, least) << "key " << id;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine.cache->use().pinned_bytes, 0u);
}

// A lookup takes no lock: it may read entries that leave, come back under other keys and are moved
// to a larger table meanwhile. It finds what stays, and nothing else, whatever the others do.
TEST_P(TieredCacheContract, ConcurrentLookupsFindWhatStays) {
  constexpr uint64_t kThreads = 16;
  constexpr uint64_t kStaying = 64;
  Engine engine(spec());
  engine.cache->set_capacity(100'000 * size_t{Engine::kObjectBytes});
  for (uint64_t id = 0; id < kStaying; ++id) engine.put(id);
  const bool in_first_tier = engine.blocks(0) == kStaying;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + t);
      std::vector<TieredCache::Handle*> held;
      for (int step = 0; step < 1500; ++step) {
        const uint64_t id = 1000 + random.below(2000) * kThreads + t;
        if (t % 2 == 0) {
          engine.put(id, step + 1);
          if (random.below(2) == 0) engine.cache->erase(key_of(1000 + random.below(2000) * 16));
        } else if (TieredCache::Handle* const handle = engine.hold(random.below(40'000))) {
          held.push_back(handle);
        }
        const uint64_t staying = random.below(kStaying);
        const uint64_t version = engine.get(staying);  // checks the id as well
        if (in_first_tier) {
          ASSERT_EQ(version, 1u) << staying;
        }
        if (held.size() > 20) {
          for (TieredCache::Handle* const handle : held) engine.cache->release(handle);
          held.clear();
        }
      }
      for (TieredCache::Handle* const handle : held) engine.cache->release(handle);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FirstTierUse use = engine.cache->use();
  EXPECT_EQ(use.pinned_bytes, 0u);
  engine.cache->set_capacity(8 * size_t{Engine::kObjectBytes});
  EXPECT_LE(engine.cache->use().objects, 8u + 64u);
}

}  // namespace
}  // namespace nvcache
