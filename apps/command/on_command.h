// Runs a subcommand and turns its status into a message on stderr and an exit code.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "apps/command/exit_code.h"
#include "base/print.h"
#include "base/text.h"

namespace nvcache {

// Calls `run`, which returns a status, once the command line is parsed and names this command.
// An error throws CLI::RuntimeError with an exit code of exit_code.h.
template <typename Run>
void on_command(CLI::App& app, std::string name, Run run) {
  app.callback([name = std::move(name), run = std::move(run)] {
    const Status status = run();
    if (status.ok()) return;
    print_to(stderr, "{}: {}\n", name, status.message());
    throw CLI::RuntimeError(exit_code_of(status));
  });
}

}  // namespace nvcache
