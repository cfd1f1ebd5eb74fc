// `nvcache bench flink` and `nvcache bench kafka-streams`: unmodified Java programs on RocksDB,
// with and without nvcache.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Adds both to nvbench. Their callbacks end by CLI::RuntimeError with an exit code of exit_code.h.
// `command` is the command line as typed.
void add_java_commands(CLI::App& bench, const std::string& command);

}  // namespace nvcache
