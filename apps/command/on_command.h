// How a subcommand ends: well, or with a message and the exit code of what went wrong.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "base/text.h"
#include "apps/command/exit_code.h"

namespace nvcache {

// Calls `run`, which returns a status, once the command line is parsed and names this command.
template <typename Run>
void on_command(CLI::App& app, std::string name, Run run) {
  app.callback([name = std::move(name), run = std::move(run)] {
    const absl::Status status = run();
    if (status.ok()) return;
    fmt::print(stderr, "{}: {}\n", name, message_of(status));
    throw CLI::RuntimeError(exit_code_of(status));
  });
}

}  // namespace nvcache
