// AwakeProcessors: one thread for each processor, and their time is told apart.
#include "experiments/harness/awake_processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace nvcache {
namespace {

size_t threads_of_process() {
  using Iterator = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Iterator("/proc/self/task"), Iterator()));
}

TEST(AwakeProcessorsTest, EachProcessorHasAThreadWhoseTimeIsTold) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  AwakeProcessors awake;
  const size_t threads_before = threads_of_process();
  const double before = process_cpu_seconds();
  ASSERT_TRUE(awake.start().ok());
  EXPECT_EQ(threads_of_process() - threads_before, static_cast<size_t>(CPU_COUNT(&allowed)));
  while (awake.cpu_seconds() < 0.02) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double used = awake.cpu_seconds();
  EXPECT_GE(process_cpu_seconds() - before + 0.01, used) << "is part of the process's";
}

TEST(AwakeProcessorsTest, WithoutAStartThereAreNone) {
  const size_t threads_before = threads_of_process();
  AwakeProcessors awake;
  EXPECT_EQ(threads_of_process(), threads_before);
  EXPECT_EQ(awake.cpu_seconds(), 0);
}

}  // namespace
}  // namespace nvcache
