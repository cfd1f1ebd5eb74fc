// Processors kept awake: what the threads that do it use is told apart.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "experiments/harness/awake_processors.h"

namespace nvcache {
namespace {

TEST(AwakeProcessorsTest, EachProcessorHasAThreadWhoseTimeIsTold) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  AwakeProcessors awake;
  const double before = process_cpu_seconds();
  ASSERT_TRUE(awake.start().ok());
  EXPECT_EQ(awake.processors(), static_cast<size_t>(CPU_COUNT(&allowed)));
  while (awake.cpu_seconds() < 0.02) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double used = awake.cpu_seconds();
  EXPECT_GE(process_cpu_seconds() - before + 0.01, used) << "is part of the process's";
}

TEST(AwakeProcessorsTest, WithoutAStartThereAreNone) {
  AwakeProcessors awake;
  EXPECT_EQ(awake.processors(), 0u);
  EXPECT_EQ(awake.cpu_seconds(), 0);
}

}  // namespace
}  // namespace nvcache
