#include "base/background_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "support/forked_child.h"

namespace nvcache {
namespace {

// Waits for what another thread is about to do.
template <typename Condition>
void wait_for(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(BackgroundThread, RunsARoundForAWakeUpAndSleepsWithoutOne) {
  std::atomic<int> rounds{0};
  BackgroundThread thread({.round = [&] { return ++rounds, false; }});
  EXPECT_FALSE(thread.started());
  ASSERT_TRUE(thread.start());
  EXPECT_TRUE(thread.start()) << "it runs already";
  EXPECT_TRUE(thread.started());
  for (int i = 1; i <= 100; ++i) {
    thread.wake();
    wait_for([&] { return rounds == i; });
  }
  thread.stop();
  EXPECT_EQ(rounds, 100);
}

TEST(BackgroundThread, RunsAsLongAsARoundAsksForAnother) {
  std::atomic<int> left{5};
  BackgroundThread thread({.round = [&] { return --left > 0; }});
  ASSERT_TRUE(thread.start());
  thread.wake();
  thread.stop();
  EXPECT_EQ(left, 0) << "stop() waits for the rounds of an earlier wake-up";
}

TEST(BackgroundThread, RunsAtItsInterval) {
  std::atomic<int> rounds{0};
  BackgroundThread thread({.interval_seconds = 0.001, .round = [&] { return ++rounds, false; }});
  ASSERT_TRUE(thread.start());
  wait_for([&] { return rounds >= 3; });
}

TEST(BackgroundThread, EndsAtOnceWhileItSleeps) {
  std::atomic<int> rounds{0};
  {
    BackgroundThread thread({.interval_seconds = 3600, .round = [&] { return ++rounds, false; }});
    ASSERT_TRUE(thread.start());
  }
  EXPECT_EQ(rounds, 0);
}

TEST(BackgroundThread, IsNamedAndKnowsItself) {
  std::string name(16, '\0');
  bool is_current = false;
  BackgroundThread thread({.name = "nvcache-test", .round = [&] {
                             pthread_getname_np(pthread_self(), name.data(), name.size());
                             is_current = thread.is_current();
                             return false;
                           }});
  ASSERT_TRUE(thread.start());
  thread.wake();
  thread.stop();
  EXPECT_STREQ(name.c_str(), "nvcache-test");
  EXPECT_TRUE(is_current);
  EXPECT_FALSE(thread.is_current());
}

TEST(BackgroundThread, GoesOnAfterAnException) {
  for (const double interval_seconds : {0.0, 0.001}) {
    std::atomic<int> rounds{0};
    std::vector<std::string> told;
    BackgroundThread thread({.interval_seconds = interval_seconds,
                             .round = [&]() -> bool {
                               const int round = ++rounds;
                               if (round == 1) throw std::runtime_error("the first");
                               if (round == 2) throw 2;
                               return false;
                             },
                             .on_exception =
                                 [&](const std::string& what) {
                                   told.push_back(what);
                                   throw std::runtime_error("by who is told");
                                 }});
    ASSERT_TRUE(thread.start());
    thread.wake();
    wait_for([&] { return rounds >= 3; });
    thread.stop();
    EXPECT_EQ(thread.exceptions(), 2u);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0], "the first");
    EXPECT_NE(told[1], "");
  }
}

std::atomic<int> handled{0};

// A handler of the program, and its sigwait(), are for its own threads.
TEST(BackgroundThread, LeavesTheSignalsOfTheProgramToIt) {
  std::atomic<bool> ran{false};
  sigset_t blocked;
  sigemptyset(&blocked);
  BackgroundThread thread({.round = [&] {
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return ran = true, false;
  }});
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  ASSERT_TRUE(thread.start());
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  thread.wake();
  wait_for([&] { return ran.load(); });
  for (int signal = 1; signal < 32; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    const bool open = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
                      signal == SIGILL || signal == SIGTRAP || signal == SIGSYS ||
                      signal == SIGABRT || signal == SIGPROF;
    EXPECT_EQ(sigismember(&blocked, signal), open ? 0 : 1) << signal;
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
  std::signal(SIGUSR1, [](int) { ++handled; });
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &waited, nullptr);
  kill(getpid(), SIGUSR1);
  timespec at_once{};
  EXPECT_EQ(sigtimedwait(&waited, nullptr, &at_once), SIGUSR1);
  EXPECT_EQ(handled, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
}

// ThreadSanitizer ends a child that starts threads, if its parent had some.
#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsAfterFork = false;
#elif defined(__has_feature)
constexpr bool kThreadsAfterFork = !__has_feature(thread_sanitizer);
#else
constexpr bool kThreadsAfterFork = true;
#endif

TEST(BackgroundThread, AChildOfTheProcessWaitsForNone) {
  for (const bool in_a_round : {false, true}) {
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};
    auto thread = std::make_unique<BackgroundThread>(BackgroundThread::Work{.round = [&] {
      entered = true;
      while (!leave) std::this_thread::yield();
      return false;
    }});
    ASSERT_TRUE(thread->start());
    // Not while it begins: AddressSanitizer has locks then, which would stay taken in a child.
    leave = !in_a_round;
    thread->wake();
    wait_for([&] { return entered.load(); });
    test::ForkedChild child([&] {
      if (thread->is_in_this_process() || thread->start()) return 1;
      thread->wake();
      thread->stop();
      thread.reset();
      BackgroundThread own({.round = [] { return false; }});
      if (!own.is_in_this_process()) return 2;
      return kThreadsAfterFork && !own.start() ? 3 : 0;
    });
    EXPECT_EQ(child.end(), 0);
    leave = true;
    EXPECT_TRUE(thread->is_in_this_process());
    entered = false;
    thread->wake();
    wait_for([&] { return entered.load(); });
  }
}

TEST(BackgroundThread, ManyMayStartIt) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> rounds{0};
    BackgroundThread thread({.round = [&] { return ++rounds, false; }});
    std::atomic<int> ready{0};
    std::vector<std::thread> starters;
    for (int i = 0; i < 3; ++i) {
      starters.emplace_back([&] {
        for (++ready; ready != 3;) std::this_thread::yield();
        EXPECT_TRUE(thread.start());
      });
    }
    for (std::thread& each : starters) each.join();
    thread.wake();
    thread.stop();
    EXPECT_EQ(rounds, 1);
  }
  BackgroundThread stopped({.round = [] { return false; }});
  stopped.stop();
  EXPECT_FALSE(stopped.start());
}

TEST(BackgroundThread, NoWakeUpIsLost) {
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> seen{0};
  BackgroundThread thread({.round = [&] { return seen = asked.load(), false; }});
  ASSERT_TRUE(thread.start());
  std::vector<std::thread> wakers;
  for (int i = 0; i < 3; ++i) {
    wakers.emplace_back([&] {
      for (int round = 0; round < 3000; ++round) {
        const uint64_t mine = ++asked;
        thread.wake();
        wait_for([&] { return seen >= mine; });
      }
    });
  }
  for (std::thread& each : wakers) each.join();
}

}  // namespace
}  // namespace nvcache
