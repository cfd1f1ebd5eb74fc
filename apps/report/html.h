// The HTML report: one file with its charts (Chart.js) and data inside, that needs
// neither network nor other files.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

// INVALID_ARGUMENT names what is wrong with a document: its "kind" must be "ycsb", "calibration",
// "paper" or "replay", its "schema" 1, and the parts that a report needs must be there.
[[nodiscard]] Status check_report_document(const nlohmann::json& document);

// A page with a section for each document.
[[nodiscard]] StatusOr<std::string> report_html(const std::vector<nlohmann::json>& documents);

}  // namespace nvcache
