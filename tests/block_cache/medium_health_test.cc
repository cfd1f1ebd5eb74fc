// When a medium is switched off, when it is tried again, and what becomes of blocks that it fails
// to read. On a clock that only the test moves.
#include "block_cache/medium_health.h"

#include "base/virtual_clock.h"
#include "medium/dram.h"
#include "support/block_cache_fixture.h"
#include "support/failing_medium.h"

namespace nvcache {
namespace {

using test::holds;
using test::make_block;
using test::put;

constexpr uint64_t kSecondNs = 1'000'000'000;

class MediumHealthTest : public testing::Test {
 protected:
  void note(bool ok, int times = 1) {
    for (int i = 0; i < times; ++i) {
      health_.note(ok ? absl::OkStatus() : absl::DataLossError("EIO"));
    }
  }
  void pass(uint64_t ns) { clock_.wait_until_ns(clock_.now_ns() + ns); }

  VirtualClock clock_;
  Counters counters_;
  MediumHealth health_{counters_, clock_};
};

TEST_F(MediumHealthTest, IsOffAfterSixteenErrorsWithoutASuccess) {
  note(false, 15);
  EXPECT_FALSE(health_.off());
  EXPECT_TRUE(health_.may_access());
  note(false);
  EXPECT_TRUE(health_.off());
  EXPECT_FALSE(health_.open());
  EXPECT_FALSE(health_.may_access());
  EXPECT_EQ(counters_.sum(Count::kMediumErrors), 16u);
}

TEST_F(MediumHealthTest, GoesByTheRateAndNotByTheSum) {
  for (int i = 0; i < 1000; ++i) {
    note(false);
    note(true, 2);
  }
  EXPECT_FALSE(health_.off()) << "a third of the accesses fail";
  for (int i = 0; i < 100; ++i) {
    note(true);
    note(false, 2);
  }
  EXPECT_TRUE(health_.off()) << "two thirds fail, with successes in between";
}

TEST_F(MediumHealthTest, OneProbeAtATimeBringsItBack) {
  note(false, 16);
  pass(kSecondNs - 1);
  EXPECT_FALSE(health_.may_access());
  pass(1);
  EXPECT_TRUE(health_.open());
  EXPECT_TRUE(health_.may_access());
  EXPECT_FALSE(health_.may_access()) << "one probe at a time";
  EXPECT_TRUE(health_.off());
  note(true);
  EXPECT_FALSE(health_.off());
  EXPECT_TRUE(health_.may_access());
  note(false, 15);
  EXPECT_FALSE(health_.off()) << "it starts anew";
}

TEST_F(MediumHealthTest, AFailedProbeDoublesTheWaitUpToAMinute) {
  note(false, 16);
  uint64_t wait_ns = kSecondNs;
  for (int probe = 0; probe < 10; ++probe) {
    pass(wait_ns - 1);
    ASSERT_FALSE(health_.may_access()) << probe;
    pass(1);
    ASSERT_TRUE(health_.may_access()) << probe;
    note(false);
    wait_ns = std::min(2 * wait_ns, 64 * kSecondNs);
  }
}

TEST_F(MediumHealthTest, AProbeThatIsNeverMadeDoesNotHoldUpTheNext) {
  note(false, 16);
  pass(kSecondNs);
  ASSERT_TRUE(health_.may_access());  // and no access
  pass(kSecondNs);
  EXPECT_TRUE(health_.may_access());
  note(true);
  EXPECT_FALSE(health_.off());
}

TEST_F(MediumHealthTest, SuccessesOfEarlierAccessesDoNotBringItBack) {
  note(false, 16);
  note(true, 100);
  EXPECT_TRUE(health_.off());
}

class FailingReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto inner = open_medium("dram", {.size_bytes = 4 << 20, .max_size_bytes = 4 << 20}, clock_);
    ASSERT_TRUE(inner.ok());
    auto failing = std::make_unique<FailingMedium>(*std::move(inner));
    medium_ = failing.get();
    cache_ = test::make_on("nvcache://?size=4MiB&admission=always&eviction=clock&maintenance=0",
                           std::move(failing), clock_);
    for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(put(*cache_, {1, i}, 4096).admitted());
  }
  VirtualClock clock_;
  FailingMedium* medium_ = nullptr;
  std::unique_ptr<BlockCacheImpl> cache_;
};

TEST_F(FailingReadsTest, ABlockThatCannotBeReadIsRemovedAndCanBePutAgain) {
  for (const bool copies : {false, true}) {
    const BlockKey key{1, copies ? 3u : 2u};
    const uint64_t errors = cache_->stats().medium_errors;
    medium_->fail_reads(absl::DataLossError("EIO"));
    std::vector<std::byte> room(4096);
    EXPECT_FALSE(
        cache_
            ->lookup(key, {.copy_into = copies ? std::optional<MutableBytes>(room) : std::nullopt})
            .hit());
    medium_->heal();
    EXPECT_EQ(cache_->stats().medium_errors, errors + 1);
    EXPECT_FALSE(cache_->contains(key));
    EXPECT_EQ(cache_->stats().blocks, 99u);
    EXPECT_EQ(put(*cache_, key, 4096, 1).reason, Reason::kAdmitted);
    const Lookup lookup = cache_->lookup(key);
    ASSERT_TRUE(lookup.hit());
    EXPECT_TRUE(holds(lookup.pin.bytes(), key, 4096, 1));
  }
}

TEST_F(FailingReadsTest, OneBadBlockThatManyAskForSwitchesNothingOff) {
  medium_->fail_reads(absl::DataLossError("EIO"));
  EXPECT_FALSE(cache_->lookup({1, 7}).hit());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(cache_->lookup({1, 7}).hit());
  medium_->heal();
  EXPECT_EQ(cache_->stats().failed, 0u);
  EXPECT_EQ(cache_->stats().medium_errors, 1u);
  EXPECT_TRUE(cache_->lookup({1, 8}).hit());
}

TEST_F(FailingReadsTest, AMediumThatRecoversServesAgainWhatItStillHas) {
  medium_->fail_reads(absl::DataLossError("EIO"));
  medium_->fail_writes(absl::DataLossError("EIO"));
  for (uint64_t i = 0; i < 50; ++i) EXPECT_FALSE(cache_->lookup({1, i}).hit());
  Stats stats = cache_->stats();
  EXPECT_EQ(stats.failed, 1u);
  EXPECT_EQ(stats.medium_errors, 16u) << "nothing is asked of it when it is off";
  EXPECT_EQ(stats.blocks, 84u) << "and nothing is removed";
  EXPECT_EQ(put(*cache_, {2, 1}, 4096).reason, Reason::kMediumFailed);
  medium_->heal();
  EXPECT_FALSE(cache_->lookup({1, 60}).hit()) << "not yet";
  clock_.wait_until_ns(clock_.now_ns() + kSecondNs);
  EXPECT_TRUE(cache_->lookup({1, 60}).hit());
  EXPECT_EQ(cache_->stats().failed, 0u);
  EXPECT_TRUE(cache_->lookup({1, 61}).hit());
  EXPECT_TRUE(put(*cache_, {2, 1}, 4096).admitted());
}

TEST_F(FailingReadsTest, APutIsAProbeToo) {
  medium_->fail_writes(absl::DataLossError("EIO"));
  for (uint64_t i = 0; i < 16; ++i) put(*cache_, {2, i}, 4096);
  ASSERT_EQ(cache_->stats().failed, 1u);
  medium_->heal();
  clock_.wait_until_ns(clock_.now_ns() + kSecondNs);
  EXPECT_TRUE(put(*cache_, {2, 99}, 4096).admitted());
  EXPECT_EQ(cache_->stats().failed, 0u);
}

}  // namespace
}  // namespace nvcache
