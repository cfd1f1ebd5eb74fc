#include "apps/nvcache/calibrate_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "apps/command/command_page.h"
#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "apps/nvcache/calibrate.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "base/virtual_clock.h"
#include "medium/medium.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr uint64_t kQuietNs = 2'000'000'000;  // shorter runs show no progress

constexpr const char* kExamples = R"(
Examples:
  nvcache calibrate emulated:optane
  nvcache calibrate dram --readers 1 --writers 1
  nvcache calibrate file:/mnt/nvme,io=direct --size 4GiB --json nvme.json

Emulated media run in virtual time unless --real-time is given: their figures
do not depend on this machine. docs/design/model.md has model and formula.
Exit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted.)";

// "file:PATH" and its like.
std::vector<std::string> media_names() {
  std::vector<std::string> names;
  for (const MediumRow& row : kMedia) names.push_back(fmt::format("{}{}", row.prefix, row.place));
  return names;
}

struct Arguments {
  std::string medium;
  std::string size = "256MiB";
  std::string block = "16KiB";
  uint32_t readers = 0;  // 0: chosen for the medium
  uint32_t writers = 0;
  double seconds = 0;
  std::string json_path;
  bool real_time = false;
};

StatusOr<uint64_t> parse_size(std::string_view option, const std::string& text, uint64_t largest) {
  const auto size_bytes = parse_size_bytes(text);
  if (!size_bytes.ok()) {
    return invalid_argument("{}: {}", option, size_bytes.status().message());
  }
  if (*size_bytes == 0 || *size_bytes > largest) {
    return invalid_argument("{}: '{}' given; allowed: 1 to {} bytes", option, text, largest);
  }
  return *size_bytes;
}

// Threads that load and store need a core each; otherwise the figures show how cores are shared.
// Threads that wait for a device, or for virtual time, do not.
uint32_t threads_of_a_kind(const Traits& traits, bool virtual_time) {
  constexpr uint32_t kThreads = 8;
  if (virtual_time || (traits.is_device && !traits.emulated)) return kThreads;
  return std::clamp(std::thread::hardware_concurrency() / 2, 1u, kThreads);
}

CalibrationOptions make_options(const Arguments& arguments, uint64_t block_bytes,
                                uint32_t threads) {
  CalibrationOptions options{
      .readers = arguments.readers > 0 ? arguments.readers : threads,
      .max_writers = arguments.writers > 0 ? arguments.writers : threads,
      .block_bytes = static_cast<uint32_t>(block_bytes),
      .point_ns = static_cast<uint64_t>(arguments.seconds * 1e9),
      .progress = {},
  };
  const uint64_t started_ns = system_clock().now_ns();
  const bool slow = arguments.real_time || !names_emulated_medium(arguments.medium);
  options.progress = [started_ns, slow](const std::string& step) {
    if (slow || system_clock().now_ns() - started_ns > kQuietNs) {
      print_to(stderr, "calibrate: {} ...\n", step);
    }
    return check_not_interrupted();
  };
  return options;
}

Status write_json(const std::string& path, const CalibrationResult& result) {
  nlohmann::json json = calibration_json(result);
  json["machine"] = machine_facts();
  json["made"] = utc_now();
  return write_file_whole(path, json.dump(2) + "\n");
}

Status run(const Arguments& arguments) {
  const auto size_bytes = parse_size("--size", arguments.size, uint64_t{1} << 50);
  if (!size_bytes.ok()) return size_bytes.status();
  const auto block_bytes = parse_size("--block", arguments.block, uint64_t{1} << 30);
  if (!block_bytes.ok()) return block_bytes.status();
  if (Status status = check_writable("--json", arguments.json_path); !status.ok()) {
    return status;
  }
  // Real media take real time, whatever clock they are opened with.
  VirtualClock virtual_clock;
  const bool virtual_time = names_emulated_medium(arguments.medium) && !arguments.real_time;
  Clock& clock = virtual_time ? static_cast<Clock&>(virtual_clock) : system_clock();
  const auto medium = open_medium(arguments.medium, {.size_bytes = *size_bytes}, clock);
  if (!medium.ok()) return medium.status();
  const uint32_t threads = threads_of_a_kind((*medium)->traits(), virtual_time);
  const auto result = calibrate(**medium, clock, make_options(arguments, *block_bytes, threads));
  if (!result.ok()) return result.status();
  print_to(stdout, "{}\n{}", calibration_table(*result), calibration_chart(*result));
  return arguments.json_path.empty() ? ok_status() : write_json(arguments.json_path, *result);
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure how writes hurt the reads of a medium; suggest an OBP target");
  command->footer("Media:\n" + media_help() + kExamples);
  command->add_option("medium", arguments->medium, "Medium to measure; its bytes are overwritten")
      ->required()
      ->type_name(choices(media_names()));
  command->add_option("--size", arguments->size, "How much of the medium to use")
      ->capture_default_str()
      ->type_name("SIZE");
  command->add_option("--block", arguments->block, "Size of one access")
      ->capture_default_str()
      ->type_name("SIZE");
  command
      ->add_option("--readers", arguments->readers,
                   "Reading threads (default: 8; for memory, half the cores)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--writers", arguments->writers,
                   "Most writing threads; measures 0, 1, 2, 4 ... N (default: the same)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--seconds", arguments->seconds,
                   "Length of each point (default: 1 in real time, chosen in virtual time)")
      ->check(CLI::Range(0.001, 3600.0));
  command->add_option("--json", arguments->json_path, "Also write the result to this file")
      ->type_name("FILE");
  command->add_flag("--real-time", arguments->real_time,
                    "Run emulated media in real time: waits spin, one core per thread");
  on_command(*command, "nvcache calibrate", [arguments] { return run(*arguments); });
}

}  // namespace nvcache
