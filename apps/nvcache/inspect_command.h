// `nvcache inspect <medium>`: the command line of block_cache/region/inspect.h.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds the subcommand. Its callback prints the result on stdout and throws
// CLI::RuntimeError with an exit code of exit_code.h when it fails, or finds damage.
void add_inspect_command(CLI::App& app);

}  // namespace nvcache
