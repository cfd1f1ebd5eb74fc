// `nvcache bench`: runs nvbench (experiments/), which has the storage engines in it.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Lists `bench` in the help. What follows `bench` is nvbench's to parse.
void add_bench_command(CLI::App& app);

// True for a command line that names `bench` first.
bool is_bench_command(int argc, char** argv);

// Replaces this process by nvbench: the one in this program's folder, or else in PATH.
// Returns only where there is none, with an exit code of exit_code.h.
[[nodiscard]] int exec_nvbench(int argc, char** argv);

}  // namespace nvcache
