#include "medium/file_holders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "fmt/format.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

uint32_t descriptors_of(const fs::path& process, const struct stat& wanted) {
  uint32_t count = 0;
  std::error_code error;
  for (fs::directory_iterator at(process / "fd", error), end; !error && at != end;
       at.increment(error)) {
    struct stat found {};
    if (stat(at->path().c_str(), &found) == 0 && found.st_dev == wanted.st_dev &&
        found.st_ino == wanted.st_ino) {
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
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string number = at->path().filename();
    const bool is_process = std::all_of(number.begin(), number.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_process || number == own || descriptors_of(at->path(), wanted) == 0) continue;
    std::string name;
    std::getline(std::ifstream(at->path() / "comm"), name);
    holders += fmt::format("{}process {} ({})", holders.empty() ? "" : ", ", number, name);
  }
  return holders;
}

bool is_open_twice(int fd) {
  struct stat wanted {};
  return fstat(fd, &wanted) == 0 && descriptors_of("/proc/self", wanted) > 1;
}

}  // namespace nvcache
