// `nvcache top <statistics>...`: what caches do, in a terminal, from the files that their programs
// write and from metrics ports.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds the subcommand. Its callback throws CLI::RuntimeError with an exit code of exit_code.h when
// it fails or is interrupted.
void add_top_command(CLI::App& app);

}  // namespace nvcache
