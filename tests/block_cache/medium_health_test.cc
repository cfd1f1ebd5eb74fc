// When a medium is switched off, when it is tried again, and what becomes of blocks that it fails
// to read. On a clock that only the test moves.
#include "block_cache/io/medium_health.h"

#include <string>

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

using Kind = MediumHealth::Kind;
using News = MediumHealth::News;

class MediumHealthTest : public testing::TestWithParam<Kind> {
 protected:
  News note(bool ok, int times = 1, Kind kind = GetParam()) {
    News news = News::kNone;
    for (int i = 0; i < times; ++i) {
      news = health_.note(kind, ok ? ok_status() : data_loss_error("EIO"));
    }
    return news;
  }
  bool may() { return health_.may(GetParam()); }
  bool off() const { return health_.off(GetParam()); }
  static Kind other() { return GetParam() == Kind::kRead ? Kind::kWrite : Kind::kRead; }
  void pass(uint64_t ns) { clock_.wait_until_ns(clock_.now_ns() + ns); }

  VirtualClock clock_;
  Counters counters_;
  MediumHealth health_{counters_, clock_};
};

TEST_P(MediumHealthTest, IsOffAfterSixteenErrorsWithoutASuccess) {
  note(false, 15);
  EXPECT_FALSE(off());
  EXPECT_TRUE(may());
  note(false);
  EXPECT_TRUE(off());
  EXPECT_TRUE(health_.off());
  EXPECT_FALSE(health_.probe_is_due(GetParam()));
  EXPECT_FALSE(may());
  EXPECT_EQ(counters_.sum(Count::kMediumErrors), 16u);
}

TEST_P(MediumHealthTest, SixteenInARowSwitchItOffWhateverCameBefore) {
  for (const int successes : {1, 16, 31, 1000}) {
    Counters counters;
    MediumHealth health(counters, clock_);
    (void)health.note(GetParam(), data_loss_error("EIO"));
    for (int i = 0; i < successes; ++i) (void)health.note(GetParam(), ok_status());
    for (int i = 0; i < 16; ++i) (void)health.note(GetParam(), data_loss_error("EIO"));
    EXPECT_TRUE(health.off(GetParam())) << successes;
  }
}

TEST_P(MediumHealthTest, GoesByTheRateAndNotByTheSum) {
  for (int i = 0; i < 1000; ++i) {
    note(false);
    note(true, 2);
  }
  EXPECT_FALSE(off()) << "a third of the accesses fail";
  for (int i = 0; i < 100; ++i) {
    note(true);
    note(false, 2);
  }
  EXPECT_TRUE(off()) << "two thirds fail, with successes in between";
}

// A device that is read-only by its own decision: all reads succeed.
TEST_P(MediumHealthTest, TheOtherKindHidesNothingAndStaysOn) {
  for (int i = 0; i < 16; ++i) {
    note(true, 100, other());
    note(false);
    note(true, 100, other());
  }
  EXPECT_TRUE(off());
  EXPECT_TRUE(health_.off());
  EXPECT_FALSE(health_.off(other()));
  EXPECT_TRUE(health_.may(other()));
  pass(kSecondNs);
  EXPECT_TRUE(may());
  note(true, 100, other());
  EXPECT_TRUE(off()) << "nor does it end a probe";
  note(true);
  EXPECT_FALSE(health_.off());
}

TEST_P(MediumHealthTest, OneProbeAtATimeBringsItBack) {
  note(false, 16);
  pass(kSecondNs - 1);
  EXPECT_FALSE(may());
  pass(1);
  EXPECT_TRUE(health_.probe_is_due(GetParam()));
  EXPECT_TRUE(may());
  EXPECT_FALSE(may()) << "one probe at a time";
  EXPECT_TRUE(off());
  EXPECT_EQ(note(true), News::kBack);
  EXPECT_FALSE(health_.off());
  EXPECT_TRUE(may());
  note(false, 15);
  EXPECT_FALSE(off()) << "it starts anew";
  note(false);
  EXPECT_TRUE(off());
}

// Whatever failed before: who waits longer each time is not back when the medium is.
TEST_P(MediumHealthTest, ThereIsAProbeASecondHoweverManyFail) {
  note(false, 16);
  for (int probe = 0; probe < 100; ++probe) {
    pass(kSecondNs - 1);
    ASSERT_FALSE(may()) << probe;
    pass(1);
    ASSERT_TRUE(may()) << probe;
    note(false);
  }
  EXPECT_TRUE(off());
}

TEST_P(MediumHealthTest, AProbeThatIsNeverMadeDoesNotHoldUpTheNext) {
  note(false, 16);
  pass(kSecondNs);
  ASSERT_TRUE(may());  // and no access
  pass(kSecondNs);
  EXPECT_TRUE(may());
  note(true);
  EXPECT_FALSE(off());
}

TEST_P(MediumHealthTest, SuccessesOfEarlierAccessesDoNotBringItBack) {
  note(false, 16);
  note(true, 100);
  EXPECT_TRUE(off());
}

// An access that was under way when the medium failed says nothing against a later probe.
TEST_P(MediumHealthTest, AFailureOfAnEarlierAccessDoesNotSpoilAProbe) {
  note(false, 16);
  pass(kSecondNs);
  ASSERT_TRUE(may());
  note(false);
  EXPECT_EQ(note(true), News::kBack);
  EXPECT_FALSE(off());
}

TEST_P(MediumHealthTest, TellsOfSuccessesWhileItIsWatched) {
  EXPECT_EQ(note(true), News::kNone);
  health_.watch(GetParam(), true);
  EXPECT_EQ(note(false), News::kNone);
  EXPECT_EQ(note(true), News::kWatched);
  note(false, 16);
  ASSERT_TRUE(off());
  pass(kSecondNs);
  ASSERT_TRUE(may());
  EXPECT_EQ(note(true), News::kBack);
  EXPECT_EQ(note(true), News::kWatched);
  health_.watch(GetParam(), false);
  EXPECT_EQ(note(true), News::kNone);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MediumHealthTest, testing::Values(Kind::kRead, Kind::kWrite),
                         [](const auto& kind) {
                           return std::string(kind.param == Kind::kRead ? "Reads" : "Writes");
                         });

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
    medium_->fail_reads(data_loss_error("EIO"));
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
  medium_->fail_reads(data_loss_error("EIO"));
  EXPECT_FALSE(cache_->lookup({1, 7}).hit());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(cache_->lookup({1, 7}).hit());
  medium_->heal();
  EXPECT_EQ(cache_->stats().failed, 0u);
  EXPECT_EQ(cache_->stats().medium_errors, 1u);
  EXPECT_TRUE(cache_->lookup({1, 8}).hit());
}

TEST_F(FailingReadsTest, AMediumThatRecoversServesAgainWhatItStillHas) {
  medium_->fail_reads(data_loss_error("EIO"));
  medium_->fail_writes(data_loss_error("EIO"));
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
  medium_->fail_writes(data_loss_error("EIO"));
  for (uint64_t i = 0; i < 16; ++i) put(*cache_, {2, i}, 4096);
  ASSERT_EQ(cache_->stats().failed, 1u);
  medium_->heal();
  clock_.wait_until_ns(clock_.now_ns() + kSecondNs);
  EXPECT_TRUE(put(*cache_, {2, 99}, 4096).admitted());
  EXPECT_EQ(cache_->stats().failed, 0u);
}

}  // namespace
}  // namespace nvcache
