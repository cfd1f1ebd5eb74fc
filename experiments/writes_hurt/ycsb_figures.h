// Figures 7 and 8 and Tables 3 and 4; see figures.h. `on` says on which medium.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace nvcache::writes_hurt {

nlohmann::json figure7(const nlohmann::json& document, const std::string& on);
nlohmann::json figure8_gain(const nlohmann::json& document, const std::string& on);
nlohmann::json figure8_hits(const nlohmann::json& document, const std::string& on);
nlohmann::json figure_table3(const nlohmann::json& document);
nlohmann::json figure_table4();

}  // namespace nvcache::writes_hurt
