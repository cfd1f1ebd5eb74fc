// The adapter alone, used through rocksdb::Cache with objects that know their identity:
// each is destroyed exactly once, under the key and by the deleter it was given
// with, and no lookup finds a value that was replaced or erased.
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adapters/rocksdb/tiered_cache.h"
#include "cache_calls.h"
#include "tiered_db.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;

std::string key16(uint64_t id) {
  std::string key(16, '\0');
  std::memcpy(key.data(), &id, sizeof id);
  const uint64_t mixed = id * 0x9e3779b97f4a7c15ULL;
  std::memcpy(key.data() + 8, &mixed, sizeof mixed);
  return key;
}

constexpr size_t kObjectBytes = 1000;
std::atomic<int64_t> alive{0};
std::atomic<int64_t> destroyed{0};

struct Counted {
  uint64_t id = 0;
  uint64_t version = 0;
  uint64_t live = kLive;

  static constexpr uint64_t kLive = 0x6c69766521212121;
  Counted(uint64_t own_id, uint64_t own_version) : id(own_id), version(own_version) { ++alive; }
};

void destroy(const Slice* key, void* value) {
  auto* const object = static_cast<Counted*>(value);
  ASSERT_EQ(object->live, Counted::kLive) << "destroyed twice";
  if (key != nullptr) {
    ASSERT_EQ(*key, Slice(key16(object->id)));
  }
  object->live = 0;
  --alive;
  ++destroyed;
  delete object;
}
size_t size_of(void*) { return kObjectBytes; }
Status save(void* value, size_t offset, size_t length, SavedBytes* out) {
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(length, kObjectBytes);
  std::memset(out, 0x5a, length);
  std::memcpy(out, value, sizeof(Counted));
  return Status::OK();
}
Status fail_to_save(void*, size_t, size_t, SavedBytes*) { return Status::IOError(); }

const Helper kHelper(size_of, save, destroy_by<destroy>);
const Helper kUnsaved(size_of, fail_to_save, destroy_by<destroy>);

Status create(const void* bytes, size_t size, void** value, size_t* charge) {
  EXPECT_EQ(size, kObjectBytes);
  Counted saved(0, 0);
  --alive;
  std::memcpy(static_cast<void*>(&saved), bytes, sizeof saved);
  *value = new Counted(saved.id, saved.version);
  *charge = kObjectBytes;
  return Status::OK();
}

Cache::Handle* find(Cache& cache, uint64_t id) {
  return look_up(cache, key16(id), &kHelper, create);
}

uint64_t version_of(Cache& cache, uint64_t id) {
  Cache::Handle* const handle = find(cache, id);
  if (handle == nullptr) return 0;
  const auto* const object = static_cast<Counted*>(cache.Value(handle));
  EXPECT_EQ(object->id, id);
  EXPECT_EQ(object->live, Counted::kLive);
  const uint64_t version = object->version;
  cache.Release(handle);
  return version;
}

TEST(TieredAdapter, ServesFromBothTiersAndTicks) {
  const int64_t before = alive;
  {
    const Tiered tiered("tiered://?dram=8KiB&shards=1&demote=foreground&tier=(size=1MiB)");
    Cache& cache = *tiered.cache;
    for (uint64_t id = 1; id <= 100; ++id) {
      ASSERT_ROCKS_OK(cache.Insert(key16(id), new Counted(id, id), &kHelper, kObjectBytes));
    }
    // Lookups that cannot make an object search the first tier alone.
    EXPECT_EQ(cache.Lookup(key16(1)), nullptr);
    EXPECT_EQ(look_up(cache, key16(1), nullptr, create), nullptr);
    EXPECT_EQ(look_up(cache, key16(1), &kHelper, nullptr), nullptr);
    const auto statistics = ::rocksdb::CreateDBStatistics();
    const auto found = [&](uint64_t id) {
      Cache::Handle* const handle = look_up(cache, key16(id), &kHelper, create, statistics.get());
      if (handle == nullptr) return false;
      EXPECT_TRUE(is_ready(cache, handle));
      EXPECT_EQ(static_cast<Counted*>(cache.Value(handle))->version, id);
      EXPECT_EQ(cache.GetCharge(handle), kObjectBytes);
      EXPECT_GE(cache.GetUsage(handle), kObjectBytes);
      EXPECT_EQ(deleter_at(cache, handle), &destroy_by<destroy>);
      cache.Release(handle, /*useful=*/true, /*erase_if_last_ref=*/false);
      return true;
    };
    EXPECT_TRUE(found(100));
    EXPECT_EQ(statistics->getTickerCount(::rocksdb::SECONDARY_CACHE_HITS), 0u);
    EXPECT_TRUE(found(1));
    EXPECT_EQ(statistics->getTickerCount(::rocksdb::SECONDARY_CACHE_HITS), 1u);
    EXPECT_FALSE(found(1000));
    EXPECT_EQ(statistics->getTickerCount(::rocksdb::SECONDARY_CACHE_HITS), 1u);
    EXPECT_EQ(cache.GetPinnedUsage(), 0u);
    EXPECT_NE(cache.GetPrintableOptions().find("nvcache.tier1: dram, 1048576 bytes"),
              std::string::npos)
        << cache.GetPrintableOptions();
  }
  EXPECT_EQ(alive, before);
}

// Reservations have no value, some have no deleter; such entries cannot move.
TEST(TieredAdapter, TakesEntriesWithoutValueOrDeleter) {
  const Tiered tiered("tiered://?dram=4KiB&shards=1&metadata=free&tier=(size=1MiB)");
  Cache& cache = *tiered.cache;
  if (kTakesNoNullHelper) {
    EXPECT_TRUE(cache.Insert(key16(1), nullptr, static_cast<Cache::CacheItemHelper*>(nullptr), 1)
                    .IsInvalidArgument());
  }
  Cache::Handle* handle = nullptr;
  ASSERT_ROCKS_OK(reserve(cache, key16(1), 1000, &handle));
  EXPECT_EQ(cache.GetUsage(), 1000u);
  EXPECT_EQ(cache.GetPinnedUsage(), 1000u);
  EXPECT_EQ(deleter_at(cache, handle), nullptr);
  EXPECT_EQ(cache.Value(handle), nullptr);
  EXPECT_TRUE(cache.Ref(handle));
  EXPECT_FALSE(cache.Release(handle, true));
  EXPECT_TRUE(cache.Release(handle, true));
  EXPECT_EQ(cache.GetUsage(), 0u);
  const Cache::CacheItemHelper empty;
  for (uint64_t id = 1; id <= 20; ++id) {
    ASSERT_ROCKS_OK(reserve(cache, key16(id), 1000));
    ASSERT_ROCKS_OK(cache.Insert(key16(id + 100), nullptr, &empty, 1000));
  }
  EXPECT_LE(cache.GetUsage(), 4096u);
  EXPECT_EQ(tiered.opened->stats().tiers[1].demoted_in, 0u);
  EXPECT_NE(cache.NewId(), cache.NewId());
}

TEST(TieredAdapter, StrictLeavesTheValueToTheCaller) {
  const int64_t before = alive;
  const Tiered tiered("tiered://?dram=2KiB&strict=on&shards=1&metadata=free&tier=(size=1MiB)");
  Cache& cache = *tiered.cache;
  Cache::Handle* held[2] = {};
  for (uint64_t id = 1; id <= 2; ++id) {
    ASSERT_ROCKS_OK(cache.Insert(key16(id), new Counted(id, id), &kHelper, 1024, &held[id - 1]));
  }
  auto* refused = new Counted(3, 3);
  Cache::Handle* handle = held[0];
  EXPECT_TRUE(cache.Insert(key16(3), refused, &kHelper, 1024, &handle).IsMemoryLimit());
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(refused->live, Counted::kLive);
  // Without a handle the cache takes it, and may move it below at once.
  EXPECT_ROCKS_OK(cache.Insert(key16(3), refused, &kHelper, 1024));
  for (Cache::Handle* one : held) cache.Release(one);
  cache.EraseUnRefEntries();
  EXPECT_EQ(cache.GetUsage(), 0u);
  EXPECT_EQ(alive, before);
}

TEST(TieredAdapter, WhatCannotBeSavedIsDropped) {
  const int64_t before = alive;
  {
    const Tiered tiered("tiered://?dram=4KiB&shards=1&demote=foreground&tier=(size=1MiB)");
    for (uint64_t id = 1; id <= 50; ++id) {
      ASSERT_ROCKS_OK(
          tiered.cache->Insert(key16(id), new Counted(id, id), &kUnsaved, kObjectBytes));
    }
    EXPECT_EQ(version_of(*tiered.cache, 1), 0u);
    EXPECT_EQ(tiered.opened->stats().tiers[1].blocks, 0u);
  }
  EXPECT_EQ(alive, before);
}

void destroy_of_any_key(const Slice*, void* value) {
  --alive;
  delete static_cast<Counted*>(value);
}
const Helper kAnyKey(size_of, save, destroy_by<destroy_of_any_key>);

// RocksDB makes such keys up anew in each process: under them lie other objects after a restart.
TEST(TieredAdapter, KeysThatLiveAsLongAsTheProcessStayInDram) {
  const Tiered tiered("tiered://?dram=4KiB&shards=1&demote=foreground&tier=(size=1MiB)");
  for (const uint64_t file : {uint64_t{0}, uint64_t{7}}) {
    for (uint64_t i = 1; i <= 50; ++i) {
      const uint64_t words[2] = {file, i};
      const Slice key(reinterpret_cast<const char*>(words), sizeof words);
      ASSERT_ROCKS_OK(tiered.cache->Insert(key, new Counted(i, i), &kAnyKey, kObjectBytes));
    }
    EXPECT_EQ(tiered.opened->stats().tiers[1].blocks > 0, file != 0) << file;
  }
}

TEST(TieredAdapter, WhatCannotBeMadeIsAMiss) {
  const Tiered tiered("tiered://?dram=4KiB&shards=1&demote=foreground&tier=(size=1MiB)");
  for (uint64_t id = 1; id <= 50; ++id) {
    ASSERT_ROCKS_OK(tiered.cache->Insert(key16(id), new Counted(id, id), &kHelper, kObjectBytes));
  }
  const auto refuse = [](const void*, size_t, void**, size_t*) { return Status::Corruption(); };
  EXPECT_EQ(look_up(*tiered.cache, key16(1), &kHelper, refuse), nullptr);
  EXPECT_EQ(version_of(*tiered.cache, 1), 0u) << "it is of no use to anybody else either";
  EXPECT_EQ(version_of(*tiered.cache, 2), 2u);
}

TEST(TieredAdapter, VisitsAllOfTheFirstTier) {
  const Tiered tiered("tiered://?dram=1MiB&tier=(size=1MiB)");
  for (uint64_t id = 1; id <= 300; ++id) {
    ASSERT_ROCKS_OK(tiered.cache->Insert(key16(id), new Counted(id, id), &kHelper, id));
  }
  uint64_t seen = 0;
  for_each(*tiered.cache,
           [&](const Slice& key, void* value, size_t charge, Cache::DeleterFn deleter) {
             const uint64_t id = static_cast<Counted*>(value)->id;
             EXPECT_EQ(key, Slice(key16(id)));
             EXPECT_EQ(charge, id);
             EXPECT_EQ(deleter, &destroy_by<destroy>);
             seen += id;
             tiered.cache->Erase(key);  // no lock is held
           });
  EXPECT_EQ(seen, 300u * 301 / 2);
  EXPECT_EQ(tiered.cache->GetOccupancyCount(), 0u);
}

class TieredAdapterStress : public ::testing::TestWithParam<TieredCase> {};
INSTANTIATE_TEST_SUITE_P(Caches, TieredAdapterStress, ::testing::ValuesIn(kTieredCases), name_of);

// Each thread writes keys of its own, so that it knows their versions, and reads all.
TEST_P(TieredAdapterStress, EveryObjectGoesOnceAndNoneComesBack) {
  constexpr uint64_t kIds = 9000;
  constexpr int kThreads = 4;
  constexpr int kSteps = 40000;
  TempDir dir;
  const int64_t alive_before = alive;
  const int64_t destroyed_before = destroyed;
  {
    const Tiered tiered(spec_of(GetParam(), dir.file("medium")));
    Cache& cache = *tiered.cache;
    std::vector<std::atomic<uint64_t>> floor(kIds);  // no older version may be seen
    std::vector<std::atomic<uint64_t>> newest(kIds);
    const auto work = [&](uint64_t thread) {
      std::mt19937_64 random(test_seed() + thread);
      std::vector<Cache::Handle*> held;
      for (int step = 0; step < kSteps; ++step) {
        const uint64_t any = random() % (random() % 4 == 0 ? kIds : kIds / 8);
        const uint64_t own = any / kThreads * kThreads + thread;
        const uint64_t dice = random() % 100;
        if (dice < 60) {
          const uint64_t oldest = floor[any].load();
          const uint64_t version = version_of(cache, any);
          if (version != 0) {
            ASSERT_GE(version, oldest);
            ASSERT_LE(version, newest[any].load());
          }
        } else if (own >= kIds) {
          continue;
        } else if (dice < 90) {
          // A reader may see it from here on, and nothing older once it is in.
          const uint64_t version = newest[own].fetch_add(1) + 1;
          Cache::Handle* handle = nullptr;
          ASSERT_ROCKS_OK(
              cache.Insert(key16(own), new Counted(own, version), &kHelper, kObjectBytes,
                           dice < 75 ? &handle : nullptr,
                           dice % 10 == 0 ? Cache::Priority::HIGH : Cache::Priority::LOW));
          floor[own] = version;
          if (handle != nullptr) held.push_back(handle);
        } else if (dice < 94) {
          cache.Erase(key16(own));
          floor[own] = newest[own] + 1;
        } else if (Cache::Handle* const handle = find(cache, any); handle != nullptr) {
          EXPECT_TRUE(cache.Ref(handle));
          cache.Release(handle, dice % 2 == 0);
          held.push_back(handle);
        }
        while (held.size() > 8) {
          const size_t which = random() % held.size();
          EXPECT_EQ(static_cast<Counted*>(cache.Value(held[which]))->live, Counted::kLive);
          cache.Release(held[which], random() % 8 == 0);
          held[which] = held.back();
          held.pop_back();
        }
      }
      for (Cache::Handle* handle : held) cache.Release(handle);
    };
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
    std::thread resizer([&] {
      for (int i = 0; i < 20; ++i) {
        cache.SetCapacity(i % 2 == 0 ? 64 << 10 : 512 << 10);
        for_each(cache, [](const Slice&, void*, size_t, Cache::DeleterFn) {});
        std::this_thread::yield();
      }
    });
    for (std::thread& thread : threads) thread.join();
    resizer.join();
    EXPECT_EQ(cache.GetPinnedUsage(), 0u);
    // A cache without a first tier holds only what came in while it was resized.
    // Some may be on their way down, one of them moved and not yet gone.
    const uint64_t queued = tiered.opened->stats().queued;
    EXPECT_LE(static_cast<uint64_t>(alive - alive_before), cache.GetOccupancyCount() + queued + 1);
  }
  EXPECT_EQ(alive, alive_before);
  EXPECT_GT(destroyed - destroyed_before, kThreads * kSteps / 4);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
