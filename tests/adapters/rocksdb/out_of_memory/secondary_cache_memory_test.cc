// RocksDB's secondary and persistent caches with every allocation failing once. RocksDB is built
// without a thought of exceptions: none may reach it, and no object and no slot may leak.
#include <cstring>
#include <memory>
#include <string>

#include "adapters/rocksdb/cache_calls.h"
#include "adapters/rocksdb/open.h"
#include "nvcache/rocksdb.h"
#include "out_of_memory/sweep.h"
#include "rocksdb/persistent_cache.h"
#include "rocksdb/secondary_cache.h"
#include "support/temp_dir.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;
using test::Allocations;
using test::sweep;

constexpr char kKey[] = "0123456789abcdef";
constexpr size_t kBytes = 4096;

int objects = 0;  // alive

// An engine's object, which counts.
struct Value {
  explicit Value(std::string held) : text(std::move(held)) { ++objects; }
  ~Value() { --objects; }
  std::string text;
};

size_t size_of(void* value) { return static_cast<Value*>(value)->text.size(); }
Status save(void* value, size_t offset, size_t length, SavedBytes* out) {
  std::memcpy(out, static_cast<Value*>(value)->text.data() + offset, length);
  return Status::OK();
}
// Throws where there is no memory, as RocksDB's own do.
Status create(const void* bytes, size_t size, void** object, size_t* charge) {
  *object = new Value(std::string(static_cast<const char*>(bytes), size));
  *charge = size;
  return Status::OK();
}

class SecondaryMemory : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string medium = GetParam();
    if (medium != "dram") medium = "file:" + folder_.file("blocks") + medium;
    options_.spec = "nvcache://?size=1MiB&shards=1&maintenance=0&admission=always&eviction=lru&" +
                    ("medium=" + medium);
    ASSERT_TRUE(NewSecondaryCache(options_, &secondary_, &cache_).ok());
  }
  bool find() {
    bool kept = false;
    const auto result =
        look_up_below(*secondary_, kKey, &helper_, create_, /*wait=*/true, false, &kept);
    if (result == nullptr) return false;
    const std::unique_ptr<Value> value(static_cast<Value*>(result->Value()));
    return value->text == value_.text;
  }
  void insert_or_refuse() {
    insert_below(*secondary_, kKey, &value_, &helper_).PermitUncheckedError();
  }
  void expect_works() {
    secondary_->Erase(kKey);
    EXPECT_TRUE(insert_below(*secondary_, kKey, &value_, &helper_).ok());
    cache_->drain();
    EXPECT_TRUE(find()) << "a slot leaked";
    EXPECT_EQ(objects, 1) << "an object leaked";
  }

  TempDir folder_;
  CacheOptions options_;
  std::shared_ptr<::rocksdb::SecondaryCache> secondary_;
  std::shared_ptr<BlockCache> cache_;
  Value value_{std::string(kBytes, 'v')};
  Helper helper_{size_of, save, nullptr};
  const Create create_ = create;
};

INSTANTIATE_TEST_SUITE_P(Media, SecondaryMemory, ::testing::Values("dram", "", ",io=direct"));
using DeviceInsert = SecondaryMemory;
INSTANTIATE_TEST_SUITE_P(Device, DeviceInsert, ::testing::Values(",io=direct"));

TEST_P(DeviceInsert, LeavesNoSlot) {
  for (const Allocations whose : {Allocations::kOfThisThread, Allocations::kOfAllThreads}) {
    sweep(
        whose,
        [&] {
          insert_or_refuse();
          cache_->drain();
        },
        [&] {
          cache_->drain();
          expect_works();
          secondary_->Erase(kKey);
        });
  }
}

TEST_P(SecondaryMemory, InsertsLeaveNoSlot) {
  sweep(
      Allocations::kOfThisThread, [&] { insert_or_refuse(); },
      [&] {
        expect_works();
        secondary_->Erase(kKey);
      });
}

TEST_P(SecondaryMemory, LookupsMissAndLoseNoObject) {
  expect_works();
  const uint64_t failed = sweep(
      Allocations::kOfThisThread, [&] { (void)find(); },
      [&] {
        EXPECT_EQ(objects, 1) << "an object leaked";
        EXPECT_TRUE(find()) << "the block was removed";
      });
  EXPECT_GE(failed, 3u) << "the handle, the object and its bytes";
}

TEST_P(SecondaryMemory, UpkeepThrowsNothing) {
  sweep(
      Allocations::kOfThisThread,
      [&] {
        (void)secondary_->GetPrintableOptions();
        size_t capacity = 0;
        secondary_->GetCapacity(capacity).PermitUncheckedError();
        secondary_->SetCapacity(0).PermitUncheckedError();
        secondary_->SetCapacity(512 << 10).PermitUncheckedError();
        secondary_->Erase(kKey);
      },
      [&] {
        ASSERT_TRUE(secondary_->SetCapacity(1 << 20).ok());
        expect_works();
      });
}

TEST_P(SecondaryMemory, OpeningIsAStatus) {
  CacheOptions options;
  options.spec = "nvcache://?size=1MiB&shards=1";
  sweep(
      Allocations::kOfThisThread,
      [&] {
        std::shared_ptr<::rocksdb::SecondaryCache> secondary;
        NewSecondaryCache(options, &secondary).PermitUncheckedError();
        std::shared_ptr<::rocksdb::PersistentCache> persistent;
        NewPersistentCache(options, &persistent).PermitUncheckedError();
      },
      [] {});
}

TEST_P(SecondaryMemory, ThePersistentCacheThrowsNothing) {
  options_.cache = cache_;
  std::shared_ptr<::rocksdb::PersistentCache> persistent;
  ASSERT_TRUE(NewPersistentCache(options_, &persistent).ok());
  const std::string block(kBytes, 'p');
  sweep(
      Allocations::kOfThisThread,
      [&] {
        persistent->Insert(kKey, block.data(), block.size()).PermitUncheckedError();
        std::unique_ptr<char[]> data;
        size_t size = 0;
        persistent->Lookup(kKey, &data, &size).PermitUncheckedError();
        (void)persistent->Stats();
        (void)persistent->GetPrintableOptions();
      },
      [&] {
        cache_->drain();
        persistent->Insert(kKey, block.data(), block.size()).PermitUncheckedError();
        cache_->drain();
        std::unique_ptr<char[]> data;
        size_t size = 0;
        EXPECT_TRUE(persistent->Lookup(kKey, &data, &size).ok());
      });
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
