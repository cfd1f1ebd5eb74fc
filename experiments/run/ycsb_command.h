// `nvcache bench ycsb` and `nvcache bench profile`.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace nvcache {

// Add them to nvbench. Their callbacks end by CLI::RuntimeError with an exit code of exit_code.h.
// `command` is the command line as typed.

// Loads a database of records and runs YCSB on it with different caches, in turn.
void add_ycsb_command(CLI::App& group, const std::string& command);

// A production-like workload on several RocksDB databases that share one block cache.
void add_profile_command(CLI::App& group, const std::string& command);

}  // namespace nvcache
