// Programs as child processes: found, started with an environment and with files for what they
// print, waited for, and killed with all that they have started in their turn.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The folder of this program's file; "." if the kernel does not tell.
std::string program_folder();

// The first of `places` that is a plain file, without links in its path: a build tree and an
// installed one have it in different places. FAILED_PRECONDITION names `what` is missing, the
// option that gives its place, and the places that were tried.
[[nodiscard]] StatusOr<std::string> first_file(std::string_view what, std::string_view option,
                                               const std::vector<std::string>& places);

struct ChildCommand {
  std::vector<std::string> words;  // the program's path first
  std::string output;              // file for what it prints
  double limit_seconds = 0;        // then it is killed
  std::string title;               // for the progress line
  std::string errors = {};         // file for its standard error; empty: `output`
  // Each "NAME=value"; none: this process's own.
  std::optional<std::vector<std::string>> environment = {};
};

// This process's environment without the variables that begin with one of `prefixes`.
std::vector<std::string> environment_without(std::initializer_list<std::string_view> prefixes);

// A child in a process group of its own, so that Ctrl-C on a terminal reaches this process alone.
// Caller-locked. The destructor kills the group and waits, unless the child has ended.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Once. Its standard input is empty. FAILED_PRECONDITION names a program that cannot be started.
  [[nodiscard]] Status start(const ChildCommand& command);

  // True once it has ended; waits at most `wait_ms` for that.
  bool ended(int wait_ms);

  // Kills it and all of its group, and waits for it.
  void kill();

  pid_t pid() const { return pid_; }  // -1: not started
  // After its end: "" for exit code 0, else "exit code 3" or "killed by signal 9".
  std::string problem() const;

 private:
  pid_t pid_ = -1;
  int watched_ = -1;  // becomes readable at its end
  bool ended_ = false;
  int status_ = 0;
};

// Runs a child and waits for it; kills it when interrupted (CANCELLED) or out of time
// (DEADLINE_EXCEEDED). The message of a failure (INTERNAL) has the end of what the child printed.
[[nodiscard]] Status run_child(const ChildCommand& command, const Clock& clock, Progress& progress);

}  // namespace nvcache
