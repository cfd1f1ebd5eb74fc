// `nvcache bench ycsb`: loads a database and runs YCSB on it with different
// second tiers, in turn.
#pragma once

#include "CLI/CLI.hpp"
#include "base/clock.h"
#include "experiments/ycsb/bench_options.h"
#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

// Adds `ycsb` to nvbench. Its callback ends by CLI::RuntimeError
// with an exit code of exit_code.h. `command` is the command line as typed.
void add_ycsb_command(CLI::App& group, const std::string& command);

// Runs it all; the result is the JSON document described in result.h.
[[nodiscard]] StatusOr<nlohmann::json> run_bench(const BenchOptions& options, const Clock& clock);

}  // namespace nvcache
