// The runs of a study as JSON, as tables for a terminal, and as a page. All of them say that what
// they show is simulated, and at which scale. The same runs give the same text. Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/study.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache::simulate {

// {"kind": "simulation", "schema": 1, "simulated": true, "version", "command", "runs": [...]}: of
// each run `options` and `result`, by the names of simulate.h.
nlohmann::json document(const std::vector<Run>& runs, const std::string& command);

// One table a workload, a row for each NVRAM and configuration. Of several seeds the medians, and
// the standard deviation of their throughputs over the mean. "Deviation over time" is that of the
// intervals of the second half.
std::string text_tables(const std::vector<Run>& runs);  // at most 100 columns
std::string markdown_tables(const std::vector<Run>& runs);

// The largest deviations of any workload, by NVRAM and configuration; empty for one seed.
std::string spread_table(const std::vector<Run>& runs);

// The tables as a page, with what is modelled, where each parameter comes from, and what is not
// modelled.
std::string page(const std::vector<Run>& runs, const std::string& command);

// The introduction of the page of an engine above a second tier: the real `cache`. Its tables
// compare with `base`, DRAM alone.
std::string introduction_of_tiers(std::string_view engine, std::string_view cache,
                                  std::string_view base, const Options& options,
                                  const std::string& command);

// page_end.txt and store_page_end.txt, put into the binary by cmake/embed.cmake.
std::string_view page_end();
std::string_view store_page_end();

}  // namespace nvcache::simulate
