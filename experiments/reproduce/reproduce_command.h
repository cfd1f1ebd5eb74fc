// `nvcache bench reproduce`: the papers' numbers beside ours.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds `reproduce`. `command` is the command line as typed. Its callback ends by CLI::RuntimeError
// with an exit code of exit_code.h where it fails.
void add_reproduce_command(CLI::App& group, const std::string& command);

}  // namespace nvcache
