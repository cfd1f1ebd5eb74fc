// What a benchmark leaves behind: its JSON and HTML files, and where they are.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

struct ResultFiles {
  std::string json_path;  // empty: none
  std::string html_path;  // empty: none

  // Asked before a long run. INVALID_ARGUMENT names the option.
  [[nodiscard]] absl::Status check() const;
  [[nodiscard]] absl::Status write(const nlohmann::json& document) const;
  void print_paths() const;
};

}  // namespace nvcache
