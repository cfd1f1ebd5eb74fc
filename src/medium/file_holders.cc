#include "medium/file_holders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

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

}  // namespace

std::string holders_of_file(int fd) {
  struct stat wanted {};
  if (fstat(fd, &wanted) != 0) return "";
  std::string holders;
  const std::string own = std::to_string(getpid());
  const auto numbers = names_in_folder("/proc");
  if (!numbers) return "";
  for (const std::string& number : *numbers) {
    const bool is_process = std::all_of(number.begin(), number.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
    const std::string process = "/proc/" + number;
    if (!is_process || number == own || descriptors_of(process, wanted) == 0) continue;
    holders += fmt::format("{}process {} ({})", holders.empty() ? "" : ", ", number,
                           strip(read_file(process + "/comm").value_or("")));
  }
  return holders;
}

bool is_open_twice(int fd) {
  struct stat wanted {};
  return fstat(fd, &wanted) == 0 && descriptors_of("/proc/self", wanted) > 1;
}

}  // namespace nvcache
