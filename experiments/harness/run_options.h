// The options that experiments with several runs have alike. Value type; caller-locked.
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "experiments/harness/result_files.h"
#include "nvcache/status.h"

namespace nvcache {

struct RunOptions {
  uint32_t rounds = 3;
  double seconds = 10;         // measured, of each run
  double warmup_seconds = 10;  // before them
  uint64_t seed = 1;
  std::string db;  // empty: a temporary folder
  bool keep_db = false;
  ResultFiles files;
  std::string command;  // as typed

  // INVALID_ARGUMENT names the option.
  [[nodiscard]] Status check() const;
};

// --rounds, --seconds, --warmup; the defaults are those of `options`.
void define_run_times(CLI::App& app, RunOptions& options, double least_seconds = 0.1);
// --seed
void define_seed(CLI::App& app, RunOptions& options);
// --db, --keep-db, --json, --html
void define_run_files(CLI::App& app, RunOptions& options);

}  // namespace nvcache
