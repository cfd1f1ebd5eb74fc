// The figures and tables of the hybrid cache paper (ATC '21, section 6) from the runs of a
// document, each beside what the paper says. Laid out as those of `bench writes-hurt`
// (cli/bench/paper/figures.h).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache::hybrid_cache {

// `document` has "setup" and "runs"; figures that were not asked for, or that have no
// runs, are left out.
nlohmann::json make_figures(const nlohmann::json& document);

}  // namespace nvcache::hybrid_cache
