// The program nvbench, which `nvcache bench` runs: registers every experiment.
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "apps/command/command_line.h"
#include "apps/command/command_page.h"
#include "apps/command/exit_code.h"
#include "apps/command/interrupt.h"
#include "base/descriptors.h"
#include "experiments/hybrid_cache/hybrid_cache_command.h"
#include "experiments/java/java_command.h"
#include "experiments/nvmcached/nvmcached_command.h"
#include "experiments/reproduce/reproduce_command.h"
#include "experiments/run/ycsb_command.h"
#include "experiments/simulate/simulate_command.h"
#include "experiments/writes_hurt/writes_hurt_command.h"

namespace {

constexpr char kProgram[] = "nvbench";
constexpr char kAbout[] =
    R"(nvbench runs storage engines and stores with and without nvcache, in turn, and compares.
`nvcache bench` is the same program.

Emulated media and storage are memory whose costs come from a model: results name them so. Run it
on an idle machine. A run that is interrupted removes its temporary files.)";

nvcache::PageFacts page_facts() {
  return {.name = kProgram,
          .synopsis = {"nvbench EXPERIMENT [OPTION]...", "nvcache bench EXPERIMENT [OPTION]..."},
          .about = kAbout,
          .sections = {{"ENVIRONMENT",
                        "",
                        {{"TMPDIR", "Where temporary databases lie; else in /var/tmp."},
                         {"JAVA_HOME", "The JDK of flink and kafka-streams; else that of PATH."}}}},
          .see_also = {"nvcache(1)", "nvcached(1)"},
          .forwarded = {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (!nvcache::fill_standard_streams()) return nvcache::kExitFailed;
  // `nvcache bench` runs this program under that name.
  const bool as_subcommand = argc > 0 && std::string_view(argv[0]) == "nvcache bench";
  const std::string program = as_subcommand ? "nvcache bench" : kProgram;
  CLI::App app{"Runs a benchmark on a storage engine, or a paper's evaluation", program};
  app.set_version_flag("--version", program + " " NVCACHE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  nvcache bench ycsb --workload c --cache none --compare "
      "'nvcache://?size=512MiB&medium=dram'\n"
      "  nvcache bench nvmcached --quick --json quick.json --html quick.html\n"
      "  nvcache bench simulate --workload c --config none,nvcache --nvram 64GiB\n\n"
      "'nvcache bench EXPERIMENT --help' tells more.\n"
      "Exit codes: 0 done; 1 failed; 2 wrong command line; 130 interrupted.");
  nvcache::watch_for_interrupt();
  const std::string command = nvcache::command_line(program, argc, argv);
  nvcache::add_ycsb_command(app, command);
  nvcache::add_writes_hurt_command(app, command);
  nvcache::add_hybrid_cache_command(app, command);
  nvcache::add_profile_command(app, command);
  nvcache::add_nvmcached_command(app, command);
  nvcache::add_java_commands(app, command);
  nvcache::add_reproduce_command(app, command);
  nvcache::add_simulate_command(app, command);
  nvcache::add_generate_option(app, page_facts());
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {
    return nvcache::exit_code_after_printing(error.get_exit_code());
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error) == 0 ? nvcache::kExitOk : nvcache::kExitUsage;
    return nvcache::exit_code_after_printing(code);
  }
  return nvcache::exit_code_after_printing(nvcache::kExitOk);
}
