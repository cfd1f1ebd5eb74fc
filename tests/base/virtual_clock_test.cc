#include "base/virtual_clock.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

using testing::ElementsAre;

// Runs one thread per script under a clock; thread i is participant i, and the
// threads are started in the order given.
void run_participants(VirtualClock& clock, const std::vector<std::function<void(size_t)>>& scripts,
                      const std::vector<size_t>& start_order) {
  clock.expect(scripts.size());
  std::vector<std::thread> threads;
  for (const size_t i : start_order) {
    threads.emplace_back([&clock, &scripts, i] {
      VirtualClock::Participant seat(clock, i);
      scripts[i](i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(VirtualClock, JumpsWhenNobodyTakesPart) {
  VirtualClock clock(100);
  EXPECT_EQ(clock.now_ns(), 100u);
  clock.wait_until_ns(1'000'000'000'000);
  EXPECT_EQ(clock.now_ns(), 1'000'000'000'000u);
}

TEST(VirtualClock, NeverGoesBack) {
  VirtualClock clock(100);
  clock.wait_until_ns(50);
  EXPECT_EQ(clock.now_ns(), 100u);
}

TEST(VirtualClock, TheEarliestWakesFirstAndTimeIsItsWakeUp) {
  VirtualClock clock;
  std::vector<std::string> log;  // unguarded on purpose: one participant runs at a time
  const auto step = [&](size_t i) {
    log.push_back(std::to_string(i) + "@" + std::to_string(clock.now_ns()));
  };
  run_participants(clock,
                   {[&](size_t i) {
                      clock.wait_until_ns(30);
                      step(i);
                    },
                    [&](size_t i) {
                      clock.wait_until_ns(10);
                      step(i);
                      clock.wait_until_ns(40);
                      step(i);
                    },
                    [&](size_t i) {
                      clock.wait_until_ns(20);
                      step(i);
                    }},
                   {0, 1, 2});
  EXPECT_THAT(log, ElementsAre("1@10", "2@20", "0@30", "1@40"));
  EXPECT_EQ(clock.now_ns(), 40u);
}

TEST(VirtualClock, TiesGoToTheLowestNumberWhateverStartsFirst) {
  for (const std::vector<size_t>& start_order : {std::vector<size_t>{0, 1, 2}, {2, 1, 0}}) {
    VirtualClock clock;
    std::vector<size_t> log;
    const auto script = [&](size_t i) {
      log.push_back(i);
      clock.wait_until_ns(10);
      log.push_back(i);
    };
    run_participants(clock, {script, script, script}, start_order);
    EXPECT_THAT(log, ElementsAre(0, 1, 2, 0, 1, 2));
  }
}

TEST(VirtualClock, ManyStepsAreTheSameEveryTime) {
  const auto run = [] {
    VirtualClock clock;
    std::vector<uint64_t> log;
    const auto script = [&](size_t i) {
      for (uint64_t round = 0; round < 200; ++round) {
        clock.wait_until_ns(clock.now_ns() + (i * 7 + round * 13) % 11);
        log.push_back(clock.now_ns() * 8 + i);
      }
    };
    run_participants(clock, {script, script, script, script}, {3, 1, 0, 2});
    return log;
  };
  const std::vector<uint64_t> first = run();
  EXPECT_EQ(first.size(), 800u);
  EXPECT_EQ(run(), first);
}

TEST(VirtualClock, AParticipantThatLeavesHoldsNobodyUp) {
  VirtualClock clock;
  uint64_t seen_ns = 0;
  run_participants(clock,
                   {[](size_t) {},
                    [&](size_t) {
                      clock.wait_until_ns(500);
                      seen_ns = clock.now_ns();
                    }},
                   {0, 1});
  EXPECT_EQ(seen_ns, 500u);
  clock.wait_until_ns(600);  // without participants again
  EXPECT_EQ(clock.now_ns(), 600u);
  run_participants(clock, {[&](size_t) { clock.wait_until_ns(700); }}, {0});
  EXPECT_EQ(clock.now_ns(), 700u);
}

TEST(VirtualClock, AnOutsiderWaitsForTheParticipantsToMoveTime) {
  VirtualClock clock;
  clock.expect(1);
  std::thread outsider([&clock] {
    clock.wait_until_ns(50);
    EXPECT_GE(clock.now_ns(), 50u);
  });
  std::thread participant([&clock] {
    VirtualClock::Participant seat(clock, 0);
    for (uint64_t when_ns = 10; when_ns <= 100; when_ns += 10) clock.wait_until_ns(when_ns);
  });
  participant.join();
  outsider.join();
  EXPECT_EQ(clock.now_ns(), 100u);
}

TEST(VirtualClockDeathTest, MisuseAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  VirtualClock clock;
  EXPECT_DEATH(VirtualClock::Participant(clock, 0), "was not expected");
  clock.expect(1);
  EXPECT_DEATH(clock.expect(1), "expect\\(\\) while participants");
}

TEST(SystemClock, WaitsAtLeastUntilThen) {
  Clock& clock = system_clock();
  const uint64_t when_ns = clock.now_ns() + 100'000;
  clock.wait_until_ns(when_ns);
  EXPECT_GE(clock.now_ns(), when_ns);
  clock.wait_until_ns(0);  // the past: returns at once
}

}  // namespace
}  // namespace nvcache
