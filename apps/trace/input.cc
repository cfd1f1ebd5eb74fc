#include "apps/trace/input.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/descriptors.h"
#include "base/text.h"
#include "fmt/format.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

struct Packing {
  std::string_view suffix;
  const char* program;
  const char* option;  // null: none
};
// zstd refuses windows of more than 128 MiB unless asked. It takes what the file needs.
constexpr std::array<Packing, 3> kPackings = {
    {{".zst", "zstd", "--long=31"}, {".xz", "xz", nullptr}, {".gz", "gzip", nullptr}}};

const Packing* packing_of(std::string_view path) {
  for (const Packing& packing : kPackings) {
    if (path.ends_with(packing.suffix)) return &packing;
  }
  return nullptr;
}

// Starts the program from the file `from` to the pipe `to`; what it says goes to `messages`.
// Signals that this process blocks or ignores end it all the same. Returns 0, or an errno.
int start(const Packing& packing, int from, int to, int messages, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  if (messages >= 0) {
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const char* const arguments[] = {packing.program, "-dcq", packing.option, nullptr};
  const int error = posix_spawnp(pid, packing.program, &actions, &attributes,
                                 const_cast<char* const*>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

Status failed(const std::string& path, std::string_view what) {
  const std::string text = fmt::format("{}: {}{}", path, what, std::strerror(errno));
  return errno == ENOENT ? not_found_error(text) : unavailable_error(text);
}

}  // namespace

std::string without_packing(std::string path) {
  if (const Packing* packing = packing_of(path); packing != nullptr) {
    path.resize(path.size() - packing->suffix.size());
  }
  return path;
}

StatusOr<std::unique_ptr<Input>> Input::open(const std::string& path) {
  const bool is_standard = path == "-";
  const int file = is_standard ? copy_descriptor(STDIN_FILENO) : open_file(path.c_str(), O_RDONLY);
  if (file < 0) return failed(path, "");
  const Packing* const packing = is_standard ? nullptr : packing_of(path);
  if (packing == nullptr) return std::unique_ptr<Input>(new Input(file, file, 0, -1));
  int pipe[2];
  if (!make_pipe(pipe)) {
    Status status = failed(path, "no pipe: ");
    ::close(file);
    return status;
  }
  pid_t pid = 0;
  const int messages = make_memory_file("messages");
  errno = start(*packing, file, pipe[1], messages, &pid);
  const bool started = errno == 0;
  Status status;
  if (!started) {
    status = unavailable_error(fmt::format("{}: the program {} cannot be started: {}", path,
                                           packing->program, std::strerror(errno)));
  }
  ::close(pipe[1]);
  if (started) return std::unique_ptr<Input>(new Input(file, pipe[0], pid, messages));
  if (messages >= 0) ::close(messages);
  ::close(pipe[0]);
  ::close(file);
  return status;
}

Input::Input(int file, int bytes, pid_t program, int messages)
    : file_(file), bytes_(bytes), program_(program), messages_(messages) {
  struct stat found {};
  if (::fstat(file_, &found) == 0 && S_ISREG(found.st_mode)) {
    size_bytes_ = static_cast<double>(found.st_size);
  }
}

Input::~Input() {
  ::close(bytes_);
  if (file_ != bytes_) ::close(file_);
  if (messages_ >= 0) ::close(messages_);
  if (program_ == 0) return;
  ::kill(program_, SIGTERM);
  int status = 0;
  while (::waitpid(program_, &status, 0) < 0 && errno == EINTR) {
  }
}

StatusOr<size_t> Input::read(std::span<char> to) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t moved = ::read(bytes_, to.data() + done, to.size() - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return unavailable_error(std::strerror(errno));
    if (moved == 0) {
      end_program();
      break;
    }
    done += static_cast<size_t>(moved);
  }
  return done;
}

// The program shares the file's offset.
double Input::share_read() const {
  const off_t at = size_bytes_ > 0 ? ::lseek(file_, 0, SEEK_CUR) : 0;
  return at > 0 ? static_cast<double>(at) / size_bytes_ : 0;
}

std::string Input::problem() const {
  std::array<char, 200> text{};
  const ssize_t length = messages_ < 0 ? 0 : ::pread(messages_, text.data(), text.size(), 0);
  if (length <= 0) return "";
  const std::string_view said = strip({text.data(), static_cast<size_t>(length)});
  return fmt::format(" ({})", shown(said.substr(0, said.find('\n'))));
}

void Input::end_program() {
  if (program_ == 0) return;
  int status = 0;
  while (::waitpid(program_, &status, 0) < 0 && errno == EINTR) {
  }
  program_ = 0;
  cut_short_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace nvcache
