#include "experiments/harness/publish.h"

#include <algorithm>

#include "apps/report/figure_tables.h"
#include "base/print.h"
#include "fmt/format.h"

namespace nvcache {

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
