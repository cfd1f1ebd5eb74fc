// `nvcache calibrate <medium>`: the command line of calibrate.h.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds the subcommand. Its callback prints the result on stdout and throws
// CLI::RuntimeError with an exit code of exit_code.h when it fails.
void add_calibrate_command(CLI::App& app);

}  // namespace nvcache
