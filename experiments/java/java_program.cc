#include "experiments/java/java_program.h"

#include <algorithm>

#include "apps/command/output_file.h"
#include "base/text.h"
#include "experiments/java/java_sources.h"

namespace nvcache::java {
const Program& flink() {
  static const Program program = {.command = "flink",
                                  .name = "Flink 2.1.0",
                                  .main_class = "FlinkJob",
                                  .jar = "jars/frocksdbjni-8.10.0-ververica-1.0.jar",
                                  .jar_folder = "flink-2.1.0",
                                  .flags = {"-Xmx1g", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                                            "--add-opens=java.base/java.util=ALL-UNNAMED"},
                                  .tiered = "tiered://?tier=(name=shared,size=512MiB)",
                                  .cases = {{.name = "larger",
                                             .dram = "16 MiB of managed memory, direct reads",
                                             .keys = 200'000,
                                             .warm = 200'000,
                                             .events = 400'000,
                                             .properties = {"updates=20000", "managed=16777216"},
                                             .direct = true},
                                            {.name = "fits",
                                             .dram = "128 MiB of managed memory",
                                             .keys = 60'000,
                                             .warm = 500'000,
                                             .events = 5'000'000,
                                             .properties = {"updates=20000", "managed=134217728"},
                                             .direct = false}}};
  return program;
}

const Program& kafka_streams() {
  static const Program program = {
      .command = "kafka-streams",
      .name = "Kafka Streams 4.1.1",
      .main_class = "Application",
      .jar = "jars/rocksdbjni-9.7.3.jar",
      .jar_folder = "kafka-streams-4.1.1",
      .flags = {"-Xmx1g"},
      .tiered = "tiered://?tier=(name=shared,size=512MiB)",
      .cases = {{.name = "larger",
                 .dram = "2 MiB of cache for each of five stores, direct reads",
                 .keys = 40'000,
                 .warm = 40'000,
                 .events = 120'000,
                 .properties = {"updates=8000", "queries=0", "cache=2097152"},
                 .direct = true},
                {.name = "fits",
                 .dram = "50 MiB of cache for each of five stores",
                 .keys = 20'000,
                 .warm = 80'000,
                 .events = 500'000,
                 .properties = {"updates=8000", "queries=0", "cache=52428800"},
                 .direct = false}}};
  return program;
}

StatusOr<std::vector<Case>> chosen_cases(const Program& program, const Options& options) {
  std::vector<Case> chosen;
  for (const std::string& name : options.cases) {
    const auto is_it = [&](const Case& each) { return each.name == name; };
    if (std::any_of(chosen.begin(), chosen.end(), is_it)) {
      return invalid_argument("--cases: {} is named twice", name);
    }
    const auto found = std::find_if(program.cases.begin(), program.cases.end(), is_it);
    if (found == program.cases.end()) {
      return invalid_argument("--cases {}: allowed are larger and fits", name);
    }
    Case& each = chosen.emplace_back(*found);
    each.warm = options.warm > 0 ? options.warm : each.warm / options.divisor;
    each.events = options.events > 0 ? options.events : each.events / options.divisor;
    if (options.keys > 0) each.keys = options.keys;
  }
  return chosen;
}

Status write_sources(const std::string& folder) {
  for (const auto& [name, text] : java_sources()) {
    Status status = write_file_whole(fmt::format("{}/{}", folder, name), text);
    if (!status.ok()) return status;
  }
  return ok_status();
}

}  // namespace nvcache::java
