// A medium that fails: what the store answers from then on.
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
  medium_->fail_flushes(absl::DataLossError("broken"));
  EXPECT_EQ(store_->clear().code(), absl::StatusCode::kDataLoss);
  medium_->heal();
  EXPECT_TRUE(store_->clear().ok());
  EXPECT_EQ(get_text(*store_, "a"), "");
}

TEST_F(KvFailure, NothingIsAcknowledgedAfterAFailedFlush) {
  medium_->fail_flushes(absl::DataLossError("broken"));
  EXPECT_EQ(store_->erase("a").outcome, KvOutcome::kNoSpace);
  medium_->heal();
  EXPECT_EQ(put_text(*store_, "b", "two").outcome, KvOutcome::kNoSpace);
  EXPECT_EQ(store_->sync().code(), absl::StatusCode::kDataLoss);
}

TEST_F(KvFailure, AnItemThatCannotBeReadIsAMiss) {
  medium_->fail_reads(absl::DataLossError("broken"));
  EXPECT_EQ(get_text(*store_, "a"), "");
  medium_->heal();
  EXPECT_EQ(get_text(*store_, "a"), "one");
}

}  // namespace
}  // namespace nvcache
