// The promises of a queue of reads (medium/read_queue.h), run on every medium that has one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/read_queue.h"
#include "support/every_medium.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

using test::Block;
using test::kPiece;
using test::kSizeBytes;
using test::NamedMedium;

constexpr uint64_t kPieces = kSizeBytes / kPiece;

// The bytes of a piece of the medium.
Block piece(uint64_t number) { return {number + 1, kPiece}; }

// A read of a piece, and where it goes.
struct PieceRead {
  explicit PieceRead(uint64_t number_) : number(number_) {
    read.offset = number * kPiece;
    read.into = block.mutable_view();
  }
  bool is_right() const {
    return read.status.ok() && test::same(block.view(), piece(number).view());
  }

  uint64_t number;
  Block block;
  QueuedRead read;
};

std::vector<QueuedRead*> pointers(const std::vector<std::unique_ptr<PieceRead>>& reads) {
  std::vector<QueuedRead*> all;
  for (const auto& each : reads) all.push_back(&each->read);
  return all;
}

// Waits for `count` reads; returns those that came, in their order.
std::vector<QueuedRead*> complete(ReadQueue& queue, size_t count) {
  std::vector<QueuedRead*> all;
  while (all.size() < count) {
    std::array<QueuedRead*, 7> done{};
    const size_t came = queue.complete(done, true);
    if (came == 0) break;
    all.insert(all.end(), done.begin(), done.begin() + came);
  }
  return all;
}

class ReadQueueContract : public test::EveryMedium {
 protected:
  void SetUp() override {
    EveryMedium::SetUp();
    if (medium_ == nullptr || IsSkipped() || HasFatalFailure()) return;
    for (uint64_t number = 0; number < kPieces; ++number) {
      ASSERT_EQ(medium_->write(number * kPiece, piece(number).view()), ok_status());
    }
    if (medium_->traits().reads != Reads::kByCopy) GTEST_SKIP() << "the file is on DAX";
    queue_ = medium_->take_read_queue();
    ASSERT_NE(queue_, nullptr);
  }
  void TearDown() override { queue_.reset(); }

  std::vector<std::unique_ptr<PieceRead>> some_reads(size_t count) const {
    Prng random(test_seed());
    std::vector<std::unique_ptr<PieceRead>> reads;
    for (size_t i = 0; i < count; ++i) {
      reads.push_back(std::make_unique<PieceRead>(random.below(kPieces)));
    }
    return reads;
  }

  TakenReadQueue queue_;
};

TEST_P(ReadQueueContract, GivesEachReadBackOnceWithItsBytes) {
  const auto reads = some_reads(32);
  const auto submitted = pointers(reads);
  ASSERT_EQ(queue_->submit(submitted), reads.size());
  EXPECT_EQ(queue_->in_flight(), reads.size());
  EXPECT_THAT(complete(*queue_, reads.size()), testing::UnorderedElementsAreArray(submitted));
  EXPECT_EQ(queue_->in_flight(), 0u);
  for (const auto& each : reads) EXPECT_TRUE(each->is_right()) << each->read.status;
}

TEST_P(ReadQueueContract, WaitsForNothingWhereNothingIsInFlight) {
  std::array<QueuedRead*, 1> done{};
  EXPECT_EQ(queue_->complete(done, true), 0u);
  EXPECT_EQ(queue_->submit({}), 0u);
  const auto reads = some_reads(1);
  ASSERT_EQ(queue_->submit(pointers(reads)), 1u);
  EXPECT_EQ(queue_->complete({}, true), 0u) << "no room for any";
  EXPECT_EQ(queue_->complete(done, true), 1u);
  EXPECT_EQ(queue_->complete(done, true), 0u);
}

TEST_P(ReadQueueContract, AReadThatIsRefusedSaysWhyAndHindersNoOther) {
  const auto reads = some_reads(6);
  const uint32_t unit = medium_->traits().io_granularity_bytes;
  reads[1]->read.offset = kSizeBytes;
  reads[3]->read.offset = ~uint64_t{0} - kPiece + 1;
  reads[4]->read.offset = unit == 1 ? kSizeBytes - 1 : 1;
  ASSERT_EQ(queue_->submit(pointers(reads)), reads.size());
  ASSERT_EQ(complete(*queue_, reads.size()).size(), reads.size());
  for (const size_t past : {1, 3}) {
    EXPECT_EQ(reads[past]->read.status,
              medium_->read(reads[past]->read.offset, reads[past]->read.into));
    EXPECT_TRUE(is_out_of_range(reads[past]->read.status)) << reads[past]->read.status;
  }
  EXPECT_TRUE(unit == 1 ? is_out_of_range(reads[4]->read.status)
                        : is_invalid_argument(reads[4]->read.status))
      << reads[4]->read.status;
  for (const size_t good : {0, 2, 5}) EXPECT_TRUE(reads[good]->is_right());
}

TEST_P(ReadQueueContract, TakesAsManyAsItIsDeepAndTheOthersLater) {
  const auto reads = some_reads(ReadQueue::kDepth + 40);
  const auto submitted = pointers(reads);
  ASSERT_EQ(queue_->submit(submitted), ReadQueue::kDepth);
  EXPECT_EQ(queue_->submit(std::span(submitted).last(40)), 0u);
  std::vector<QueuedRead*> came = complete(*queue_, 40);
  const size_t more = queue_->submit(std::span(submitted).subspan(ReadQueue::kDepth));
  EXPECT_GE(came.size(), more);
  ASSERT_EQ(more, 40u);
  const auto others = complete(*queue_, reads.size() - came.size());
  came.insert(came.end(), others.begin(), others.end());
  EXPECT_THAT(came, testing::UnorderedElementsAreArray(submitted));
  for (const auto& each : reads) EXPECT_TRUE(each->is_right()) << each->read.status;
}

TEST_P(ReadQueueContract, OneThreadSubmitsAndAnotherCompletes) {
  const auto reads = some_reads(16);
  std::thread([&] { ASSERT_EQ(queue_->submit(pointers(reads)), reads.size()); }).join();
  std::vector<QueuedRead*> came;
  std::thread([&] { came = complete(*queue_, reads.size()); }).join();
  EXPECT_EQ(came.size(), reads.size());
  for (const auto& each : reads) EXPECT_TRUE(each->is_right()) << each->read.status;
}

TEST_P(ReadQueueContract, ConcurrentQueuesDoNotMeet) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 30;
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Prng random(test_seed() + static_cast<uint64_t>(t));
      for (int round = 0; round < kRounds; ++round) {
        const TakenReadQueue queue = medium_->take_read_queue();
        std::vector<std::unique_ptr<PieceRead>> reads;
        for (size_t i = 0; i < 1 + random.below(24); ++i) {
          reads.push_back(std::make_unique<PieceRead>(random.below(kPieces)));
        }
        wrong[t] += queue->submit(pointers(reads)) != reads.size();
        wrong[t] += complete(*queue, reads.size()).size() != reads.size();
        for (const auto& each : reads) wrong[t] += !each->is_right();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Media, ReadQueueContract,
                         testing::ValuesIn(test::media_with_read_queues()),
                         [](const testing::TestParamInfo<NamedMedium>& kind) {
                           return kind.param.name;
                         });

}  // namespace
}  // namespace nvcache
