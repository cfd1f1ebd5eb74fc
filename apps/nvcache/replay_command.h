// `nvcache replay TRACE...`: hit ratios, inserts and bytes written of policies on traces of block
// accesses.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds the subcommand. Its callback prints tables on stdout and throws CLI::RuntimeError with an
// exit code of exit_code.h when it fails.
void add_replay_command(CLI::App& app);

}  // namespace nvcache
