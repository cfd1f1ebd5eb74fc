#include "experiments/java/java_tools.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "experiments/harness/child_process.h"
#include "fmt/ranges.h"

namespace nvcache::java {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libnvcache_jvm.so";

// In $JAVA_HOME, and else on the PATH.
std::optional<std::string> find_program(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* home = std::getenv("JAVA_HOME"); home != nullptr && *home != '\0') {
    folders.push_back(std::string(home) + "/bin");
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto [folder, others] = split_once(rest, ':');
    if (!folder.empty()) folders.emplace_back(folder);
    rest = others;
  }
  for (const std::string& folder : folders) {
    std::string program = fmt::format("{}/{}", folder, name);
    std::error_code error;
    if (fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

Status find_jdk(Tools& tools) {
  for (const auto& [name, place] : {std::pair("javac", &tools.javac), {"java", &tools.java}}) {
    auto found = find_program(name);
    if (!found) {
      return failed_precondition_error(
          fmt::format("no {} in $JAVA_HOME/bin or on the PATH: a JDK of version 17 or newer is "
                      "needed; script/setup --for jvm installs one",
                      name));
    }
    *place = *std::move(found);
  }
  return ok_status();
}

Status missing_jars(const std::string& path) {
  return failed_precondition_error(fmt::format(
      "no {}: script/rocksdb_jni gets the jars; --jars names the folder that it prints with --root",
      path));
}

StatusOr<std::string> find_jars(const Program& program, const Options& options) {
  const std::string root = options.jars.empty() ? NVCACHE_ROCKSDB_JNI_ROOT : options.jars;
  const std::string jar = root + "/" + program.jar;
  const std::string folder = root + "/" + program.jar_folder;
  std::error_code error;
  if (!fs::is_regular_file(jar, error)) return missing_jars(jar);
  std::vector<std::string> jars;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".jar") jars.push_back(entry.path().string());
  }
  if (jars.empty()) return missing_jars(folder + "/*.jar");
  std::sort(jars.begin(), jars.end());
  jars.push_back(jar);
  return fmt::format("{}", fmt::join(jars, ":"));
}

StatusOr<std::string> find_library(const Options& options) {
  const std::string here = program_folder();
  std::vector<std::string> places = {options.library};
  if (options.library.empty()) {
    places.clear();
    for (const char* folder : {"", "/../src/adapters/jvm", "/../lib", "/../lib64",
                               "/../lib/x86_64-linux-gnu", "/../lib/aarch64-linux-gnu"}) {
      places.push_back(here + folder + "/" + kLibrary);
    }
  }
  auto found = first_file(kLibrary, "--library", places);
  if (found.ok()) return found;
  return failed_precondition_error(
      fmt::format("{}\nIt is built once RocksDB's headers are there: script/rocksdb_jni "
                  "gets them; then configure again, and build nvcache_jvm",
                  found.status().message()));
}

}  // namespace

StatusOr<Tools> find_tools(const Program& program, const Options& options) {
  Tools tools;
  if (Status status = find_jdk(tools); !status.ok()) return status;
  auto jars = find_jars(program, options);
  if (!jars.ok()) return jars.status();
  tools.classpath = *std::move(jars);
  auto library = find_library(options);
  if (!library.ok()) return library.status();
  tools.library = *std::move(library);
  return tools;
}

}  // namespace nvcache::java
