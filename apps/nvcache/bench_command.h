// `nvcache bench`: runs the program nvbench (experiments/), which links the storage engines.
#pragma once

#include <vector>

#include "CLI/CLI.hpp"
#include "apps/command/command_page.h"

namespace nvcache {

// Lists it in the help. nvbench parses what follows.
void add_bench_command(CLI::App& app);

// Which of nvbench's commands it stands for: all.
std::vector<ForwardedCommand> forwarded_to_nvbench();

// True for a command line that names it first.
bool is_bench_command(int argc, char** argv);

// Replaces this process with nvbench: the one in this program's folder, or else in PATH.
// Returns only if nvbench cannot run, with an exit code of exit_code.h.
[[nodiscard]] int exec_nvbench(int argc, char** argv);

}  // namespace nvcache
