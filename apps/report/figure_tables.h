// A "paper" document as text for a terminal, at most 100 columns wide.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache::figures {

// INVALID_ARGUMENT where the document is not one.
[[nodiscard]] StatusOr<std::string> figure_tables(const nlohmann::json& document);

// "12.3 [11.9-12.5] | 10": the median, the spread if it has one, and what the paper of the document
// says.
std::string cell_text(const nlohmann::json& cell, int digits);

}  // namespace nvcache::figures
