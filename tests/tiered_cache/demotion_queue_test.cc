// The queue between the first tier of a tiered cache and the next.
#include "tiered_cache/demotion_queue.h"

#include <atomic>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "support/tiered_fixture.h"
#include "tiered_cache/object_pool.h"
#include "tiered_cache/tiered_key.h"

namespace nvcache {
namespace {

using test::key_of;

constexpr size_t kCharge = 100;

ObjectPool entries;

ObjectEntry* entry_of(uint64_t id) {
  const std::string key = key_of(id);
  return entries.make(key, hash_object_key(key), {}, Priority::kLow, /*metadata=*/false);
}

// Counts entries moved and ended; `gate` holds moves up while it is shut.
struct Recorder {
  DemotionQueue::Work work() {
    return {.move =
                [this](const ObjectEntry&) {
                  moving = true;
                  while (shut) std::this_thread::yield();
                  ++moved;
                },
            .end =
                [this](ObjectEntry* entry) {
                  ++ended;
                  entries.destroy(entry);
                }};
  }
  std::atomic<bool> shut{false};
  std::atomic<bool> moving{false};
  std::atomic<uint64_t> moved{0};
  std::atomic<uint64_t> ended{0};
};

ObjectEntry* take(DemotionQueue& queue, uint64_t id) {
  const std::string key = key_of(id);
  return queue.take(key, hash_object_key(key));
}

TEST(DemotionQueue, RefusesBeyondItsBytes) {
  Recorder recorder;
  DemotionQueue queue(3 * kCharge, recorder.work());
  for (uint64_t id = 0; id < 3; ++id) EXPECT_TRUE(queue.push(entry_of(id), kCharge));
  ObjectEntry* const refused = entry_of(3);
  EXPECT_FALSE(queue.push(refused, kCharge));
  entries.destroy(refused);
  EXPECT_EQ(queue.use().blocks, 3u);
  EXPECT_EQ(queue.bytes(), 3 * kCharge);
  queue.drain();
  EXPECT_EQ(recorder.moved, 3u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DemotionQueue, RefusesBeyondItsBlocks) {
  Recorder recorder;
  recorder.shut = true;
  DemotionQueue queue(1 << 20, recorder.work());
  uint64_t pushed = 0;
  for (uint64_t id = 0; id < 2 * DemotionQueue::kMaxBlocks; ++id) {
    ObjectEntry* const entry = entry_of(id);
    if (queue.push(entry, kCharge)) {
      ++pushed;
    } else {
      entries.destroy(entry);
    }
  }
  EXPECT_GE(pushed, uint64_t{DemotionQueue::kMaxBlocks});
  EXPECT_LE(pushed, DemotionQueue::kMaxBlocks + 1) << "one may be on its way";
  recorder.shut = false;
  queue.drain();
  EXPECT_EQ(recorder.moved, pushed);
}

TEST(DemotionQueue, TakesTheLastOfAKey) {
  Recorder recorder;
  DemotionQueue queue(1 << 20, recorder.work());
  ObjectEntry* const older = entry_of(1);
  ObjectEntry* const newer = entry_of(1);
  EXPECT_TRUE(queue.push(older, kCharge));
  EXPECT_TRUE(queue.push(newer, kCharge));
  EXPECT_EQ(take(queue, 2), nullptr);
  EXPECT_EQ(take(queue, 1), newer);
  EXPECT_EQ(take(queue, 1), older);
  EXPECT_EQ(take(queue, 1), nullptr);
  EXPECT_EQ(queue.bytes(), 0u);
  entries.destroy(older);
  entries.destroy(newer);
}

TEST(DemotionQueue, WhoAsksForWhatIsBeingMovedWaits) {
  Recorder recorder;
  recorder.shut = true;
  DemotionQueue queue(1 << 20, recorder.work());
  for (uint64_t id = 0; id < DemotionQueue::kBatch; ++id) {
    ASSERT_TRUE(queue.push(entry_of(id), kCharge));
  }
  while (!recorder.moving) std::this_thread::yield();
  std::thread reader([&] {
    EXPECT_EQ(take(queue, 0), nullptr);
    EXPECT_GE(recorder.moved, 1u);
  });
  recorder.shut = false;
  reader.join();
}

TEST(DemotionQueue, ClearEndsWhatWaitsUnmoved) {
  Recorder recorder;
  DemotionQueue queue(1 << 20, recorder.work());
  for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(queue.push(entry_of(id), kCharge));
  queue.clear();
  EXPECT_EQ(recorder.ended, 3u);
  EXPECT_EQ(recorder.moved, 0u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DemotionQueue, EndsWhatIsLeft) {
  Recorder recorder;
  {
    DemotionQueue queue(1 << 20, recorder.work());
    for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(queue.push(entry_of(id), kCharge));
  }
  EXPECT_EQ(recorder.ended, 3u);
}

TEST(DemotionQueue, EndsAnEntryWhoseMoveThrowsAndGoesOn) {
  Recorder recorder;
  DemotionQueue::Work work = recorder.work();
  work.move = [move = work.move, first = true](const ObjectEntry& entry) mutable {
    if (std::exchange(first, false)) throw std::bad_alloc();
    move(entry);
  };
  DemotionQueue queue(1 << 20, work);
  for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(queue.push(entry_of(id), kCharge));
  queue.drain();
  EXPECT_EQ(recorder.moved, 2u);
  EXPECT_EQ(recorder.ended, 3u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DemotionQueue, DrainEndsWhereALookupTakesTheLast) {
  Recorder recorder;
  DemotionQueue queue(1 << 20, recorder.work());
  for (int round = 0; round < 300; ++round) {
    ASSERT_TRUE(queue.push(entry_of(1), kCharge));
    std::thread drainer([&] { queue.drain(); });
    if (ObjectEntry* const entry = take(queue, 1)) entries.destroy(entry);
    drainer.join();
  }
}

// The queue is never found empty here: what is moved comes back as long as the drain lasts.
TEST(DemotionQueue, DrainWaitsForNothingThatComesLater) {
  std::atomic<DemotionQueue*> queue_seen{nullptr};
  std::atomic<bool> drained{false};
  std::atomic<uint64_t> moved{0};
  DemotionQueue queue(1 << 20, {.move = [&](const ObjectEntry&) { ++moved; },
                                .end =
                                    [&](ObjectEntry* entry) {
                                      DemotionQueue* const back = queue_seen;
                                      if (drained || !back->push(entry, kCharge)) {
                                        entries.destroy(entry);
                                      }
                                    }});
  queue_seen = &queue;
  for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(queue.push(entry_of(id), kCharge));
  queue.drain();
  EXPECT_GE(moved, 3u);
  drained = true;
}

}  // namespace
}  // namespace nvcache
