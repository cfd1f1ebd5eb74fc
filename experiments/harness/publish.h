// What becomes of a result laid out as `bench writes-hurt` does: files, tables, exit status.
#pragma once

#include "absl/status/status.h"
#include "experiments/harness/result_files.h"
#include "nlohmann/json.hpp"

namespace nvcache {

// Writes the files that were asked for, prints the tables and where the files are.
// INTERNAL if any run failed, after all of that. The results are there by now: a late
// Ctrl-C must not throw them away.
[[nodiscard]] absl::Status publish(const nlohmann::json& document, const ResultFiles& files);

}  // namespace nvcache
