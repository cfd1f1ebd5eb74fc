// The comparison as a page in Markdown, and as tables for reports. Pure.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace nvcache::reproduce {

// "31 of 95 direction right, 20 of them within 25%; 5 not; 44 inputs (36 taken, 8 fitted); 15 not
// measured".
std::string summary_line(const nlohmann::json& document);

// "figures" of a document: a table for each paper.
nlohmann::json tables_of(const nlohmann::json& document);

// The page.
std::string markdown_page(const nlohmann::json& document);

}  // namespace nvcache::reproduce
