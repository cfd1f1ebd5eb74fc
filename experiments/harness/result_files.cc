#include "experiments/harness/result_files.h"

#include <algorithm>
#include <utility>

#include "apps/command/output_file.h"
#include "apps/report/figure_tables.h"
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

Status publish(const nlohmann::json& document, const ResultFiles& files) {
  if (Status status = files.write(document); !status.ok()) return status;
  const auto tables = figures::figure_tables(document);
  if (!tables.ok()) return tables.status();
  print_to(stdout, "{}", *tables);
  files.print_paths();
  const nlohmann::json& runs = document.at("runs");
  const bool any_failed = std::any_of(
      runs.begin(), runs.end(), [](const nlohmann::json& run) { return run.contains("error"); });
  return any_failed ? internal_error("some runs failed") : ok_status();
}

}  // namespace nvcache
