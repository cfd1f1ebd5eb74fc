#include "medium/file_holders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace nvcache {
namespace {

uint32_t descriptors_of(const std::string& process, const struct stat& wanted) {
  uint32_t count = 0;
  const std::string folder = process + "/fd";
  const auto names = names_in_folder(folder);
  if (!names) return 0;
  for (const std::string& name : *names) {
    struct stat found {};
    if (stat(fmt::format("{}/{}", folder, name).c_str(), &found) == 0 &&
        found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino) {
      ++count;
    }
  }
  return count;
}

// A number of /proc/PID/status in hexadecimal.
uint64_t signals_in(std::string_view status, std::string_view name) {
  const size_t at = status.find(name);
  return at == status.npos ? 0 : std::strtoull(status.data() + at + name.size(), nullptr, 16);
}

// A kill that is on its way, or the end that follows it: memory goes first, and that of a large
// process takes a second, then files.
bool is_ending(const std::string& process) {
  constexpr uint64_t kKill = uint64_t{1} << (SIGKILL - 1);
  constexpr unsigned long kExiting = 4;  // PF_EXITING of the kernel
  const auto status = read_file(process + "/status");
  const auto stat = read_file(process + "/stat");
  if (!status || !stat) return true;  // it has ended
  if (((signals_in(*status, "\nSigPnd:") | signals_in(*status, "\nShdPnd:")) & kKill) != 0) {
    return true;
  }
  // "12 (name) S 1 12 12 0 -1 FLAGS"
  const size_t name_end = stat->rfind(')');
  char state = 0;
  unsigned long flags = 0;
  if (name_end == stat->npos ||
      std::sscanf(stat->c_str() + name_end, ") %c %*d %*d %*d %*d %*d %lu", &state, &flags) != 2) {
    return false;
  }
  return state == 'Z' || state == 'X' || (flags & kExiting) != 0;
}

}  // namespace

FileHolders holders_of_file(int fd) {
  struct stat wanted {};
  FileHolders holders;
  if (fstat(fd, &wanted) != 0) return holders;
  const std::string own = std::to_string(getpid());
  const auto numbers = names_in_folder("/proc");
  if (!numbers) return holders;
  for (const std::string& number : *numbers) {
    const bool is_process = std::all_of(number.begin(), number.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
    const std::string process = "/proc/" + number;
    if (!is_process || number == own || descriptors_of(process, wanted) == 0) continue;
    holders.names += fmt::format("{}process {} ({})", holders.names.empty() ? "" : ", ", number,
                                 strip(read_file(process + "/comm").value_or("")));
    holders.all_end = holders.all_end && is_ending(process);
  }
  return holders;
}

bool is_open_twice(int fd) {
  struct stat wanted {};
  return fstat(fd, &wanted) == 0 && descriptors_of("/proc/self", wanted) > 1;
}

}  // namespace nvcache
