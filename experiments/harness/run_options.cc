#include "experiments/harness/run_options.h"

#include "base/text.h"

namespace nvcache {

Status RunOptions::check() const {
  if (keep_db && db.empty()) return invalid_argument("--keep-db needs --db: where to keep them");
  return files.check();
}

void define_run_times(CLI::App& app, RunOptions& options, double least_seconds) {
  app.add_option("--rounds", options.rounds,
                 "Runs of each configuration; the report has medians and spreads")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "Measured seconds of each run")
      ->check(CLI::Range(least_seconds, 86400.0))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup_seconds, "Seconds before them, to warm the caches")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
}

void define_seed(CLI::App& app, RunOptions& options) {
  app.add_option("--seed", options.seed, "Seed of keys, values and operations")
      ->capture_default_str();
}

void define_run_files(CLI::App& app, RunOptions& options) {
  app.add_option("--db", options.db,
                 "Folder for the databases; default: a temporary one in $TMPDIR or /var/tmp")
      ->type_name("FOLDER");
  app.add_flag("--keep-db", options.keep_db,
               "Leave the loaded databases in --db for the next time");
  app.add_option("--json", options.files.json_path, "Write all results here")->type_name("FILE");
  app.add_option("--html", options.files.html_path, "Write a report with charts here")
      ->type_name("FILE");
}

}  // namespace nvcache
