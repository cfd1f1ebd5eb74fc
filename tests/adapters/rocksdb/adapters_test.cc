// The calls of the adapters to a BlockCache, and their answers to RocksDB.
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "adapters/rocksdb/caller.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/open.h"
#include "cache_calls.h"
#include "fake_block_cache.h"
#include "nvcache/status.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;

constexpr char kKey[] = "0123456789abcdef";
// As RocksDB makes for the life of a process.
const std::string kForTheProcess("\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);

// RocksDB's callbacks, for values that are strings.
size_t size_of(void* value) { return static_cast<std::string*>(value)->size(); }
Status save(void* value, size_t offset, size_t length, SavedBytes* out) {
  std::memcpy(out, static_cast<std::string*>(value)->data() + offset, length);
  return Status::OK();
}
Status fail_to_save(void*, size_t, size_t, SavedBytes*) { return Status::Corruption("unsaved"); }
Status create(const void* bytes, size_t size, void** object, size_t* charge) {
  *object = new std::string(static_cast<const char*>(bytes), size);
  *charge = size + 1;
  return Status::OK();
}
Status fail_to_create(const void*, size_t, void**, size_t*) { return Status::Corruption("no"); }

class SecondaryCacheTest : public ::testing::Test {
 protected:
  explicit SecondaryCacheTest(bool exclusive = false) {
    CacheOptions options;
    options.cache = fake_;
    options.exclusive = exclusive;
    EXPECT_ROCKS_OK(NewSecondaryCache(options, &secondary_));
  }

  Status insert(std::string value, const Slice& key = kKey) {
    return insert_below(*secondary_, key, &value, &helper_);
  }

  // The value found, or "" for a miss.
  std::string lookup(const Create& create_cb = create, bool wait = true, bool advise_erase = false,
                     const Slice& key = kKey) {
    const auto result =
        look_up_below(*secondary_, key, &helper_, create_cb, wait, advise_erase, &kept_);
    if (result == nullptr) return "";
    EXPECT_TRUE(result->IsReady());
    const std::unique_ptr<std::string> value(static_cast<std::string*>(result->Value()));
    EXPECT_EQ(result->Size(), value->size() + 1);  // the charge that create said
    return *value;
  }

  std::shared_ptr<FakeBlockCache> fake_ = std::make_shared<FakeBlockCache>();
  std::shared_ptr<::rocksdb::SecondaryCache> secondary_;
  Helper helper_{size_of, save, nullptr};
  bool kept_ = false;
};

class ExclusiveSecondaryCacheTest : public SecondaryCacheTest {
 protected:
  ExclusiveSecondaryCacheTest() : SecondaryCacheTest(true) {}
};

TEST_F(SecondaryCacheTest, FindsWhatWasInserted) {
  EXPECT_EQ(lookup(), "");
  EXPECT_FALSE(kept_);
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(), "a block");
  EXPECT_TRUE(kept_);
  EXPECT_EQ(fake_->pins(), 0) << "the block must be let go once it is copied";
}

TEST_F(SecondaryCacheTest, AnswersAtOnceWithoutWait) {
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(create, /*wait=*/false), "a block");
  secondary_->WaitAll({});
}

TEST_F(SecondaryCacheTest, KeepsTheBlockWhenAdvisedToEraseIt) {
  EXPECT_FALSE(secondary_->SupportForceErase());
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(create, true, /*advise_erase=*/true), "a block");
  EXPECT_TRUE(kept_);
  EXPECT_EQ(lookup(), "a block");
}

TEST_F(ExclusiveSecondaryCacheTest, LetsTheBlockGoWhenAdvisedTo) {
  EXPECT_TRUE(secondary_->SupportForceErase());
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(), "a block");
  EXPECT_TRUE(kept_);
  EXPECT_EQ(lookup(create, true, /*advise_erase=*/true), "a block");
  EXPECT_FALSE(kept_);
  EXPECT_EQ(lookup(), "");
}

TEST_F(SecondaryCacheTest, ARefusalIsNoErrorAndNoCopy) {
  fake_->refuse_all(Reason::kOverhead);
  helper_.saveto_cb = fail_to_save;  // would be an error
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(), "");
}

TEST_F(SecondaryCacheTest, RefusesKeysThatAreNotRocksDbs) {
  EXPECT_TRUE(insert("a block", "short").IsNotSupported());
  EXPECT_TRUE(insert("a block", "0123456789abcdef0").IsNotSupported());
  EXPECT_TRUE(insert("a block", kForTheProcess).IsNotSupported()) << "names another block later";
  EXPECT_EQ(lookup(create, true, false, "short"), "");
  secondary_->Erase("short");
  EXPECT_EQ(fake_->stats().inserts, 0u);
  EXPECT_EQ(fake_->stats().misses, 0u);
}

TEST_F(SecondaryCacheTest, RefusesValuesThatCannotBeSaved) {
  const ::rocksdb::Cache::CacheItemHelper none;
  std::string value = "a block";
  EXPECT_TRUE(insert_below(*secondary_, kKey, &value, &none).IsNotSupported());
  EXPECT_TRUE(insert_below(*secondary_, kKey, &value, nullptr).IsNotSupported());
  EXPECT_TRUE(insert_below(*secondary_, kKey, nullptr, &helper_).IsNotSupported());
  helper_.saveto_cb = fail_to_save;
  EXPECT_TRUE(insert("a block").IsCorruption());
  EXPECT_EQ(fake_->stats().inserts, 0u);
}

TEST_F(SecondaryCacheTest, CountsABlockThatIsTooLargeAndSavesTheLargest) {
  EXPECT_ROCKS_OK(insert(std::string(kMaxBlockBytes + 1 - kTypeBytes, 'x')));
  EXPECT_EQ(fake_->stats().refused[static_cast<size_t>(Reason::kBadSize)], 1u);
  const std::string largest(kMaxBlockBytes - kTypeBytes, 'x');
  EXPECT_ROCKS_OK(insert(largest));
  EXPECT_EQ(lookup(), largest);
  EXPECT_ROCKS_OK(insert("", "fedcba9876543210"));
  EXPECT_EQ(fake_->stats().refused[static_cast<size_t>(Reason::kBadSize)], 2u);
}

TEST_F(SecondaryCacheTest, ABlockThatRocksDbCannotUseIsAMissAndGoes) {
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_EQ(lookup(fail_to_create), "");
  EXPECT_FALSE(kept_);
  EXPECT_EQ(fake_->stats().erases, 1u);
  EXPECT_EQ(fake_->pins(), 0);
}

TEST_F(SecondaryCacheTest, ErasesAndResizes) {
  EXPECT_ROCKS_OK(insert("a block"));
  secondary_->Erase(kKey);
  EXPECT_EQ(lookup(), "");
  EXPECT_ROCKS_OK(secondary_->SetCapacity(5 << 20));
  size_t capacity = 0;
  EXPECT_ROCKS_OK(secondary_->GetCapacity(capacity));
  EXPECT_EQ(capacity, 5u << 20);
  const Status too_much = secondary_->SetCapacity(FakeBlockCache::kMaxSizeBytes + 1);
  EXPECT_TRUE(too_much.IsInvalidArgument());
  EXPECT_NE(too_much.ToString().find("max_size"), std::string::npos) << too_much.ToString();
}

TEST_F(SecondaryCacheTest, CapacityZeroIsOffAndAnotherBringsItBack) {
  EXPECT_ROCKS_OK(insert("a block"));
  EXPECT_ROCKS_OK(secondary_->SetCapacity(0));
  size_t capacity = 1;
  EXPECT_ROCKS_OK(secondary_->GetCapacity(capacity));
  EXPECT_EQ(capacity, 0u);
  const Stats before = fake_->stats();
  EXPECT_EQ(lookup(), "");
  EXPECT_FALSE(kept_);
  EXPECT_ROCKS_OK(insert("a block", "fedcba9876543210"));
  const Stats after = fake_->stats();
  EXPECT_EQ(after.misses, before.misses) << "nobody was asked";
  EXPECT_EQ(after.inserts, before.inserts);
  secondary_->Erase(kKey);
  EXPECT_EQ(fake_->stats().erases, before.erases + 1) << "what is erased never comes back";
  EXPECT_TRUE(secondary_->SetCapacity(FakeBlockCache::kMaxSizeBytes + 1).IsInvalidArgument());
  EXPECT_EQ(lookup(), "") << "a capacity that was refused changes nothing";
  EXPECT_ROCKS_OK(secondary_->SetCapacity(5 << 20));
  EXPECT_ROCKS_OK(secondary_->GetCapacity(capacity));
  EXPECT_EQ(capacity, 5u << 20);
  EXPECT_ROCKS_OK(insert("another block"));
  EXPECT_EQ(lookup(), "another block");
}

TEST_F(SecondaryCacheTest, SaysWhatItIs) {
  EXPECT_STREQ(secondary_->Name(), "nvcache");
  EXPECT_NE(secondary_->GetPrintableOptions().find("nvcache.admission"), std::string::npos);
}

TEST(PersistentCacheTest, ReturnsACopyOfWhatWasInserted) {
  const auto fake = std::make_shared<FakeBlockCache>();
  std::shared_ptr<::rocksdb::PersistentCache> cache;
  ASSERT_ROCKS_OK(NewPersistentCache({.cache = fake}, &cache));
  EXPECT_TRUE(cache->IsCompressed());
  std::unique_ptr<char[]> data;
  size_t size = 0;
  EXPECT_TRUE(cache->Lookup(kKey, &data, &size).IsNotFound());
  EXPECT_ROCKS_OK(cache->Insert(kKey, "raw", 3));
  EXPECT_ROCKS_OK(cache->Insert(kKey, "raw", 3)) << "present already";
  EXPECT_ROCKS_OK(cache->Lookup(kKey, &data, &size));
  EXPECT_EQ(std::string(data.get(), size), "raw");
  EXPECT_EQ(fake->pins(), 0);
  EXPECT_TRUE(cache->Insert("short", "raw", 3).IsNotSupported());
  EXPECT_TRUE(cache->Insert(kForTheProcess, "raw", 3).IsNotSupported());
  EXPECT_TRUE(cache->Lookup("short", &data, &size).IsNotFound());
  fake->refuse_all(Reason::kOverhead);
  EXPECT_TRUE(cache->Insert("fedcba9876543210", "raw", 3).IsTryAgain());
  EXPECT_NE(cache->NewId(), cache->NewId());
  ASSERT_EQ(cache->Stats().size(), 1u);
  EXPECT_EQ(cache->Stats()[0].at("inserts"), 1.0);
}

// RocksDB gives a parsed block and its raw form the same key.
TEST_F(SecondaryCacheTest, SharesACacheWithAPersistentCacheWithoutMixingForms) {
  std::shared_ptr<::rocksdb::PersistentCache> persistent;
  ASSERT_ROCKS_OK(NewPersistentCache({.cache = fake_}, &persistent));
  EXPECT_ROCKS_OK(persistent->Insert(kKey, "raw", 3));
  EXPECT_EQ(lookup(), "");
  EXPECT_ROCKS_OK(insert("parsed"));
  EXPECT_EQ(lookup(), "parsed");
  std::unique_ptr<char[]> data;
  size_t size = 0;
  EXPECT_ROCKS_OK(persistent->Lookup(kKey, &data, &size));
  EXPECT_EQ(std::string(data.get(), size), "raw");
}

TEST(KeyTest, BlocksOfOneFileShareTheFileWord) {
  BlockKey a, b;
  ASSERT_TRUE(parse_key("fileXXXXoffset00", Form::kParsed, &a));
  ASSERT_TRUE(parse_key("fileXXXXoffset01", Form::kParsed, &b));
  EXPECT_EQ(a.file, b.file);
  EXPECT_NE(a.offset, b.offset);
}

// They would name other bytes in the next process, and a cache may still be there then.
TEST(KeyTest, KeysOfThisProcessAloneAreRefused) {
  BlockKey key;
  EXPECT_FALSE(parse_key({"\0\0\0\0\0\0\0\0offset00", 16}, Form::kParsed, &key));
  EXPECT_FALSE(parse_key({"\0\0\0\0\0\0\0\0offset00", 16}, Form::kRaw, &key));
  EXPECT_TRUE(parse_key({"\0\0\0\0\0\0\0\1offset00", 16}, Form::kRaw, &key));
}

TEST(CallerTest, KnowsRocksDbsPoolThreadsByName) {
  EXPECT_EQ(current_caller(), Caller::kForeground);
  const auto caller_named = [](const char* name) {
    Caller caller{};
    std::thread([&] {
      pthread_setname_np(pthread_self(), name);
      caller = current_caller();
    }).join();
    return caller;
  };
  EXPECT_EQ(caller_named("rocksdb:low"), Caller::kBackground);
  EXPECT_EQ(caller_named("rocksdb:bottom"), Caller::kBackground);
  EXPECT_EQ(caller_named("rocksdb"), Caller::kForeground);
  EXPECT_EQ(caller_named("worker"), Caller::kForeground);
}

TEST(StatusTest, KeepsTheMeaningAndTheMessage) {
  EXPECT_TRUE(to_rocksdb(ok_status()).ok());
  EXPECT_TRUE(to_rocksdb(invalid_argument_error("x")).IsInvalidArgument());
  EXPECT_TRUE(to_rocksdb(resource_exhausted_error("x")).IsNoSpace());
  EXPECT_TRUE(to_rocksdb(unavailable_error("x")).IsIOError());
  EXPECT_NE(to_rocksdb(unavailable_error("what happened")).ToString().find("what happened"),
            std::string::npos);
}

}  // namespace
}  // namespace nvcache::rocksdb::testing
