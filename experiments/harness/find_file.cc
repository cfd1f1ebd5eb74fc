#include "experiments/harness/find_file.h"

#include <filesystem>

#include "fmt/format.h"

namespace nvcache {
namespace fs = std::filesystem;

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

}  // namespace nvcache
