// Runs a Java program by turns without and with nvcache, each time from nothing, and compares what
// it sent.
#pragma once

#include "base/clock.h"
#include "experiments/java/java_options.h"
#include "experiments/java/java_program.h"
#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache::java {

// The document described in java_result.h. Every run must send what the first one of its case sent,
// else DATA_LOSS; a run that fails, or in which nvcache took no cache's place, is an error, too.
// CANCELLED when interrupted. Ends its child processes and removes its files in all cases.
[[nodiscard]] StatusOr<nlohmann::json> run_java(const Program& program, const Options& options,
                                                const Clock& clock);

}  // namespace nvcache::java
