// Files that the build put into the binary (see embed.cmake).
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace nvcache::embedded {

extern const std::string_view chart_js;     // Chart.js 3, minified, MIT
extern const std::string_view report_html;  // the page, with @NAME@ where parts go
extern const std::string_view report_css;
extern const std::string_view report_js;

using File = std::pair<std::string_view, std::string_view>;  // name, contents
std::span<const File> wtperf_files();                        // of bench/wiredtiger

}  // namespace nvcache::embedded
