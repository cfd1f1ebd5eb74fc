#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "apps/command/interrupt.h"
#include "base/text.h"
#include "experiments/writes_hurt/wtperf.h"

namespace nvcache::writes_hurt {
namespace {

constexpr int kLookMs = 200;  // how often the interrupt flag and the time are looked at

// The last lines of a file, on one line.
std::string end_of(const std::string& path) {
  constexpr size_t kMaxBytes = 600;
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  std::string said = text.str();
  if (said.size() > kMaxBytes) said = "..." + said.substr(said.size() - kMaxBytes);
  for (char& c : said) {
    if (c == '\n') c = ' ';
  }
  return std::string(strip(said));
}

// A child process; killed and waited for if it is there still.
class Child {
 public:
  Child() = default;
  ~Child() {
    if (pid_ > 0 && !ended_) {
      ::kill(-pid_, SIGKILL);
      wait();
    }
    if (fd_ >= 0) ::close(fd_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  absl::Status start(const Command& command) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    // A group of its own: Ctrl-C reaches this process alone, which ends the child.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    std::vector<char*> words;
    for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, words[0], &actions, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      pid_ = -1;
      return absl::FailedPreconditionError(
          fmt::format("cannot start {}: {}", command.words[0], std::strerror(error)));
    }
    fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    return absl::OkStatus();
  }

  // True once the child has ended; waits for that a little while.
  bool ended_now() {
    struct pollfd watched = {fd_, POLLIN, 0};
    ::poll(&watched, fd_ < 0 ? 0 : 1, kLookMs);
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    ended_ = true;
    status_ = status;
    return true;
  }

  int status() const { return status_; }

 private:
  void wait() {
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }

  pid_t pid_ = -1;
  int fd_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

absl::Status run_child(const Command& command, const Clock& clock, Progress& progress) {
  if (absl::Status status = check_not_interrupted(); !status.ok()) return status;
  const uint64_t start_ns = clock.now_ns();
  Child child;
  if (absl::Status status = child.start(command); !status.ok()) return status;
  while (!child.ended_now()) {
    if (absl::Status status = check_not_interrupted(); !status.ok()) return status;
    const double seconds = seconds_between(start_ns, clock.now_ns());
    progress.update(fmt::format("{}: {:.0f} s", command.title, seconds));
    if (seconds > command.limit_seconds) {
      return absl::DeadlineExceededError(
          fmt::format("{} was not done after {:.0f} s and was killed", command.words[0], seconds));
    }
  }
  const int status = child.status();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  const std::string how = WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  return absl::InternalError(
      fmt::format("{} failed: {}: {}", command.words[0], how, end_of(command.log)));
}

}  // namespace nvcache::writes_hurt
