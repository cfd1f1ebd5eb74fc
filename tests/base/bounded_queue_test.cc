#include "base/bounded_queue.h"

#include "gtest/gtest.h"

namespace nvcache {
namespace {

using Queue = BoundedQueue<int>;

bool push(Queue& queue, int item, uint64_t bytes = 10) {
  if (!queue.reserve(bytes)) return false;
  queue.push(item, bytes);
  return true;
}

void work(Queue& queue) {
  ASSERT_NE(queue.begin_next(), nullptr);
  queue.release();
  queue.finish();
}

TEST(BoundedQueue, RefusesBeyondItsBytes) {
  Queue queue(Queue::kAnyNumber, 30);
  EXPECT_TRUE(push(queue, 1));
  EXPECT_FALSE(push(queue, 2, 21));
  EXPECT_TRUE(push(queue, 2, 20));
  EXPECT_FALSE(push(queue, 3, 1));
  ASSERT_NE(queue.begin_next(), nullptr);
  EXPECT_FALSE(push(queue, 3)) << "its bytes are taken until it is released";
  EXPECT_EQ(queue.release(), 1);
  EXPECT_EQ(queue.bytes(), 20u);
  EXPECT_TRUE(push(queue, 3));
}

TEST(BoundedQueue, RefusesBeyondItsNumber) {
  Queue queue(2, 1000);
  EXPECT_TRUE(push(queue, 1));
  EXPECT_TRUE(push(queue, 2));
  EXPECT_FALSE(push(queue, 3));
  ASSERT_NE(queue.begin_next(), nullptr);
  EXPECT_TRUE(push(queue, 3)) << "the current one does not wait";
}

TEST(BoundedQueue, GivesTheOldestFirstHoweverItGrows) {
  Queue queue(Queue::kAnyNumber, 1 << 20, 2);
  int in = 0;
  int out = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(push(queue, in++));
    ASSERT_EQ(*queue.begin_next(), out++);
    ASSERT_EQ(queue.release(), out - 1);
    queue.finish();
  }
  EXPECT_EQ(queue.waiting(), 100u);
  EXPECT_EQ(queue.bytes(), 1000u);
  while (queue.waiting() > 0) {
    ASSERT_EQ(*queue.begin_next(), out++);
    queue.release();
    queue.finish();
  }
  EXPECT_EQ(out, in);
  EXPECT_EQ(queue.begin_next(), nullptr);
}

TEST(BoundedQueue, TakesTheNewestThatMatchesAndKeepsTheOrder) {
  Queue queue(Queue::kAnyNumber, 1000, 4);
  work((push(queue, 0), queue));  // so that the ring begins elsewhere
  for (int item = 1; item <= 4; ++item) ASSERT_TRUE(push(queue, item));
  const auto even = [](int item) { return item % 2 == 0; };
  EXPECT_EQ(queue.take_newest(even), 4);
  EXPECT_EQ(queue.take_newest(even), 2);
  EXPECT_EQ(queue.take_newest(even), std::nullopt);
  EXPECT_EQ(queue.bytes(), 20u);
  EXPECT_EQ(*queue.begin_next(), 1);
  EXPECT_EQ(queue.take_newest([](int item) { return item == 1; }), std::nullopt) << "it is current";
  EXPECT_EQ(queue.release(), 1);
  queue.finish();
  EXPECT_EQ(queue.current(), nullptr);
  EXPECT_EQ(*queue.begin_next(), 3);
}

TEST(BoundedQueue, TellsWhetherAllUpToANumberIsFinished) {
  Queue queue(Queue::kAnyNumber, 1000);
  EXPECT_TRUE(queue.finished(queue.last_number()));
  ASSERT_TRUE(push(queue, 1));
  ASSERT_TRUE(push(queue, 2));
  const uint64_t last = queue.last_number();
  ASSERT_TRUE(push(queue, 3));
  work(queue);
  EXPECT_FALSE(queue.finished(last));
  ASSERT_NE(queue.begin_next(), nullptr);
  EXPECT_FALSE(queue.finished(last));
  queue.release();
  EXPECT_FALSE(queue.finished(last)) << "released, and not finished";
  queue.finish();
  EXPECT_TRUE(queue.finished(last)) << "what came later is not waited for";
  EXPECT_FALSE(queue.finished(queue.last_number()));
  EXPECT_EQ(queue.take_newest([](int) { return true; }), 3);
  EXPECT_TRUE(queue.finished(queue.last_number()));
}

}  // namespace
}  // namespace nvcache
