// A medium that fails: what the store answers from then on.
#include <thread>

#include "kv_store/kv_fixture.h"
#include "medium/dram.h"
#include "support/failing_medium.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;

class KvFailure : public ::testing::Test {
 protected:
  KvFailure() {
    KvConfig config = test::small_config();
    config.write_cache_bytes = 0;
    auto dram = DramMedium::open({.size_bytes = config.size_bytes});
    EXPECT_TRUE(dram.ok()) << dram.status();
    auto medium = std::make_unique<FailingMedium>(*std::move(dram));
    medium_ = medium.get();
    store_ = test::make_kv(config, std::move(medium));
    put_text(*store_, "a", "one");
  }

  FailingMedium* medium_ = nullptr;
  std::unique_ptr<KvStore> store_;
};

TEST_F(KvFailure, ClearSaysThatTheMediumFailed) {
  medium_->fail_flushes(data_loss_error("broken"));
  EXPECT_EQ(store_->clear().code(), StatusCode::kDataLoss);
  medium_->heal();
  EXPECT_TRUE(store_->clear().ok());
  EXPECT_EQ(get_text(*store_, "a"), "");
}

TEST_F(KvFailure, NothingIsAcknowledgedAfterAFailedFlush) {
  medium_->fail_flushes(data_loss_error("broken"));
  EXPECT_EQ(store_->erase("a").outcome, KvOutcome::kMediumFailed);
  medium_->heal();
  EXPECT_EQ(put_text(*store_, "b", "two").outcome, KvOutcome::kMediumFailed);
  EXPECT_EQ(store_->sync().code(), StatusCode::kDataLoss);
}

TEST_F(KvFailure, AfterAFailedFlushNoAnswerClaimsToKnowWhatIsOnTheMedium) {
  medium_->fail_flushes(data_loss_error("broken"));
  EXPECT_EQ(store_->erase("a").outcome, KvOutcome::kMediumFailed);
  medium_->heal();
  EXPECT_EQ(store_->erase("a").outcome, KvOutcome::kMediumFailed)
      << "not kNotFound: it may be back";
  EXPECT_EQ(store_->touch("a", 100), KvOutcome::kMediumFailed);
  EXPECT_EQ(put_text(*store_, "a", "two", {KvCondition::kIfPresent}).outcome,
            KvOutcome::kMediumFailed);
  EXPECT_TRUE(store_->stats().failed);
  EXPECT_EQ(get_text(*store_, "b"), "") << "lookups go on";
}

// Keys that are written often live in the write cache, which needs no medium to take them.
TEST(KvFailureWithWriteCache, NoChangeIsAcknowledgedFromDram) {
  KvConfig config = test::small_config();
  config.write_cache_bytes = 16 << 10;
  auto dram = DramMedium::open({.size_bytes = config.size_bytes});
  ASSERT_TRUE(dram.ok()) << dram.status();
  auto failing = std::make_unique<FailingMedium>(*std::move(dram));
  FailingMedium* const medium = failing.get();
  const std::unique_ptr<KvStore> store = test::make_kv(config, std::move(failing));
  put_text(*store, "often", "0");
  put_text(*store, "other", "0");
  medium->fail_flushes(data_loss_error("broken"));
  EXPECT_EQ(store->erase("other").outcome, KvOutcome::kMediumFailed);
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(put_text(*store, "often", std::to_string(i)).outcome, KvOutcome::kMediumFailed) << i;
  }
}

// The kernel reports pages that it could not write back to the next sync, and to no other.
TEST(KvFailureInTheBackground, NothingIsAcknowledgedAfterAFailedSync) {
  KvConfig config = test::small_config();
  config.sync_seconds = 0.01;
  auto dram = DramMedium::open({.size_bytes = config.size_bytes});
  ASSERT_TRUE(dram.ok()) << dram.status();
  KvMedium on;
  auto failing = std::make_unique<FailingMedium>(*std::move(dram));
  FailingMedium* const medium = failing.get();
  on.medium = std::move(failing);
  on.has_pages = true;
  const auto store = KvStoreImpl::make(config, std::move(on));
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(put_text(**store, "a", "one").outcome, KvOutcome::kDone);
  medium->fail_flushes(data_loss_error("broken"));
  while (!(*store)->stats().failed) std::this_thread::yield();
  medium->heal();
  EXPECT_EQ(put_text(**store, "a", "two").outcome, KvOutcome::kMediumFailed);
}

TEST_F(KvFailure, AnItemThatCannotBeReadIsAMiss) {
  medium_->fail_reads(data_loss_error("broken"));
  EXPECT_EQ(get_text(*store_, "a"), "");
  medium_->heal();
  EXPECT_EQ(get_text(*store_, "a"), "one");
}

}  // namespace
}  // namespace nvcache
