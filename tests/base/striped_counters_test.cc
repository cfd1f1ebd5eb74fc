#include "base/striped_counters.h"

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

}  // namespace
}  // namespace nvcache
