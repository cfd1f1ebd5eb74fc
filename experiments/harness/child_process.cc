#include "experiments/harness/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "apps/command/interrupt.h"
#include "base/files.h"
#include "base/text.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr int kLookMs = 200;  // how often the interrupt flag and the time are looked at

// The last lines of a file, on one line.
std::string end_of(const std::string& path) {
  constexpr size_t kMaxBytes = 600;
  std::string said = read_file(path, /*most_bytes=*/64 << 20).value_or("");
  if (said.size() > kMaxBytes) said = "..." + said.substr(said.size() - kMaxBytes);
  std::replace(said.begin(), said.end(), '\n', ' ');
  return std::string(strip(said));
}

// Of both files where the child has two.
std::string last_words(const ChildCommand& command) {
  std::string output = end_of(command.output);
  if (command.errors.empty()) return output;
  return fmt::format("{} {}", output, end_of(command.errors));
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string program_folder() {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  return error ? "." : binary.parent_path().string();
}

StatusOr<std::string> first_file(std::string_view what, std::string_view option,
                                 const std::vector<std::string>& places) {
  std::string tried;
  for (const std::string& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return fs::canonical(place, error).string();
    tried += "\n  " + place;
  }
  return failed_precondition_error(
      fmt::format("{} not found; give {}, or put it into one of:{}", what, option, tried));
}

std::vector<std::string> environment_without(std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> kept;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const bool dropped =
        std::any_of(prefixes.begin(), prefixes.end(),
                    [&](std::string_view prefix) { return variable.starts_with(prefix); });
    if (!dropped) kept.emplace_back(variable);
  }
  return kept;
}

ChildProcess::~ChildProcess() {
  kill();
  if (watched_ >= 0) ::close(watched_);
}

Status ChildProcess::start(const ChildCommand& command) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (command.errors.empty()) {
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, command.errors.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0644);
  }
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const std::vector<char*> words = pointers_to(command.words);
  std::vector<char*> variables;
  if (command.environment) variables = pointers_to(*command.environment);
  const int error = ::posix_spawn(&pid_, words[0], &actions, &attributes, words.data(),
                                  command.environment ? variables.data() : environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    return failed_precondition_error(
        fmt::format("cannot start {}: {}", command.words[0], std::strerror(error)));
  }
  watched_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  return ok_status();
}

bool ChildProcess::ended(int wait_ms) {
  if (pid_ < 0 || ended_) return true;
  pollfd end = {watched_, POLLIN, 0};
  ::poll(&end, watched_ < 0 ? 0 : 1, wait_ms);
  ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

void ChildProcess::kill() {
  if (pid_ < 0 || ended_) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

std::string ChildProcess::problem() const {
  if (WIFSIGNALED(status_)) return fmt::format("killed by signal {}", WTERMSIG(status_));
  const int code = WEXITSTATUS(status_);
  return code == 0 ? "" : fmt::format("exit code {}", code);
}

Status run_child(const ChildCommand& command, const Clock& clock, Progress& progress) {
  if (Status status = check_not_interrupted(); !status.ok()) return status;
  const uint64_t start_ns = clock.now_ns();
  ChildProcess child;
  if (Status status = child.start(command); !status.ok()) return status;
  while (!child.ended(kLookMs)) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    const double seconds = seconds_between(start_ns, clock.now_ns());
    progress.update(fmt::format("{}: {:.0f} s", command.title, seconds));
    if (seconds > command.limit_seconds) {
      return deadline_exceeded_error(
          fmt::format("{} was not done after {:.0f} s and was killed", command.words[0], seconds));
    }
  }
  const std::string problem = child.problem();
  if (problem.empty()) return ok_status();
  return internal_error(
      fmt::format("{} failed: {}: {}", command.words[0], problem, last_words(command)));
}

}  // namespace nvcache
