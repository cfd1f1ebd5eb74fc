#include "experiments/reproduce/reproduce_command.h"

#include <algorithm>
#include <memory>

#include "apps/command/command_page.h"
#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/reproduce_run.h"

namespace nvcache {
namespace {

using reproduce::Options;

constexpr char kExamples[] = R"(Examples:
  # all that needs no other results: simulations, a model, a small run; some minutes
  nvcache bench reproduce --output reproduce.md

  # what needs no run: settings, prices, the emulated media's curves
  nvcache bench reproduce --no-runs

  # the whole page, from results of the other experiments
  nvcache bench writes-hurt --json results/writes_hurt.json
  nvcache bench hybrid-cache --json results/hybrid_cache.json
  nvcache bench nvmcached --json results/nvmcached.json
  nvcache bench reproduce --results results --output reproduce.md --json reproduce.json

  # one paper's numbers
  nvcache bench reproduce --only nvmcached

Each number gets a verdict: within 25%, direction, not; input (our code was given it, or a parameter
was fitted to it), not measured. The page says how they are judged.
Exit codes: 0 done, whatever the verdicts; 1 failed; 2 the command line or a result is wrong;
130 interrupted (nothing is written).)";

Status understand(Options& options) {
  const auto names = reproduce::selections();
  if (!options.only.empty() && std::find(names.begin(), names.end(), options.only) == names.end()) {
    return invalid_argument("--only {}: allowed are {}", options.only, fmt::join(names, ", "));
  }
  if (Status status = check_writable("--output", options.page_path); !status.ok()) {
    return status;
  }
  return options.files.check();
}

Status bench(const Options& options) {
  const auto document = reproduce::run_reproduce(options, system_clock());
  if (!document.ok()) return document.status();
  if (Status status = options.files.write(*document); !status.ok()) return status;
  const std::string page = reproduce::markdown_page(*document);
  if (options.page_path.empty()) {
    print_to(stdout, "{}", page);
    return ok_status();
  }
  if (Status status = write_file_whole(options.page_path, page); !status.ok()) return status;
  print_to(stdout, "page:    {}\n", options.page_path);
  options.files.print_paths();
  print_to(stdout, "{}\n", reproduce::summary_line(*document));
  return ok_status();
}

}  // namespace

void add_reproduce_command(CLI::App& group, const std::string& command) {
  CLI::App* app =
      group.add_subcommand("reproduce", "Every number of the papers beside ours, with a verdict");
  app->footer(kExamples);
  auto options = std::make_shared<Options>();
  options->command = command;
  app->add_option("--only", options->only, "What of it; default: all")
      ->type_name(choices(reproduce::selections()));
  app->add_option("--results", options->results,
                  "Folder of what 'nvcache bench writes-hurt', 'hybrid-cache' and 'nvmcached' "
                  "wrote by --json")
      ->type_name("FOLDER");
  app->add_option("--scale", options->scale,
                  "Simulations hold 1/SCALE of the paper's sizes and time; smaller is slower")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  bool& runs = options->runs;
  app->add_flag_callback(
      "--no-runs", [&runs] { runs = false; },
      "Leave out the simulations, the model and the small run, made where --results has none");
  app->add_option("--output", options->page_path, "Write the page here; default: standard output")
      ->type_name("FILE");
  app->add_option("--json", options->files.json_path, "Write all results here")->type_name("FILE");
  app->add_option("--html", options->files.html_path, "Write a report with the tables here")
      ->type_name("FILE");
  on_command(*app, "nvcache bench reproduce", [options] {
    const Status status = understand(*options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
