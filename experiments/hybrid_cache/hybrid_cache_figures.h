// The figures and tables of *Hybrid Cache* (ATC '21, section 6) from the runs of a
// document, each beside what *Hybrid Cache* says. Laid out as those of `bench writes-hurt`
// (experiments/writes_hurt/writes_hurt_figures.h).
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache::hybrid_cache {

// `document` has "setup" and "runs"; figures that were not asked for, or that have no
// runs, are left out.
nlohmann::json make_figures(const nlohmann::json& document);

}  // namespace nvcache::hybrid_cache
