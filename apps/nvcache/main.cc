// The command `nvcache`: registers every subcommand.
#include <string_view>

#include "CLI/CLI.hpp"
#include "apps/command/command_page.h"
#include "apps/command/exit_code.h"
#include "apps/command/interrupt.h"
#include "apps/nvcache/bench_command.h"
#include "apps/nvcache/calibrate_command.h"
#include "apps/nvcache/inspect_command.h"
#include "apps/nvcache/replay_command.h"
#include "apps/nvcache/top_command.h"
#include "apps/report/report_command.h"
#include "base/descriptors.h"
#include "base/print.h"

namespace {

constexpr char kExamples[] = R"(Examples:
  nvcache bench ycsb --workload c --cache none --compare 'nvcache://?size=512MiB&medium=dram'
  nvcache calibrate emulated:optane
  nvcache inspect /mnt/nvme/cache
  nvcache replay trace.lis.zst
  nvcache report out.json --html out.html
  nvcache bench simulate --workload c --config none,nvcache,memory-mode --nvram 64GiB
  nvcache top http://127.0.0.1:9150/metrics

'nvcache COMMAND --help' says more.
Exit codes: 0 done; 1 failed; 2 wrong command line; 130 interrupted.)";

constexpr char kAbout[] =
    R"(nvcache measures media and traces, and shows what caches left. The caches themselves are a
library, extensions of storage engines, and the server nvcached(1).

A medium is written dram, file:PATH, nvme:DEVICE, numa:NODE or emulated:PROFILE, everywhere. A
size has a unit: 512MiB. Emulated media and storage are memory whose costs come from a model.)";

nvcache::PageFacts page_facts() {
  return {.name = "",
          .synopsis = {"nvcache COMMAND [OPTION]...", "nvcache COMMAND --help"},
          .about = kAbout,
          .sections = {{"ENVIRONMENT",
                        "",
                        {{"PATH", "Where nvbench is, if it does not lie beside nvcache."}}}},
          .see_also = {"nvbench(1)", "nvcached(1)"},
          .forwarded = nvcache::forwarded_to_nvbench()};
}

}  // namespace

int main(int argc, char** argv) {
  if (!nvcache::fill_standard_streams()) return nvcache::kExitFailed;
  if (nvcache::is_bench_command(argc, argv)) return nvcache::exec_nvbench(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "simulate") {
    nvcache::print_to(stderr, "nvcache: simulate is 'nvcache bench simulate' now\n");
    return nvcache::kExitUsage;
  }
  CLI::App app{"nvcache: caches for memory whose writes hurt its reads", "nvcache"};
  app.set_version_flag("--version", "nvcache " NVCACHE_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  nvcache::watch_for_interrupt();
  nvcache::add_bench_command(app);
  nvcache::add_calibrate_command(app);
  nvcache::add_inspect_command(app);
  nvcache::add_replay_command(app);
  nvcache::add_report_command(app);
  nvcache::add_top_command(app);
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
