#include "experiments/harness/result_files.h"

#include <utility>

#include "apps/command/output_file.h"
#include "apps/report/html.h"
#include "base/print.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {

Status ResultFiles::check() const {
  for (auto [option, path] : {std::pair("--json", json_path), std::pair("--html", html_path)}) {
    if (Status status = check_writable(option, path); !status.ok()) return status;
  }
  return ok_status();
}

Status ResultFiles::write(const nlohmann::json& document) const {
  if (!json_path.empty()) {
    Status status = write_file_whole(json_path, document.dump(1) + "\n");
    if (!status.ok()) return status;
  }
  if (html_path.empty()) return ok_status();
  const auto html = report_html({document});
  return html.ok() ? write_file_whole(html_path, *html) : html.status();
}

void ResultFiles::print_paths() const {
  if (!json_path.empty()) print_to(stdout, "results: {}\n", json_path);
  if (!html_path.empty()) print_to(stdout, "report:  {}\n", html_path);
}

}  // namespace nvcache
