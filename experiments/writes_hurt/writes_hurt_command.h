// `nvcache bench writes-hurt`: the figures and tables of "Writes Hurt" (SoCC '22) on
// WiredTiger, scaled down.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds `paper` to nvbench. Its callback ends by CLI::RuntimeError with an exit code of
// exit_code.h. `command` is the command line as typed.
void add_writes_hurt_command(CLI::App& bench, const std::string& command);

}  // namespace nvcache
