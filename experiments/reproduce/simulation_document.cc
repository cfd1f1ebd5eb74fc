#include "experiments/reproduce/simulation_document.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "apps/command/interrupt.h"
#include "apps/command/progress.h"

namespace nvcache::reproduce {

using nlohmann::json;

Status carry_out(std::vector<simulate::Run>& runs, const std::string& what, const Clock& clock) {
  Progress progress(clock);
  return simulate::carry_out(runs, std::max(1u, std::thread::hardware_concurrency()),
                             [&](double share) -> Status {
                               progress.update(share, what);
                               return check_not_interrupted();
                             });
}

json simulation_document(std::string_view format, const std::string& command, const json& setup,
                         json runs) {
  json whole{{"medium", "optane"}, {"emulated", true}};
  whole.update(setup);
  return {{"kind", "paper"},
          {"schema", 1},
          {"format", format},
          {"command", command},
          {"configurations", json::array()},
          {"figures", json::array()},
          {"setup", std::move(whole)},
          {"runs", std::move(runs)}};
}

}  // namespace nvcache::reproduce
