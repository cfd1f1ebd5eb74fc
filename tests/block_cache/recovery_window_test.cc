// RecoveryWindow and ReadPace by themselves: who does what, in which order, and how fast.
#include "block_cache/region/recovery_window.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/virtual_clock.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

using What = RecoveryWindow::Job::What;

constexpr uint64_t kPaceSecondNs = 1'000'000'000;

TEST(RecoveryWindow, EachPartGoesThroughTheIndexesInOrderAndTheWindowIsBounded) {
  constexpr uint32_t kIndexes = 500;
  for (const uint32_t parts : {1u, 2u, 3u, 4u}) {
    RecoveryWindow window(std::vector<uint64_t>(kIndexes, 4096), parts, ReadPace(nullptr, 0));
    std::vector<std::atomic<uint32_t>> next(parts);  // index of each part
    std::atomic<uint32_t> given{0};
    std::vector<std::atomic<bool>> is_read(kIndexes);
    std::vector<std::atomic<bool>> is_sorted(kIndexes);
    std::atomic<uint32_t> through{0};
    std::atomic<uint32_t> wrong{0};
    const auto work = [&] {
      for (;;) {
        const RecoveryWindow::Job job = window.next();
        if (job.what == What::kEnd) return window.leave();
        if (job.what == What::kRead) {
          ++given;
          wrong += is_read[job.index].exchange(true) ? 1 : 0;
          wrong += job.index + 1 - through.load() > RecoveryWindow::kMostIndexes ? 1 : 0;
        } else if (job.what == What::kSort) {
          wrong += is_read[job.index] ? 0 : 1;
          wrong += is_sorted[job.index].exchange(true) ? 1 : 0;
        } else if (job.what == What::kTake) {
          wrong += job.count < 1 || job.count > RecoveryWindow::kMostTogether ? 1 : 0;
          for (uint32_t index = job.index; index < job.index + job.count; ++index) {
            wrong += is_sorted[index] ? 0 : 1;
            wrong += next[job.part].fetch_add(1) != index ? 1 : 0;
            if (window.is_last(index)) wrong += through.fetch_add(1) != index ? 1 : 0;
          }
        }
        if (job.what != What::kNone) window.done(job);
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u) << parts;
    EXPECT_EQ(given, kIndexes) << parts;
    EXPECT_EQ(through, kIndexes) << parts;
  }
}

TEST(RecoveryWindow, OneThreadDoesAllOfTheParts) {
  RecoveryWindow window(std::vector<uint64_t>(20, 4096), /*parts=*/4, ReadPace(nullptr, 0));
  uint32_t taken = 0;
  for (;;) {
    const RecoveryWindow::Job job = window.next();
    if (job.what == What::kEnd) break;
    ASSERT_NE(job.what, What::kNone) << "nobody else could do it";
    for (uint32_t i = 0; job.what == What::kTake && i < job.count; ++i) {
      taken += 1 + (window.is_last(job.index + i) ? 100 : 0);
    }
    window.done(job);
  }
  EXPECT_EQ(taken, 20 * (4 + 100));
}

// A part takes what there is at once, up to a bound: it goes through a shard's memory once for all.
TEST(RecoveryWindow, APartTakesSeveralSortedIndexesTogether) {
  constexpr uint32_t kIndexes = 8 * RecoveryWindow::kMostTogether;
  RecoveryWindow window(std::vector<uint64_t>(kIndexes, 4096), /*parts=*/2, ReadPace(nullptr, 0));
  uint32_t takes = 0;
  for (RecoveryWindow::Job job = window.next(); job.what != What::kEnd; job = window.next()) {
    takes += job.what == What::kTake ? 1 : 0;
    for (uint32_t i = 0; job.what == What::kTake && i < job.count; ++i) {
      (void)window.is_last(job.index + i);
    }
    window.done(job);
  }
  EXPECT_EQ(takes, 2 * 8u);
}

TEST(RecoveryWindow, IndexesThatAreLargerThanTheWindowComeOneByOne) {
  RecoveryWindow window(std::vector<uint64_t>(9, 2 * RecoveryWindow::kMostBytes), /*parts=*/1,
                        ReadPace(nullptr, 0));
  for (uint32_t index = 0; index < 9; ++index) {
    RecoveryWindow::Job job = window.next();
    EXPECT_EQ(job.what, What::kRead);
    window.done(job);
    job = window.next();
    EXPECT_EQ(job.what, What::kSort);
    window.done(job);
    job = window.next();
    EXPECT_EQ(job.what, What::kTake);
    EXPECT_EQ(job.count, 1u);
    EXPECT_TRUE(window.is_last(job.index));
    window.done(job);
  }
  EXPECT_EQ(window.next().what, What::kEnd);
}

// Each look at it takes a while.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(uint64_t look_ns) : look_ns_(look_ns) {}
  uint64_t now_ns() const override { return now_ns_ += look_ns_; }
  void wait_until_ns(uint64_t when_ns) override { now_ns_ = std::max(now_ns_, when_ns); }

 private:
  const uint64_t look_ns_;
  mutable uint64_t now_ns_ = kPaceSecondNs;
};

// A thread that finds no work because of the pace, and is let read a moment later, has nobody to
// wake it if it is the only one.
TEST(RecoveryWindow, OneThreadDoesNotWaitForOthersWhereThePaceLetsItReadMeanwhile) {
  for (const uint64_t look_ns : {100'000u, 700'000u, 1'000'000u, 3'000'000u}) {
    SlowClock clock(look_ns);
    constexpr uint64_t kIndexBytes = 10'000;  // 10 ms of the pace
    RecoveryWindow window(std::vector<uint64_t>(40, kIndexBytes), /*parts=*/1,
                          ReadPace(&clock, 1e6));
    uint32_t taken = 0;
    for (RecoveryWindow::Job job = window.next(); job.what != What::kEnd; job = window.next()) {
      taken += job.what == What::kTake ? job.count : 0;
      if (job.what != What::kNone) window.done(job);
    }
    EXPECT_EQ(taken, 40u);
  }
}

TEST(RecoveryWindow, NothingToReadIsTheEnd) {
  RecoveryWindow window({}, 3, ReadPace(nullptr, 0));
  EXPECT_EQ(window.next().what, What::kEnd);
}

TEST(ReadPace, ReadsAsMuchAsTheRateAllowsAndNoMore) {
  constexpr double kRate = 1e6;
  constexpr uint64_t kReadBytes = 7000;
  constexpr double kBucket = kRate / 20;
  VirtualClock clock(123 * kPaceSecondNs);
  ReadPace pace(&clock, kRate);
  const uint64_t start_ns = clock.now_ns();
  double read_bytes = 0;
  while (read_bytes < 5e6) {
    if (const uint64_t wait_ns = pace.wait_ns(); wait_ns > 0) {
      clock.wait_until_ns(clock.now_ns() + wait_ns);
      continue;
    }
    pace.take(kReadBytes);
    read_bytes += kReadBytes;
    const double allowed = kRate * static_cast<double>(clock.now_ns() - start_ns) / 1e9 + kBucket;
    ASSERT_LE(read_bytes, allowed + kReadBytes);
    ASSERT_GE(read_bytes, allowed - kBucket - 1) << "slower than it might be";
  }
}

TEST(ReadPace, APauseFillsTheBucketAndNoMore) {
  VirtualClock clock;
  ReadPace pace(&clock, 1e6);
  clock.wait_until_ns(1000 * kPaceSecondNs);
  pace.take(50'000);
  EXPECT_GT(pace.wait_ns() + 1, 0u);
  pace.take(1'000'000);
  EXPECT_NEAR(static_cast<double>(pace.wait_ns()), 1e9, 1e3);
}

TEST(ReadPace, WithoutARateNothingWaits) {
  ReadPace pace(nullptr, 0);
  pace.take(uint64_t{1} << 60);
  EXPECT_EQ(pace.wait_ns(), 0u);
}

}  // namespace
}  // namespace nvcache
