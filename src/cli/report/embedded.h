// Files that the build put into the binary (see embed.cmake).
#pragma once

#include <string_view>

namespace nvcache::embedded {

extern const std::string_view chart_js;     // Chart.js 3, minified, MIT
extern const std::string_view report_html;  // the page, with @NAME@ where parts go
extern const std::string_view report_css;
extern const std::string_view report_js;

}  // namespace nvcache::embedded
