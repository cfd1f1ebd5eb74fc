// `nvcache bench hybrid-cache`: the evaluation of "Improving Performance of Flash Based Key-Value
// Stores Using Storage Class Memory as a Volatile Memory Extension" (ATC '21), scaled down.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds `hybrid` to nvbench. Its callback ends by CLI::RuntimeError with an exit code of
// exit_code.h. `command` is the command line as typed.
void add_hybrid_cache_command(CLI::App& bench, const std::string& command);

}  // namespace nvcache
