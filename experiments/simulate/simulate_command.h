// `nvcache bench simulate`: an engine, a machine and a second tier of any size, simulated.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds `simulate` to nvbench. Its callback ends by CLI::RuntimeError with an exit code of
// exit_code.h. `command` is the command line as typed.
void add_simulate_command(CLI::App& group, const std::string& command);

}  // namespace nvcache
