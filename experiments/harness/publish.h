// Publishes a result of kind "paper": writes its files, prints its tables, decides the exit status.
#pragma once

#include "experiments/harness/result_files.h"
#include "nlohmann/json.hpp"
#include "nvcache/status.h"

namespace nvcache {

// Writes the files that were asked for, and prints the tables and the paths of the files.
// Then returns INTERNAL if any run failed. Ignores a late Ctrl-C: the results are complete.
[[nodiscard]] Status publish(const nlohmann::json& document, const ResultFiles& files);

}  // namespace nvcache
