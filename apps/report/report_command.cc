#include "apps/report/report_command.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "apps/report/figure_tables.h"
#include "apps/report/html.h"
#include "apps/report/table.h"
#include "base/print.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr char kExamples[] = R"(Examples:
  nvcache report out.json                          # the tables again
  nvcache report out.json optane.json --html both.html

Reads what 'nvcache bench', 'nvcache calibrate' and 'nvcache replay' wrote with --json.
Exit codes: 0 done; 1 failed; 2 the command line or a file is wrong.)";

StatusOr<json> read_document(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid_argument("{}: cannot be read", path);
  json document = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return invalid_argument("{}: is not JSON", path);
  if (Status status = check_report_document(document); !status.ok()) {
    return invalid_argument("{}: {}", path, status.message());
  }
  return document;
}

Status report(const std::vector<std::string>& paths, const std::string& html_path) {
  if (Status status = check_writable("--html", html_path); !status.ok()) return status;
  std::vector<json> documents;
  for (const std::string& path : paths) {
    auto document = read_document(path);
    if (!document.ok()) return document.status();
    documents.push_back(*std::move(document));
  }
  if (html_path.empty()) {
    for (const json& document : documents) {
      // Their commands print their tables.
      if (document["kind"] == "calibration" || document["kind"] == "replay") continue;
      const auto tables =
          document["kind"] == "paper" ? figures::figure_tables(document) : ycsb_tables(document);
      if (!tables.ok()) return tables.status();
      print_to(stdout, "{}", *tables);
    }
    return ok_status();
  }
  const auto html = report_html(documents);
  if (!html.ok()) return html.status();
  if (Status status = write_file_whole(html_path, *html); !status.ok()) return status;
  print_to(stdout, "report: {}\n", html_path);
  return ok_status();
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "Tables and an HTML report with charts from JSON results");
  command->footer(kExamples);
  auto paths = std::make_shared<std::vector<std::string>>();
  auto html_path = std::make_shared<std::string>();
  command->add_option("json", *paths, "Results written by --json")->required()->type_name("FILE");
  command->add_option("--html", *html_path, "Write the report here (else: tables on stdout)")
      ->type_name("FILE");
  on_command(*command, "nvcache report", [paths, html_path] { return report(*paths, *html_path); });
}

}  // namespace nvcache
