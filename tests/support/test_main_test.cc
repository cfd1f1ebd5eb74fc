// A negative control passes only where a test fails by an assertion: see test_main.cc.
#include <sys/wait.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

constexpr const char* kWay = "NVCACHE_TEST_ENDS_BY";

// Run by the test below, in another process.
TEST(TestMain, EndsAsItIsTold) {
  const char* given = std::getenv(kWay);
  const std::string_view way = given == nullptr ? "success" : given;
  if (way == "assertion") FAIL() << "as told";
  if (way == "exception") throw std::runtime_error("as told");
  if (way == "crash") std::abort();
}

bool control_passes(const std::string& way, const std::string& filter = "TestMain.EndsAsItIsTold",
                    const std::string& hook = "skip_tokens") {
  const std::string command = "ulimit -c 0; env " + std::string(kWay) + "=" + way +
                              " /proc/$PPID/exe --negative-control=" + hook +
                              " --gtest_filter=" + filter + " > /dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(TestMain, AControlPassesOnlyByAFailedAssertion) {
  EXPECT_TRUE(control_passes("assertion"));
  EXPECT_FALSE(control_passes("success"));
  EXPECT_FALSE(control_passes("exception"));
  EXPECT_FALSE(control_passes("crash"));
  EXPECT_FALSE(control_passes("assertion", "No.SuchTest"));
  EXPECT_FALSE(control_passes("assertion", "TestMain.EndsAsItIsTold", "no_such_hook"));
}

}  // namespace
}  // namespace nvcache
