// Simulations as evidence of `nvcache bench reproduce`: they run with progress shown, and become a
// document of the form that results of a paper's command have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "experiments/simulate/study.h"
#include "nlohmann/json.hpp"
#include "nvcache/status.h"

namespace nvcache::reproduce {

// On all processors. `what` says in the progress bar of what the share is. Ctrl-C ends it with
// CANCELLED.
[[nodiscard]] Status carry_out(std::vector<simulate::Run>& runs, const std::string& what,
                               const Clock& clock);

// `setup` is more of the setup: sizes, clients, minutes.
nlohmann::json simulation_document(std::string_view format, const std::string& command,
                                   const nlohmann::json& setup, nlohmann::json runs);

}  // namespace nvcache::reproduce
