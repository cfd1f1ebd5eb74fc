// Lookups of MultiGet over a cache that reads a device side by side: pending, until RocksDB waits.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cache_calls.h"
#include "fake_block_cache.h"
#include "test_db.h"

namespace nvcache::rocksdb::testing {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;
using Handle = ::rocksdb::SecondaryCacheResultHandle;

std::string key_number(int number) {
  std::string key = "0123456789abcdef";
  std::memcpy(key.data() + 8, &number, sizeof number);
  return key;
}
size_t size_of_string(void* value) { return static_cast<std::string*>(value)->size(); }
Status save_string(void* value, size_t offset, size_t length, SavedBytes* out) {
  std::memcpy(out, static_cast<std::string*>(value)->data() + offset, length);
  return Status::OK();
}

class PendingLookupTest : public ::testing::Test {
 protected:
  explicit PendingLookupTest(bool exclusive = false) {
    fake_->read_side_by_side();
    CacheOptions options;
    options.cache = fake_;
    options.exclusive = exclusive;
    EXPECT_ROCKS_OK(NewSecondaryCache(options, &secondary_));
    for (int number = 0; number < 100; ++number) {
      std::string value = "block " + std::to_string(number);
      EXPECT_ROCKS_OK(insert_below(*secondary_, key_number(number), &value, &helper_));
    }
  }

  std::unique_ptr<Handle> begin(int number, bool advise_erase = false) {
    return below_.begin(*secondary_, key_number(number), &helper_, advise_erase, &kept_);
  }
  // What RocksDB takes out of the handle; "" for a miss.
  static std::string take(Handle& handle) {
    EXPECT_TRUE(handle.IsReady());
    const std::unique_ptr<std::string> value(static_cast<std::string*>(handle.Value()));
    return value == nullptr ? "" : *value;
  }

  std::shared_ptr<FakeBlockCache> fake_ = std::make_shared<FakeBlockCache>();
  std::shared_ptr<::rocksdb::SecondaryCache> secondary_;
  Helper helper_{size_of_string, save_string, nullptr};
  Status created_;  // what RocksDB's callback says
  const Create create_ = [this](const void* bytes, size_t size, void** object, size_t* charge) {
    if (!created_.ok()) return created_;
    *object = new std::string(static_cast<const char*>(bytes), size);
    *charge = size + 1;
    return Status::OK();
  };
  LookupBelow below_{create_};
  bool kept_ = false;
};

class ExclusivePendingLookupTest : public PendingLookupTest {
 protected:
  ExclusivePendingLookupTest() : PendingLookupTest(true) {}
};

TEST_F(PendingLookupTest, ReadsTogetherWhatIsWaitedForTogether) {
  std::vector<std::unique_ptr<Handle>> handles;
  std::vector<Handle*> all;
  for (int number = 0; number < 40; ++number) {
    handles.push_back(begin(number));
    ASSERT_NE(handles.back(), nullptr);
    EXPECT_FALSE(handles.back()->IsReady());
    EXPECT_TRUE(kept_);
    all.push_back(handles.back().get());
  }
  EXPECT_EQ(fake_->stats().hits, 0u) << "nothing was looked up yet";
  handles[7]->Wait();  // alone
  all.insert(all.begin(), nullptr);
  secondary_->WaitAll(all);
  EXPECT_EQ(fake_->batches(), (std::vector<size_t>{1, 32, 7}));
  for (int number = 0; number < 40; ++number) {
    EXPECT_EQ(take(*handles[static_cast<size_t>(number)]), "block " + std::to_string(number));
  }
  EXPECT_EQ(fake_->stats().hits, 40u);
  EXPECT_EQ(fake_->pins(), 0);
}

TEST_F(PendingLookupTest, ABlockThatIsNotThereIsAMissAtOnce) {
  EXPECT_EQ(begin(1000), nullptr);
  EXPECT_FALSE(kept_);
  EXPECT_EQ(fake_->stats().misses, 1u);
}

TEST_F(PendingLookupTest, ABlockThatLeftBeforeTheWaitIsAMiss) {
  const std::unique_ptr<Handle> left = begin(1);
  const std::unique_ptr<Handle> stayed = begin(2);
  secondary_->Erase(key_number(1));
  secondary_->WaitAll({left.get(), stayed.get()});
  EXPECT_EQ(take(*left), "");
  EXPECT_EQ(take(*stayed), "block 2");
}

TEST_F(PendingLookupTest, ABlockThatRocksDbCannotUseIsAMissAndGoes) {
  const std::unique_ptr<Handle> handle = begin(1);
  created_ = Status::Corruption("no");
  secondary_->WaitAll({handle.get()});
  EXPECT_EQ(take(*handle), "");
  EXPECT_EQ(begin(1), nullptr);
}

TEST_F(ExclusivePendingLookupTest, LetsTheBlockGoOnceItIsRead) {
  const std::unique_ptr<Handle> stays = begin(1);
  EXPECT_TRUE(kept_);
  const std::unique_ptr<Handle> goes = begin(2, /*advise_erase=*/true);
  EXPECT_FALSE(kept_);
  secondary_->WaitAll({stays.get(), goes.get()});
  EXPECT_EQ(take(*stays), "block 1");
  EXPECT_EQ(take(*goes), "block 2");
  EXPECT_NE(begin(1), nullptr);
  EXPECT_EQ(begin(2), nullptr);
}

TEST_F(PendingLookupTest, ACacheInMemoryAnswersAtOnce) {
  CacheOptions options;
  options.cache = std::make_shared<FakeBlockCache>();
  EXPECT_ROCKS_OK(NewSecondaryCache(options, &secondary_));
  std::string value = "a block";
  EXPECT_ROCKS_OK(insert_below(*secondary_, key_number(1), &value, &helper_));
  const std::unique_ptr<Handle> handle = begin(1);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(take(*handle), "a block");
}

// What MultiGet finds in the tier, by each way of reading side by side, is what Get finds there.
class MultiGetOnADevice : public ::testing::TestWithParam<const char*> {};

TEST_P(MultiGetOnADevice, FindsAndCountsWhatGetFinds) {
  TempDir dir;
  std::shared_ptr<::rocksdb::SecondaryCache> secondary;
  std::shared_ptr<BlockCache> tier;
  ASSERT_ROCKS_OK(NewSecondaryCache({.spec = "nvcache://?size=64MiB&admission=always&verify=always&"
                                             "medium=file:" +
                                             dir.file("tier") + ",io=direct" + GetParam()},
                                    &secondary, &tier));
  TestDb db(dir.file("db"), db_options({.secondary = secondary}));
  db.fill();
  constexpr int kBatches = 100;
  constexpr int kBatch = 32;
  // No block has two records of a batch, or is in DRAM from one of the last 28.
  constexpr int kApart = kRecords / kBatch;
  const auto pass = [&](bool together) {
    const Stats before = tier->stats();
    for (int batch = 0; batch < kBatches; ++batch) {
      std::vector<int> records;
      std::vector<std::string> keys;
      for (int i = 0; i < kBatch; ++i) {
        records.push_back(i * kApart + batch * 24 % kApart);
        keys.push_back(key_of(records.back()));
      }
      const std::vector<Slice> slices(keys.begin(), keys.end());
      std::vector<::rocksdb::PinnableSlice> values(kBatch);
      std::vector<Status> statuses(kBatch);
      if (together) {
        db->MultiGet(::rocksdb::ReadOptions(), db->DefaultColumnFamily(), kBatch, slices.data(),
                     values.data(), statuses.data());
      }
      for (size_t i = 0; i < records.size(); ++i) {
        if (!together) {
          statuses[i] =
              db->Get(::rocksdb::ReadOptions(), db->DefaultColumnFamily(), slices[i], &values[i]);
        }
        EXPECT_ROCKS_OK(statuses[i]);
        EXPECT_EQ(version_in(records[i], values[i].ToString()), 0);
      }
    }
    const Stats after = tier->stats();
    EXPECT_EQ(after.damaged_blocks + after.medium_errors, 0u);
    return std::pair(after.hits - before.hits, after.misses - before.misses);
  };
  pass(false);  // brings the blocks into the tier, two by two
  pass(false);
  tier->drain();
  const auto [get_hits, get_misses] = pass(false);
  EXPECT_EQ(pass(true), std::pair(get_hits, get_misses));
  EXPECT_EQ(get_hits, uint64_t{kBatches * kBatch});
}
INSTANTIATE_TEST_SUITE_P(Ways, MultiGetOnADevice,
                         ::testing::Values("", ",async=threads", ",async=off"));

}  // namespace
}  // namespace nvcache::rocksdb::testing
