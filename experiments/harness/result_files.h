// The JSON and HTML files that a benchmark writes, and what else becomes of its document. Value
// type; caller-locked.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status.h"

namespace nvcache {

struct ResultFiles {
  std::string json_path;  // empty: none
  std::string html_path;  // empty: none

  // Checks before a long run that the files can be written. INVALID_ARGUMENT names the option.
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status write(const nlohmann::json& document) const;
  void print_paths() const;
};

// Publishes a result of kind "paper": writes the files that were asked for, prints its tables and
// the paths of the files. Then returns INTERNAL if any run failed. Ignores a late Ctrl-C: the
// results are complete.
[[nodiscard]] Status publish(const nlohmann::json& document, const ResultFiles& files);

}  // namespace nvcache
