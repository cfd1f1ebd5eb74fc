// `nvcache bench`: runs the program nvbench (experiments/), which links the storage engines.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Lists `bench` in the help. nvbench parses what follows `bench`.
void add_bench_command(CLI::App& app);

// True for a command line that names `bench` first.
bool is_bench_command(int argc, char** argv);

// Replaces this process with nvbench: the one in this program's folder, or else in PATH.
// Returns only if nvbench cannot run, with an exit code of exit_code.h.
[[nodiscard]] int exec_nvbench(int argc, char** argv);

}  // namespace nvcache
