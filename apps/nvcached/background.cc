#include "apps/nvcached/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/descriptors.h"
#include "base/errno_status.h"

namespace nvcache::server {
namespace {

constexpr int kFailedCode = 1;

// Until the child serves, or has ended.
[[noreturn]] void end_with(pid_t child, int from_child) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char byte = 0;
  ssize_t got = 0;
  while ((got = read(from_child, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got == 1) _exit(0);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kFailedCode);
}

}  // namespace

StatusOr<Background> Background::begin() {
  int ends[2];
  if (!make_pipe(ends)) return errno_status(errno, "cannot run in the background");
  const pid_t child = fork();
  if (child < 0) return errno_status(errno, "cannot run in the background");
  if (child > 0) {
    close(ends[1]);
    end_with(child, ends[0]);
  }
  close(ends[0]);
  return Background(ends[1]);
}

void Background::serve(bool quiet) {
  (void)setsid();
  const int null = quiet ? open_file("/dev/null", O_RDWR) : -1;
  if (null >= 0) {
    for (const int place : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      put_descriptor(null, place);
    }
    close(null);
  }
  const char byte = 0;
  (void)!write(parent_, &byte, 1);
  close(parent_);
}

}  // namespace nvcache::server
