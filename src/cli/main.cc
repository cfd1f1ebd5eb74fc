// The command `nvcache`: its subcommands are added by the files that run them.
#include "CLI/CLI.hpp"
#include "cli/bench/ycsb_command.h"
#include "cli/calibrate_command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/report/report_command.h"

namespace {

constexpr char kExamples[] = R"(Examples:
  nvcache bench ycsb --workload c --cache none --compare 'nvcache://?size=512MiB&medium=dram'
  nvcache calibrate modelled:optane
  nvcache report out.json --html out.html

'nvcache COMMAND --help' says more.
Exit codes: 0 done; 1 failed; 2 wrong command line; 130 interrupted.)";

// As typed, words quoted where a shell needs it; the program without its folder.
std::string command_line(int argc, char** argv) {
  std::string line = "nvcache";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$&()*;<>?[]`{|}~#!") == std::string::npos;
    if (plain) {
      line += " " + word;
      continue;
    }
    line += " '";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"nvcache: a second-tier block cache for memory that minds writes", "nvcache"};
  app.set_version_flag("--version", "nvcache " NVCACHE_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  nvcache::watch_for_interrupt();
  nvcache::add_bench_command(app, command_line(argc, argv));
  nvcache::add_calibrate_command(app);
  nvcache::add_report_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? nvcache::kExitOk : nvcache::kExitUsage;
  }
  return nvcache::kExitOk;
}
