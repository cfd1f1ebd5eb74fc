// Compares the papers' numbers with ours and makes one JSON document of it, laid out as those of
// the other experiments are, so that reports show it: kind "paper", schema 1, format
// "nvcache.reproduce/1".
//
//   setup{}     what was asked for, the documents that were used, notes
//   summary{}   numbers, direction_right, within, not, inputs, taken, fitted, not_measured
//   results[]   in the order of paper_results.csv: id, paper, where, quantity, condition,
//               published{value, unit}, basis, verdict, reason, findings[]; a finding has source,
//               parts[[low, high]], order (or null), how, verdict; the first one decides
//   memory_mode_spread[]  see simulations.h
//   own_runs[]  the documents that the command made itself; none if only a part was asked for
//   figures[]   a table for each paper (apps/report/figure_parts.h)
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "experiments/harness/result_files.h"
#include "experiments/reproduce/evidence.h"
#include "experiments/reproduce/rows.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

struct Options {
  std::string only;       // a name of selections(); empty: all
  std::string results;    // a folder; empty: none
  bool runs = true;       // own ones, where no results have them
  uint32_t scale = 512;   // of the simulations among them
  std::string page_path;  // empty: standard output
  ResultFiles files;
  std::string command;  // as typed
};

// "memory-mode", "writes-hurt", "hybrid-cache", "nvmcached".
std::vector<std::string> selections();

// Compares. INVALID_ARGUMENT if a document has not the form that its format promises. INTERNAL if
// the table and the rows do not have the same ids.
[[nodiscard]] StatusOr<nlohmann::json> compare(const std::vector<PaperResult>& table,
                                               const std::vector<Row>& rows,
                                               const Evidence& evidence, const Options& options);

// Collects the evidence, makes the own runs, and compares. CANCELLED when interrupted.
[[nodiscard]] StatusOr<nlohmann::json> run_reproduce(const Options& options, const Clock& clock);

}  // namespace nvcache::reproduce
