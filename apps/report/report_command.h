// `nvcache report`: tables and an HTML page from the JSON of earlier runs.
#pragma once

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds `report`. Its callback ends by CLI::RuntimeError with an exit code of
// exit_code.h where it fails.
void add_report_command(CLI::App& app);

}  // namespace nvcache
