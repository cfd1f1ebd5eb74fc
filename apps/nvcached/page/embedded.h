// The parts of the page that the metrics port serves, put into the program by the build
// (cmake/embed.cmake). They name no outside resource. Thread-safe: constants.
#pragma once

#include <string_view>

namespace nvcache::server::page {

std::string_view page_html();
std::string_view page_css();
std::string_view draw_js();  // numbers as text, elements, charts
std::string_view page_js();  // what is asked of the server, and where it goes
std::string_view icon_svg();

}  // namespace nvcache::server::page
