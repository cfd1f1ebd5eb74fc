// The queue of blocks between a cache and a device.
#include "block_cache/in_place/write_queue.h"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/virtual_clock.h"
#include "block_cache/in_place/slab_space.h"
#include "gtest/gtest.h"
#include "support/volume_parts.h"

namespace nvcache {
namespace {

constexpr uint32_t kBytes = 4096;
constexpr uint64_t kQueueSpaceBytes = 1 << 20;

// Notes where it is written, and does what the test does before a write.
class NotingMedium final : public Medium {
 public:
  const std::vector<uint64_t>& writes() const { return writes_; }
  std::function<void()> before_write{};

  uint64_t size_bytes() const override { return kQueueSpaceBytes; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t, MutableBytes) override { return ok_status(); }
  Status write(uint64_t offset, ByteView) override {
    writes_.push_back(offset);
    if (before_write != nullptr) before_write();
    return ok_status();
  }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  const Traits traits_;
  std::vector<uint64_t> writes_;
};

// A shard whose blocks a queue writes.
class QueueFixture {
 public:
  explicit QueueFixture(uint64_t capacity_bytes = 64 * kBytes)
      : QueueFixture(std::make_unique<NotingMedium>(), capacity_bytes) {}

  // Block `id` as a put enters it: filling, and in no one's sight.
  PendingBlock enter(uint64_t id) {
    const BlockKey key{1, id};
    const std::optional<uint64_t> grain = space.allocate(kBytes);
    const std::atomic<uint32_t> generation{0};
    PendingBlock block{.handle = id,
                       .shard = &shard(),
                       .key = key,
                       .offset = space.to_bytes(grain.value()),
                       .size_bytes = kBytes,
                       .padded_bytes = kBytes,
                       .bytes = parts.reader.make_buffer(kBytes)};
    EXPECT_EQ(
        shard().reserve(hash_of(id), key, kBytes, *grain, generation, std::nullopt, &block.slot),
        Reason::kAdmitted);
    return block;
  }
  uint64_t hash_of(uint64_t id) const { return parts.shards.hash_of({1, id}); }
  Shard& shard() { return parts.shards.at(0); }
  bool is_pending(uint64_t id) const {
    uint32_t size_bytes = 0;
    return queue->find(id, {1, id}, &size_bytes) != nullptr && size_bytes == kBytes;
  }
  bool is_live(uint64_t id) {
    const PinnedBlock found = shard().find_and_pin(hash_of(id), {1, id});
    if (found.found()) shard().unpin(found.slot);
    return found.found();
  }
  // Neither filling nor live; its slot and its place are free.
  bool is_gone(uint64_t id) { return !shard().contains(hash_of(id), {1, id}); }
  uint64_t blocks() const { return space.used_bytes() / kBytes; }

 private:
  QueueFixture(std::unique_ptr<NotingMedium> its_medium, uint64_t capacity_bytes)
      : medium(*its_medium),
        parts(test::small_config(kQueueSpaceBytes, "lru"), std::move(its_medium), clock_) {
    EXPECT_TRUE(parts.shards.open(space).ok());
    queue = std::make_unique<WriteQueue>(writer_, capacity_bytes);
  }

  VirtualClock clock_;

 public:
  NotingMedium& medium;
  test::VolumeParts parts;
  SlabSpace space{kQueueSpaceBytes, kQueueSpaceBytes, 256};

 private:
  MediumProbe probe_{{.medium = parts.medium,
                      .health = parts.health,
                      .reader = parts.reader,
                      .clock = clock_,
                      .space = space,
                      .places = space,
                      .counters = parts.counters}};
  BlockWriter writer_{{.medium = parts.medium,
                       .clock = clock_,
                       .health = parts.health,
                       .probe = probe_,
                       .space = space}};

 public:
  std::unique_ptr<WriteQueue> queue;
};

TEST(WriteQueue, WritesInOrderAndPublishes) {
  QueueFixture cache;
  std::vector<uint64_t> offsets;
  for (uint64_t id = 0; id < 3; ++id) {
    PendingBlock block = cache.enter(id);
    offsets.push_back(block.offset);
    ASSERT_TRUE(cache.queue->push(std::move(block)));
  }
  cache.queue->drain();
  EXPECT_EQ(cache.medium.writes(), offsets);
  for (uint64_t id = 0; id < 3; ++id) {
    EXPECT_TRUE(cache.is_live(id));
    EXPECT_FALSE(cache.is_pending(id));
  }
  EXPECT_EQ(cache.queue->pending_bytes(), 0u);
  for (uint64_t id = 0; id < 3; ++id) EXPECT_EQ(cache.shard().evict_one(), kBytes) << "no pin left";
  EXPECT_EQ(cache.blocks(), 0u);
}

TEST(WriteQueue, RefusesBeyondItsCapacity) {
  QueueFixture cache(kBytes - 1);
  PendingBlock block = cache.enter(1);
  EXPECT_FALSE(cache.queue->push(block));
  EXPECT_EQ(cache.queue->pending_bytes(), 0u);
}

TEST(WriteQueue, FindsABlockUntilItIsLive) {
  QueueFixture cache;
  bool was_pending = false;
  bool was_live = true;
  cache.medium.before_write = [&] {
    was_pending = cache.is_pending(1);
    was_live = cache.is_live(1);
  };
  ASSERT_TRUE(cache.queue->push(cache.enter(1)));
  cache.queue->drain();
  EXPECT_TRUE(was_pending);
  EXPECT_FALSE(was_live);
  EXPECT_FALSE(cache.is_pending(1));
  EXPECT_TRUE(cache.is_live(1));
}

// A reader looks in the shard, then in the queue, then in the shard again: as BlockStore does.
TEST(WriteQueue, ConcurrentReadersFindABlockSomewhereAtAnyTime) {
  QueueFixture cache;
  constexpr uint64_t kBlocks = 200;
  std::atomic<uint64_t> pushed{0};
  std::atomic<uint64_t> missed{0};
  std::thread reader([&] {
    for (uint64_t seen = 0; seen < kBlocks; seen = pushed) {
      if (seen == 0) continue;
      const uint64_t id = seen - 1;
      const bool found = cache.is_live(id) || cache.is_pending(id) || cache.is_live(id);
      if (!found) ++missed;
    }
  });
  for (uint64_t id = 0; id < kBlocks; ++id) {
    PendingBlock block = cache.enter(id);
    while (!cache.queue->push(block)) std::this_thread::yield();
    pushed = id + 1;
  }
  reader.join();
  cache.queue->drain();
  EXPECT_EQ(missed, 0u);
}

TEST(WriteQueue, WritesWhatIsLeft) {
  QueueFixture cache;
  for (uint64_t id = 0; id < 40; ++id) ASSERT_TRUE(cache.queue->push(cache.enter(id)));
  cache.queue.reset();
  EXPECT_EQ(cache.medium.writes().size(), 40u);
}

TEST(WriteQueue, ABlockWhosePlaceIsSetAsideIsGone) {
  QueueFixture cache;
  std::vector<PendingBlock> blocks;
  for (uint64_t id = 0; id < 3; ++id) blocks.push_back(cache.enter(id));
  cache.space.set_aside({blocks[1].offset, kBytes}, 0);
  for (const PendingBlock& block : blocks) ASSERT_TRUE(cache.queue->push(block));
  cache.queue->drain();
  EXPECT_EQ(cache.medium.writes(), (std::vector{blocks[0].offset, blocks[2].offset}));
  EXPECT_TRUE(cache.is_live(0) && cache.is_gone(1) && cache.is_live(2));
  EXPECT_EQ(cache.queue->pending_bytes(), 0u);
}

TEST(WriteQueue, AnExceptionOfTheMediumIsAFailedWriteAndTheThreadGoesOn) {
  QueueFixture cache;
  cache.medium.before_write = [&] {
    if (cache.medium.writes().size() == 1) throw std::runtime_error("as told");
  };
  for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(cache.queue->push(cache.enter(id)));
  cache.queue->drain();
  EXPECT_TRUE(cache.is_gone(0) && cache.is_live(1) && cache.is_live(2));
  EXPECT_EQ(cache.parts.counters.sum(Count::kMediumErrors), 1u);
  EXPECT_EQ(cache.parts.counters.sum(Count::kFailed), 1u);
  EXPECT_GT(cache.space.set_aside_bytes(), 0u);
  EXPECT_EQ(cache.queue->pending_bytes(), 0u);
}

}  // namespace
}  // namespace nvcache
