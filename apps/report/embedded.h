// The parts of a report's page, put into the binary by the build (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace nvcache::embedded {

std::string_view chart_js();     // Chart.js 3, minified, MIT
std::string_view report_html();  // the page, with @NAME@ where parts go
std::string_view report_css();
std::string_view charts_js();  // numbers, elements and charts
std::string_view report_js();  // documents

}  // namespace nvcache::embedded
