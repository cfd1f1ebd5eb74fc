#include "apps/nvcache/bench_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command/exit_code.h"
#include "base/print.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

// nvbench shows this name in its help and keeps it in its results.
constexpr char kProgramName[] = "nvcache bench";
constexpr std::string_view kBench = "bench";

std::string own_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "." : program.parent_path().string();
}

}  // namespace

void add_bench_command(CLI::App& app) {
  app.add_subcommand(std::string(kBench),
                     "Run a benchmark on a storage engine, or a paper's evaluation");
}

std::vector<ForwardedCommand> forwarded_to_nvbench() {
  return {{std::string(kBench), "nvbench", ""}};
}

bool is_bench_command(int argc, char** argv) {
  return argc >= 2 && std::string_view(argv[1]) == kBench;
}

int exec_nvbench(int argc, char** argv) {
  std::vector<char*> arguments{const_cast<char*>(kProgramName)};
  for (int i = 2; i < argc; ++i) arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  const std::string folder = own_folder();
  execv((folder + "/nvbench").c_str(), arguments.data());
  if (errno == ENOENT) execvp("nvbench", arguments.data());
  print_to(stderr,
           "nvcache bench: cannot run nvbench ({}); looked in {} and in PATH. To get it: cmake "
           "--preset install -DNVCACHE_EXPERIMENTS=ON, then build and install again\n",
           std::strerror(errno), folder);
  return kExitFailed;
}

}  // namespace nvcache
