#include "experiments/run/profile_files.h"

#include <fstream>
#include <sstream>

#include "base/text.h"

namespace nvcache {
namespace {

constexpr std::string_view kEnding = ".profile";

StatusOr<WorkloadProfile> parsed(const std::string& name, std::string_view text) {
  auto profile = parse_workload_profile(text);
  if (profile.ok()) return profile;
  return invalid_argument("{}: {}", name, profile.status().message());
}

}  // namespace

std::string profile_names_built_in() {
  std::string names;
  for (const auto& [name, text] : profile_files()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         name.substr(0, name.size() - kEnding.size()));
  }
  return names;
}

StatusOr<WorkloadProfile> find_workload_profile(const std::string& name) {
  for (const auto& [built_in, text] : profile_files()) {
    if (built_in == name + std::string(kEnding)) return parsed(name, text);
  }
  if (name.find_first_of("/.") == std::string::npos) {
    return invalid_argument("--name {}: no such workload; allowed are {}, or the path of a file",
                            name, profile_names_built_in());
  }
  std::ifstream file(name);
  if (!file) return invalid_argument("--name {}: cannot be read", name);
  std::ostringstream text;
  text << file.rdbuf();
  return parsed(name, text.str());
}

}  // namespace nvcache
