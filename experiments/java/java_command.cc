#include "experiments/java/java_command.h"

#include <memory>

#include "apps/command/on_command.h"
#include "base/print.h"
#include "base/text.h"
#include "experiments/java/java_options.h"
#include "experiments/java/java_program.h"
#include "experiments/java/java_result.h"
#include "experiments/java/java_run.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using java::Options;
using java::Program;

// {0}: the command's name.
constexpr char kExamples[] = R"(Examples:
  # both cases, five pairs of runs each
  nvcache bench {0} --json {0}.json

  # once, with a tenth of the events
  nvcache bench {0} --quick

  # state that is larger than the DRAM, with the tier on an NVMe drive
  nvcache bench {0} --cases larger --db /mnt/nvme/bench \
    --tiered 'tiered://?tier=(name=shared,size=1GiB,medium=file:/mnt/nvme/tier,io=direct)'

Cases: larger, whose state is several times the DRAM and is read directly from the disk; fits, whose
state fits in DRAM. Both kinds of runs have the same DRAM; the lower tier comes on top of it.
Needs a JDK (script/setup --for jvm), the jars (script/rocksdb_jni), and libnvcache_jvm.so.
Exit codes: 0 done; 1 a run failed, or sent something else; 2 the command line is wrong;
130 interrupted (the program is ended, its files are removed, nothing is written).)";

struct RawOptions {
  std::vector<std::string> cases{"larger", "fits"};
  bool quick = false;
};

void define_options(CLI::App& app, const Program& program, Options& options, RawOptions& raw) {
  app.add_option("--cases", raw.cases, "Cases, run in this order")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("{larger,fits}");
  app.add_option("--pairs", options.pairs,
                 "Runs of each case without and with nvcache, in turn; the table has medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--keys", options.keys, "Keys in each store; default: the case's")
      ->check(CLI::Range(uint64_t{100}, uint64_t{100'000'000}));
  app.add_option("--warm", options.warm, "Events before those measured; default: the case's")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app.add_option("--events", options.events, "Measured events of each run; default: the case's")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app.add_option("--tiered", options.tiered,
                 "What NVCACHE_TIERED says in runs with nvcache; default: " + program.tiered);
  app.add_flag("--quick", raw.quick, "One pair, a tenth of the events; an option given wins");
  app.add_option("--library", options.library,
                 "libnvcache_jvm.so; default: the one built or installed with this command")
      ->type_name("FILE");
  app.add_option("--jars", options.jars,
                 "The folder that script/rocksdb_jni --root prints; default: that of the build")
      ->type_name("FOLDER");
  app.add_option("--db", options.db,
                 "Folder for the state; default: a temporary one in $TMPDIR or /var/tmp")
      ->type_name("FOLDER");
  app.add_option("--limit", options.limit_seconds, "Seconds after which a run has failed")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  app.add_option("--json", options.files.json_path, "Write all results here")->type_name("FILE");
}

Status understand(const CLI::App& app, const Program& program, const RawOptions& raw,
                  Options& options) {
  options.cases = raw.cases;
  if (raw.quick) {
    options.divisor = 10;
    if (app.count("--pairs") == 0) options.pairs = 1;
  }
  if (const auto cases = chosen_cases(program, options); !cases.ok()) return cases.status();
  return options.files.check();
}

Status bench(const Program& program, const Options& options) {
  const auto document = java::run_java(program, options, system_clock());
  if (!document.ok()) return document.status();
  // The results are complete: a late Ctrl-C must not throw them away.
  if (Status status = options.files.write(*document); !status.ok()) return status;
  const auto tables = java::java_tables(*document);
  if (!tables.ok()) return tables.status();
  print_to(stdout, "{}", *tables);
  options.files.print_paths();
  return ok_status();
}

void add_command(CLI::App& group, const Program& program, const std::string& what,
                 const std::string& command) {
  CLI::App* app = group.add_subcommand(program.command, what);
  app->footer(fmt::format(kExamples, program.command));
  auto options = std::make_shared<Options>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_options(*app, program, *options, *raw);
  on_command(*app, "nvcache bench " + program.command, [app, &program, options, raw] {
    const Status status = understand(*app, program, *raw, *options);
    return status.ok() ? bench(program, *options) : status;
  });
}

}  // namespace

void add_java_commands(CLI::App& group, const std::string& command) {
  add_command(group, java::flink(),
              "A Flink job with keyed state in RocksDB, with and without nvcache", command);
  add_command(group, java::kafka_streams(), "A Kafka Streams application, with and without nvcache",
              command);
}

}  // namespace nvcache
