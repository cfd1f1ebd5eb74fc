#include "experiments/harness/paper_parts.h"

#include <algorithm>
#include <utility>

#include "apps/command/machine.h"
#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "nvcache/block_cache.h"

namespace nvcache {

using nlohmann::json;

void PaperParts::define(CLI::App& app, const char* option, const std::string& text) {
  option_ = option;
  std::vector<std::string> allowed;
  for (int number = first_; number <= last_; ++number) allowed.push_back(std::to_string(number));
  app.add_option(option, given_, text)
      ->delimiter(',')
      ->type_name(fmt::format("{{{}}}", fmt::join(allowed, ",")));
}

Status PaperParts::take(bool all, std::set<int>* chosen) const {
  for (const int number : given_) {
    if (number < first_ || number > last_) {
      return invalid_argument("{} {}: allowed are {} to {}", option_, number, first_, last_);
    }
    chosen->insert(number);
  }
  for (int number = first_; all && number <= last_; ++number) chosen->insert(number);
  return ok_status();
}

Status check_medium(const std::string& medium) {
  const auto cache = open_block_cache(fmt::format("nvcache://?size=1MiB&medium={}", medium));
  if (cache.ok()) return ok_status();
  return invalid_argument("--medium {}: {}", medium, cache.status().message());
}

json paper_document(const char* format, const std::string& command) {
  return {{"kind", "paper"},
          {"schema", 1},
          {"format", format},
          {"nvcache", NVCACHE_VERSION},
          {"command", command},
          {"finished", utc_now()},
          {"machine", machine_facts()},
          {"configurations", json::array()},
          {"runs", json::array()}};
}

std::string on_medium(const json& setup) {
  return fmt::format("; {} {}", setup.at("emulated").get<bool>() ? "EMULATED" : "on",
                     setup.at("medium").get<std::string>());
}

void PaperFigures::add(const std::string& id, const std::string& title, const char* unit,
                       int digits, bool chart, json columns, json rows,
                       const std::vector<std::string>& notes) {
  const auto [kind, number] = split_once(id, ' ');
  const json& asked = setup_.at(kind == "Figure" ? "figures" : "tables");
  if (std::find(asked.begin(), asked.end(), std::stoi(std::string(number))) == asked.end() ||
      rows.empty()) {
    return;
  }
  json figure = figures::make_figure(id, title, unit, digits, chart);
  figure["columns"] = std::move(columns);
  figure["rows"] = std::move(rows);
  figure["notes"] = notes;
  figures_.push_back(std::move(figure));
}

}  // namespace nvcache
