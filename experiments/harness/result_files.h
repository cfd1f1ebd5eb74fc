// The JSON and HTML files that a benchmark writes. Value type; caller-locked.
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

}  // namespace nvcache
