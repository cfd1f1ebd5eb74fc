// The cost model, the emulated media made of it, and the profiles' numbers.
#include "medium/emulated.h"

#include <cmath>
#include <memory>
#include <vector>

#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/cost_model.h"
#include "medium/dram.h"
#include "medium/profiles.h"
#include "support/failing_medium.h"

namespace nvcache {
namespace {

constexpr uint64_t kBlock = 16 << 10;

const Profile& profile(std::string_view name) {
  const Profile* found = find_profile(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

// Keeps one write in flight for `duration_ns` from 0 on; returns when that ended.
uint64_t write_steadily(CostModel& model, uint64_t duration_ns) {
  uint64_t now_ns = 0;
  while (now_ns < duration_ns) now_ns = model.start_write(now_ns, kBlock);
  return now_ns;
}

TEST(CostModel, ALoneReadPaysLatencyAndStream) {
  CostModel model(profile("optane"));
  // 170 ns + 16384 bytes at 3 bytes per ns
  EXPECT_NEAR(static_cast<double>(model.start_read(0, kBlock)), 170 + 16384 / 3.0, 1);
}

TEST(CostModel, SmallAccessesArePaidInWholeTransfers) {
  for (const uint64_t size_bytes : {1, 64, 255, 256}) {
    CostModel model(profile("optane"));
    EXPECT_NEAR(static_cast<double>(model.start_read(0, size_bytes)), 170 + 256 / 3.0, 1);
  }
}

TEST(CostModel, ReadsAtOnceShareThePipe) {
  CostModel model(profile("optane"));
  uint64_t done_ns = 0;
  for (int i = 0; i < 100; ++i) done_ns = model.start_read(0, kBlock);
  EXPECT_NEAR(static_cast<double>(done_ns), 100 * 16384 / 12.0, 2);
}

TEST(CostModel, WriteThroughputFallsAsWritersAreAdded) {
  CostModel model(profile("optane"));
  EXPECT_NEAR(model.write_gb_s(1), 2.0, 1e-9);
  EXPECT_LT(model.write_gb_s(4), model.write_gb_s(2));
  EXPECT_NEAR(model.write_gb_s(8), 1.2, 1e-9);
  EXPECT_NEAR(model.write_gb_s(100), 1.2, 1e-9);
}

TEST(CostModel, InterpolatesLogLinearly) {
  const CostModel model(profile("optane"));
  EXPECT_NEAR(model.read_gb_s(0), 12.0, 1e-9);
  EXPECT_NEAR(model.read_gb_s(0.5), std::sqrt(12.0 * 3.4), 1e-9);
  EXPECT_NEAR(model.read_gb_s(1), 3.4, 1e-9);
  EXPECT_NEAR(model.read_gb_s(4.5), std::sqrt(3.4 * 0.8), 1e-9);
  EXPECT_NEAR(model.read_gb_s(8), 0.8, 1e-9);
}

TEST(CostModel, AWriterInFlightAllTheTimeCountsAsOne) {
  CostModel model(profile("optane"));
  const uint64_t end_ns = write_steadily(model, 1'000'000);
  EXPECT_NEAR(model.writers(end_ns - 1), 1.0, 0.01);
}

TEST(CostModel, AWriterCountsByItsShareOfTime) {
  CostModel model(profile("optane"));
  uint64_t now_ns = 0;
  double sum = 0;
  constexpr int kWrites = 400;
  for (int i = 0; i < kWrites; ++i) {  // in flight for a quarter of the time
    const uint64_t took_ns = model.start_write(now_ns, kBlock) - now_ns;
    now_ns += 4 * took_ns;
    if (i >= kWrites / 2) sum += model.writers(now_ns);
  }
  EXPECT_NEAR(sum / (kWrites / 2), 0.25, 0.05);
}

TEST(CostModel, UnderLoadAnAccessIsDoneAsBeforeAndTheNextWaitsForAllThatItStandsFor) {
  CostModel alone(profile("optane"));
  CostModel loaded(profile("optane"), 4);
  EXPECT_EQ(loaded.start_read(0, kBlock), alone.start_read(0, kBlock));
  uint64_t done_ns = 0;
  for (int i = 0; i < 100; ++i) done_ns = loaded.start_read(0, kBlock);
  EXPECT_NEAR(static_cast<double>(done_ns), (100 * 4 + 1) * 16384 / 12.0, 4);
}

TEST(CostModel, UnderLoadAWriteHurtsReadsAsManyWritersWould) {
  CostModel loaded(profile("optane"), 4);
  const uint64_t end_ns = write_steadily(loaded, 1'000'000);
  EXPECT_NEAR(loaded.writers(end_ns - 1), 4.0, 0.05);
  const double slowdown = 12.0 / loaded.read_gb_s(4);
  const uint64_t took_ns = loaded.start_read(end_ns, kBlock) - end_ns;
  EXPECT_NEAR(static_cast<double>(took_ns), (170 + 16384 / 3.0) * slowdown,
              0.05 * static_cast<double>(took_ns));
}

TEST(CostModel, AWriteIsForgottenAfterAWhile) {
  const Profile& optane = profile("optane");
  CostModel model(optane);
  const uint64_t end_ns = write_steadily(model, 1'000'000);
  const double beside = model.writers(end_ns);
  EXPECT_NEAR(model.writers(end_ns + optane.settle_ns), beside / std::exp(1.0), 0.01);
  EXPECT_NEAR(model.writers(end_ns + 20 * optane.settle_ns), 0, 1e-6);
}

TEST(CostModel, ReadsSlowDownBesideWrites) {
  CostModel alone(profile("optane"));
  CostModel beside(profile("optane"));
  const uint64_t now_ns = write_steadily(beside, 1'000'000);
  const double slowdown = static_cast<double>(beside.start_read(now_ns - 1, kBlock) - now_ns) /
                          static_cast<double>(alone.start_read(0, kBlock));
  EXPECT_NEAR(slowdown, 12.0 / 3.4, 0.05);
}

TEST(CostModel, TimeThatGoesBackALittleDoesNoHarm) {
  CostModel model(profile("optane"));
  model.start_write(1000, kBlock);
  EXPECT_GE(model.start_read(900, kBlock), 1000u);
}

TEST(CostModel, AFlushKeepsTheCoreForEachLineItTouches) {
  CostModel model(profile("dram"));
  // Two bytes, two lines: 100 ns each, longer than their 128 bytes take at 10 GB/s.
  const CostModel::Flush flush = model.start_flush(0, 63, 2);
  EXPECT_EQ(flush.issued_ns, 200u);
  EXPECT_EQ(flush.accepted_ns, 200u);
}

TEST(CostModel, AFlushIsAcceptedWhenItsTransfersAreWritten) {
  CostModel model(profile("optane"));
  // One line costs the medium 256 bytes at 2 GB/s; a long extent is written at that rate.
  const CostModel::Flush one = model.start_flush(0, 64, 16);
  EXPECT_EQ(one.issued_ns, 10u);
  EXPECT_EQ(one.accepted_ns, 128u);
  CostModel fresh(profile("optane"));
  EXPECT_EQ(fresh.start_flush(0, 0, 1 << 20).accepted_ns, (1u << 20) / 2);
}

TEST(CostModel, NoFlushWritesMoreThanAProcessorsCache) {
  CostModel model(profile("optane"));
  EXPECT_EQ(model.start_flush(0, 0, uint64_t{1} << 40).accepted_ns,
            CostModel::kProcessorCacheBytes / 2);
}

TEST(CostModel, StoresCostNothingUntilTheProcessorsCacheIsFull) {
  CostModel model(profile("optane"));
  uint64_t done_ns = 0;
  uint64_t bytes = 0;
  for (; bytes < CostModel::kProcessorCacheBytes; bytes += kBlock) {
    done_ns = model.start_store(0, bytes, kBlock);
    ASSERT_EQ(done_ns, 0u);
  }
  EXPECT_EQ(model.start_store(0, bytes, kBlock), kBlock / 2);
  // While any is owed a writer is at work, which readers feel.
  EXPECT_GT(model.writers(1'000'000), 0.99);
  // All of it is written by now, and forgotten.
  const uint64_t later_ns = 10 * CostModel::kProcessorCacheBytes;
  EXPECT_EQ(model.start_store(later_ns, 0, CostModel::kProcessorCacheBytes), later_ns);
}

TEST(CostModel, SteadyStoresGoAtTheMediumsPace) {
  CostModel model(profile("optane"));
  uint64_t now_ns = 0;
  uint64_t bytes = 0;
  for (; bytes < 10 * CostModel::kProcessorCacheBytes; bytes += kBlock) {
    now_ns = model.start_store(now_ns, bytes, kBlock);
  }
  const double expected_ns = static_cast<double>(bytes - CostModel::kProcessorCacheBytes) / 2.0;
  EXPECT_NEAR(static_cast<double>(now_ns), expected_ns, expected_ns * 0.01);
}

TEST(Profiles, AreFoundByName) {
  EXPECT_EQ(profile_names(), "optane, dram, cxl, flash");
  EXPECT_EQ(find_profile("tape"), nullptr);
  EXPECT_EQ(find_profile(""), nullptr);
}

TEST(Profiles, HaveTheStatedLatencies) {
  EXPECT_EQ(profile("optane").read_latency_ns, 170u);
  EXPECT_EQ(profile("dram").read_latency_ns, 75u);
  EXPECT_EQ(profile("cxl").read_latency_ns, 250u);
  EXPECT_EQ(profile("flash").read_latency_ns, 85'000u);
}

TEST(Profiles, AreWellFormed) {
  for (const Profile& each : all_profiles()) {
    EXPECT_EQ(each.curve[0].writers, 0) << each.name;
    for (size_t i = 1; i < each.curve.size(); ++i) {
      EXPECT_LT(each.curve[i - 1].writers, each.curve[i].writers) << each.name;
      EXPECT_GT(each.curve[i - 1].read_gb_s, each.curve[i].read_gb_s) << each.name;
    }
    EXPECT_GT(each.settle_ns, 0u) << each.name;
    EXPECT_GT(each.transfer_bytes, 0u) << each.name;
  }
}

class EmulatedMediumTest : public testing::Test {
 protected:
  std::unique_ptr<Medium> open(std::string_view spec) {
    auto medium = open_medium(spec, {.size_bytes = 1 << 20}, clock_);
    EXPECT_TRUE(medium.ok()) << medium.status();
    return *std::move(medium);
  }

  VirtualClock clock_;
  std::vector<std::byte> block_ = std::vector<std::byte>(kBlock, std::byte{7});
};

TEST_F(EmulatedMediumTest, SaysThatItIsEmulated) {
  const auto medium = open("emulated:optane");
  EXPECT_EQ(medium->traits().name, "emulated:optane");
  EXPECT_TRUE(medium->traits().emulated);
  EXPECT_EQ(medium->traits().reads, Reads::kInPlaceAsked);
}

TEST_F(EmulatedMediumTest, FlashIsNotByteAddressableEvenOnMemory) {
  const auto medium = open("emulated:flash");
  EXPECT_EQ(medium->traits().reads, Reads::kByCopy);
  EXPECT_TRUE(medium->direct().empty());
  EXPECT_EQ(medium->traits().io_granularity_bytes, 4096u);
}

TEST_F(EmulatedMediumTest, ReadsWritesAndInPlaceReadsTakeTime) {
  const auto medium = open("emulated:optane");
  ASSERT_EQ(medium->write(0, block_), ok_status());
  EXPECT_EQ(clock_.now_ns(), 8192u);  // 16384 bytes at 2 bytes per ns
  clock_.wait_until_ns(1'000'000'000);
  ASSERT_EQ(medium->read(0, block_), ok_status());
  const uint64_t after_read_ns = clock_.now_ns();
  EXPECT_NEAR(static_cast<double>(after_read_ns - 1'000'000'000), 170 + 16384 / 3.0, 1);
  ASSERT_EQ(medium->on_direct_read({0, kBlock}), ok_status());
  EXPECT_NEAR(static_cast<double>(clock_.now_ns() - after_read_ns), 170 + 16384 / 3.0, 1);
}

TEST_F(EmulatedMediumTest, FlushAndDrainTakeTime) {
  const auto medium = open("emulated:dram");
  ASSERT_EQ(medium->flush({0, 64}), ok_status());
  EXPECT_EQ(clock_.now_ns(), 100u);
  ASSERT_EQ(medium->drain(), ok_status());
  EXPECT_EQ(clock_.now_ns(), 115u);
  ASSERT_EQ(medium->drain(), ok_status());  // nothing to wait for but the fence
  EXPECT_EQ(clock_.now_ns(), 130u);

  const auto optane = open("emulated:optane");
  const uint64_t start_ns = clock_.now_ns();
  ASSERT_EQ(optane->flush({0, kBlock}), ok_status());
  EXPECT_EQ(clock_.now_ns() - start_ns, 2560u);  // 256 lines of 10 ns
  ASSERT_EQ(optane->drain(), ok_status());
  EXPECT_EQ(clock_.now_ns() - start_ns, 8192u + 15u);
  EXPECT_TRUE(is_out_of_range(optane->flush({1 << 20, 1})));
  EXPECT_EQ(clock_.now_ns() - start_ns, 8192u + 15u);
}

TEST_F(EmulatedMediumTest, StoresInPlaceAreChargedWhenTheyAreAnnounced) {
  const auto medium = open("emulated:optane");
  medium->on_direct_write({0, kBlock});
  EXPECT_EQ(clock_.now_ns(), 0u);
  for (uint64_t i = 0; i <= CostModel::kProcessorCacheBytes / kBlock; ++i) {
    medium->on_direct_write({0, kBlock});
  }
  EXPECT_GT(clock_.now_ns(), 0u);
}

TEST_F(EmulatedMediumTest, AFlushOfFlashCostsTheDrainAlone) {
  const auto medium = open("emulated:flash");
  ASSERT_EQ(medium->flush({0, kBlock}), ok_status());
  EXPECT_EQ(clock_.now_ns(), 0u);
  ASSERT_EQ(medium->drain(), ok_status());
  EXPECT_EQ(clock_.now_ns(), 20'000u);
}

TEST_F(EmulatedMediumTest, RefusedAccessesCostNothing) {
  const auto medium = open("emulated:optane");
  EXPECT_TRUE(is_out_of_range(medium->read(1 << 20, block_)));
  EXPECT_TRUE(is_out_of_range(medium->write(1 << 20, block_)));
  EXPECT_EQ(clock_.now_ns(), 0u);
}

TEST_F(EmulatedMediumTest, PassesFailuresOfTheInnerMediumOn) {
  auto dram = DramMedium::open({.size_bytes = 1 << 20});
  ASSERT_TRUE(dram.ok());
  auto failing = std::make_unique<FailingMedium>(*std::move(dram));
  FailingMedium& switches = *failing;
  EmulatedMedium medium(profile("optane"), std::move(failing), clock_);
  switches.fail_reads(data_loss_error("bad cell"), 1);
  switches.fail_writes(unavailable_error("gone"));
  EXPECT_EQ(medium.read(0, block_), ok_status());
  EXPECT_TRUE(is_data_loss(medium.read(0, block_)));
  EXPECT_TRUE(is_data_loss(medium.on_direct_read({0, 64})));
  EXPECT_TRUE(is_unavailable(medium.write(0, block_)));
  switches.heal();
  EXPECT_EQ(medium.write(0, block_), ok_status());
  EXPECT_EQ(switches.reads(), 3u);
  EXPECT_EQ(switches.writes(), 2u);
}

TEST_F(EmulatedMediumTest, RealTimeWaitsAtLeastAsLongAsTheModelSays) {
  auto medium = open_medium("emulated:flash", {.size_bytes = 1 << 20}, system_clock());
  ASSERT_TRUE(medium.ok());
  std::unique_ptr<std::byte, void (*)(void*)> block(
      static_cast<std::byte*>(std::aligned_alloc(4096, 4096)), &std::free);
  const uint64_t start_ns = system_clock().now_ns();
  ASSERT_EQ((*medium)->read(0, {block.get(), 4096}), ok_status());
  EXPECT_GE(system_clock().now_ns() - start_ns, 85'000u);
}

}  // namespace
}  // namespace nvcache
