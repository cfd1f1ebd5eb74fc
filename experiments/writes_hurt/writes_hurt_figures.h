// The figures and tables of *Writes Hurt* from the runs of a "paper" document.
//
// A figure is {"id": "Figure 4", "title", "unit", "digits", "chart": bool, "columns":
// [name], "rows": [{"label", "cells"}], "notes": [text]}. A cell is null, a text, or
// {"median", "min", "max"} over the rounds; either of the last two may be an object
// with "paper": the published figure as text. "paper" alone: nothing measured.
#pragma once

#include "nlohmann/json_fwd.hpp"

namespace nvcache::writes_hurt {

// `document` has "setup", "runs" and "databases"; figures that were not
// asked for, or that have no runs, are left out.
nlohmann::json make_figures(const nlohmann::json& document);

}  // namespace nvcache::writes_hurt
