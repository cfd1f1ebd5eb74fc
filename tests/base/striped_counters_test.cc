#include "base/striped_counters.h"

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

enum class Field : size_t { kFirst, kSecond, kFieldCount };

TEST(StripedCounters, CountEverythingThatManyShortLivedThreadsAdd) {
  StripedCounters<Field> counters;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;  // more than there are stripes
    for (int i = 0; i < 100; ++i) {
      threads.emplace_back([&counters] {
        for (int n = 0; n < 1000; ++n) counters.add(Field::kFirst, 1);
        counters.mine().add(Field::kSecond, 7);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(counters.sum(Field::kFirst), 500'000u);
  EXPECT_EQ(counters.sum(Field::kSecond), 3500u);
}

// Two threads with one stripe would lose counts: additions are plain.
TEST(StripedCounters, ThreadsThatLiveHaveAStripeEach) {
  constexpr size_t kThreads = kStripes - 2;  // this one may have one
  std::vector<std::thread> threads;
  std::array<std::atomic<size_t>, kThreads> stripes{};
  std::atomic<size_t> ready{0};
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      stripes[i] = thread_stripe();
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int n = 0; n < 100; ++n) EXPECT_EQ(thread_stripe(), stripes[i]) << "it stays";
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<size_t> different;
  for (const auto& stripe : stripes) different.insert(stripe);
  // Threads of other tests may have ended without their leases by now.
  different.erase(kSharedStripe);
  EXPECT_GE(different.size(), kThreads - 4);
}

}  // namespace
}  // namespace nvcache
