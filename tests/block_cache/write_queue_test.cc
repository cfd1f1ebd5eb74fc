// The queue of blocks between a cache and a device.
#include "block_cache/write_queue.h"

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

constexpr uint32_t kBytes = 4096;

PendingBlock block_of(uint64_t handle) {
  static BufferPool pool;
  return {.handle = handle,
          .key = {1, handle},
          .offset = handle * kBytes,
          .size_bytes = kBytes,
          .padded_bytes = kBytes,
          .bytes = pool.take(kBytes)};
}

// Counts writes. The first throws if it is told to.
class CountingMedium final : public Medium {
 public:
  explicit CountingMedium(bool first_throws = false) : first_throws_(first_throws) {}
  uint64_t writes() const { return writes_; }

  uint64_t size_bytes() const override { return 1 << 20; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t, MutableBytes) override { return ok_status(); }
  Status write(uint64_t, ByteView) override {
    if (++writes_ == 1 && first_throws_) throw std::runtime_error("as told");
    return ok_status();
  }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  const bool first_throws_;
  const Traits traits_;
  uint64_t writes_ = 0;
};

// What was told, in order: the handle, and whether the write went well. On the queue's thread;
// to be read when the queue is drained.
struct Told {
  WriteQueue::Events events() {
    return {.written = [this](const PendingBlock& block,
                              const Status& status) { add(block, status, &written); },
            .left = [this](const PendingBlock& block,
                           const Status& status) { add(block, status, &left); }};
  }
  static void add(const PendingBlock& block, const Status& status,
                  std::vector<std::pair<uint64_t, bool>>* list) {
    list->emplace_back(block.handle, status.ok());
  }
  std::vector<std::pair<uint64_t, bool>> written;
  std::vector<std::pair<uint64_t, bool>> left;
};

using Seen = std::vector<std::pair<uint64_t, bool>>;

TEST(WriteQueue, WritesInOrderAndTellsBothEvents) {
  CountingMedium medium;
  Told told;
  WriteQueue queue(medium, 16 * kBytes, told.events());
  for (uint64_t handle = 0; handle < 3; ++handle) ASSERT_TRUE(queue.push(block_of(handle)));
  queue.drain();
  EXPECT_EQ(medium.writes(), 3u);
  EXPECT_EQ(told.written, (Seen{{0, true}, {1, true}, {2, true}}));
  EXPECT_EQ(told.left, told.written);
  EXPECT_EQ(queue.pending_bytes(), 0u);
}

TEST(WriteQueue, RefusesBeyondItsCapacity) {
  CountingMedium medium;
  Told told;
  WriteQueue queue(medium, kBytes - 1, told.events());
  EXPECT_FALSE(queue.push(block_of(1)));
  EXPECT_EQ(queue.pending_bytes(), 0u);
}

TEST(WriteQueue, FindsABlockUntilItHasBeenTold) {
  CountingMedium medium;
  WriteQueue* queue_seen = nullptr;
  bool found_when_written = false;
  bool found_when_left = true;
  const auto found = [&](const PendingBlock& block) {
    uint32_t size_bytes = 0;
    return queue_seen->find(block.handle, block.key, &size_bytes) != nullptr &&
           size_bytes == kBytes;
  };
  WriteQueue queue(
      medium, 16 * kBytes,
      {.written = [&](const PendingBlock& block,
                      const Status&) { found_when_written = found(block); },
       .left = [&](const PendingBlock& block, const Status&) { found_when_left = found(block); }});
  queue_seen = &queue;
  ASSERT_TRUE(queue.push(block_of(1)));
  queue.drain();
  EXPECT_TRUE(found_when_written);
  EXPECT_FALSE(found_when_left);
}

TEST(WriteQueue, WritesWhatIsLeft) {
  CountingMedium medium;
  Told told;
  {
    WriteQueue queue(medium, 64 * kBytes, told.events());
    for (uint64_t handle = 0; handle < 40; ++handle) ASSERT_TRUE(queue.push(block_of(handle)));
  }
  EXPECT_EQ(medium.writes(), 40u);
}

TEST(WriteQueue, ABlockThatMayNotBeWrittenIsToldAndGone) {
  CountingMedium medium;
  std::vector<StatusCode> left;
  WriteQueue queue(
      medium, 16 * kBytes,
      {.written = [](const PendingBlock&, const Status&) {},
       .left = [&](const PendingBlock&, const Status& status) { left.push_back(status.code()); },
       .may_write = [](const PendingBlock& block) { return block.handle != 1; }});
  for (uint64_t handle = 0; handle < 3; ++handle) ASSERT_TRUE(queue.push(block_of(handle)));
  queue.drain();
  EXPECT_EQ(medium.writes(), 2u);
  EXPECT_EQ(left, (std::vector{StatusCode::kOk, WriteQueue::kNotAsked, StatusCode::kOk}));
  EXPECT_EQ(queue.pending_bytes(), 0u);
}

TEST(WriteQueue, AnExceptionOfTheMediumIsAFailedWriteAndTheThreadGoesOn) {
  CountingMedium medium(/*first_throws=*/true);
  Told told;
  WriteQueue queue(medium, 16 * kBytes, told.events());
  for (uint64_t handle = 0; handle < 3; ++handle) ASSERT_TRUE(queue.push(block_of(handle)));
  queue.drain();
  EXPECT_EQ(told.written, (Seen{{0, false}, {1, true}, {2, true}}));
  EXPECT_EQ(told.left, told.written);
  EXPECT_EQ(queue.pending_bytes(), 0u);
}

}  // namespace
}  // namespace nvcache
