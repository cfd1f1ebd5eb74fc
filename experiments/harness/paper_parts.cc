#include "experiments/harness/paper_parts.h"

#include "apps/command/machine.h"
#include "base/text.h"

namespace nvcache {

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

nlohmann::json paper_document(const char* format, const std::string& command) {
  return {{"kind", "paper"},
          {"schema", 1},
          {"format", format},
          {"nvcache", NVCACHE_VERSION},
          {"command", command},
          {"finished", utc_now()},
          {"machine", machine_facts()},
          {"configurations", nlohmann::json::array()},
          {"runs", nlohmann::json::array()}};
}

}  // namespace nvcache
