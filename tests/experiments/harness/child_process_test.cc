// Child processes of experiments: what they are given, how they end, and that none is left.
#include "experiments/harness/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ChildProcessTest : public testing::Test {
 protected:
  ChildCommand shell(const std::string& script) const {
    return {{"/bin/sh", "-c", script}, path("output"), 60, "test"};
  }
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  Status run(const ChildCommand& command) { return run_child(command, system_clock(), progress_); }
  // The number in a file, once a child has written it whole.
  pid_t pid_in(const std::string& name) const {
    std::string text;
    while (!text.ends_with('\n')) text = text_of(name);
    return static_cast<pid_t>(std::stol(text));
  }

  TempDir folder_;
  Progress progress_{system_clock()};
};

TEST_F(ChildProcessTest, TellsTheEndOfWhatAChildPrinted) {
  EXPECT_TRUE(run(shell("exit 0")).ok());
  const Status failed = run(shell("echo out; echo wrong >&2; exit 3"));
  EXPECT_TRUE(is_internal(failed));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("exit code 3: out wrong"));
  EXPECT_THAT(std::string(run(shell("kill -9 $$")).message()), HasSubstr("killed by signal 9"));
}

TEST_F(ChildProcessTest, NamesAProgramThatCannotBeStarted) {
  ChildCommand command = shell("");
  command.words[0] = "/nonexistent";
  const Status failed = run(command);
  EXPECT_TRUE(is_failed_precondition(failed));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("/nonexistent: No such file"));
}

TEST_F(ChildProcessTest, HasAFileForItsErrorsIfAsked) {
  ChildCommand command = shell("echo out; echo wrong >&2; exit 1");
  command.errors = path("errors");
  EXPECT_THAT(std::string(run(command).message()), HasSubstr("out wrong"));
  EXPECT_EQ(text_of("output"), "out\n");
  EXPECT_EQ(text_of("errors"), "wrong\n");
}

TEST_F(ChildProcessTest, HasTheEnvironmentThatItIsGiven) {
  ASSERT_EQ(::setenv("NVCACHE_CHILD_TEST", "own", 1), 0);
  const std::string script = "echo \"$NVCACHE_CHILD_TEST,$OTHER\"";
  ASSERT_TRUE(run(shell(script)).ok());
  EXPECT_EQ(text_of("output"), "own,\n");
  ChildCommand command = shell(script);
  command.environment = environment_without({"NVCACHE_"});
  EXPECT_THAT(*command.environment, Not(Contains(StartsWith("NVCACHE_"))));
  EXPECT_THAT(*command.environment, Contains(StartsWith("PATH=")));
  command.environment->push_back("OTHER=given");
  ASSERT_TRUE(run(command).ok());
  EXPECT_EQ(text_of("output"), ",given\n");
  ::unsetenv("NVCACHE_CHILD_TEST");
}

TEST_F(ChildProcessTest, ReadsNothingFromTheTerminal) {
  ASSERT_TRUE(run(shell("wc -c")).ok());
  EXPECT_EQ(text_of("output"), "0\n");
}

TEST_F(ChildProcessTest, IsKilledWhenItIsOutOfTime) {
  ChildCommand command = shell("echo $$ > " + path("pid") + "; sleep 600");
  command.limit_seconds = 0.1;
  pid_t pid = 0;
  while (pid == 0) {  // until it had the time to begin
    EXPECT_TRUE(is_deadline_exceeded(run(command)));
    std::ifstream(path("pid")) >> pid;
    command.limit_seconds *= 2;
    ASSERT_LT(command.limit_seconds, 600);
  }
  EXPECT_NE(::kill(pid, 0), 0) << "it is there still";
}

TEST_F(ChildProcessTest, TakesItsOwnChildrenAlong) {
  pid_t inner = 0;
  {
    ChildProcess child;
    ASSERT_TRUE(child.start(shell("sh -c 'echo $$ > " + path("pid") + "; sleep 600'; true")).ok());
    inner = pid_in("pid");
    EXPECT_FALSE(child.ended(0));
    EXPECT_EQ(::kill(child.pid(), 0), 0);
  }
  // Killed, but perhaps not waited for by its new parent yet: a zombie has no command line.
  std::string words = "?";
  while (!words.empty()) {
    std::ostringstream text;
    std::ifstream file("/proc/" + std::to_string(inner) + "/cmdline");
    if (!file) break;
    text << file.rdbuf();
    words = text.str();
  }
}

TEST_F(ChildProcessTest, EndsOnce) {
  ChildProcess child;
  EXPECT_TRUE(child.ended(0)) << "none was started";
  ASSERT_TRUE(child.start(shell("exit 5")).ok());
  while (!child.ended(1000)) {
  }
  EXPECT_EQ(child.problem(), "exit code 5");
  child.kill();
  EXPECT_TRUE(child.ended(0));
  EXPECT_EQ(child.problem(), "exit code 5");
}

TEST(FindFile, SaysWhereItLooked) {
  EXPECT_THAT(first_file("a shell", "--shell", {"/nonexistent/sh", "/proc/self/exe"}).value(),
              StartsWith(program_folder() + "/"));
  const Status none = first_file("a shell", "--shell", {"/nonexistent/sh", "/"}).status();
  EXPECT_TRUE(is_failed_precondition(none));
  for (const char* word : {"a shell not found", "--shell", "/nonexistent/sh"}) {
    EXPECT_THAT(std::string(none.message()), HasSubstr(word));
  }
}

}  // namespace
}  // namespace nvcache
