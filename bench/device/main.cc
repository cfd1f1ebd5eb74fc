// A block cache with space=regions on a disk beside plain reads and writes, and after a restart.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/print.h"
#include "device/measure.h"
#include "nlohmann/json.hpp"

namespace nvcache::bench {
namespace {

struct Part {
  const char* name;
  Status (*measure)(const Disk&, Figures*);
};
constexpr Part kParts[] = {{"writes", measure_writes},
                           {"hits", measure_hits},
                           {"steady", measure_steady_state},
                           {"restart", measure_restart}};

void show(const Figure& figure) {
  print_to(stdout, "{:<62}{:>11.2f} {:<5}", figure.name, figure.value, figure.unit);
  if (figure.low < figure.high) print_to(stdout, "[{:.2f}..{:.2f}]", figure.low, figure.high);
  print_to(stdout, "\n");
  std::fflush(stdout);
}

bool write_json(const std::string& path, const Figures& figures) {
  nlohmann::json all = nlohmann::json::array();
  for (const Figure& figure : figures.all()) {
    all.push_back({{"name", figure.name},
                   {"unit", figure.unit},
                   {"value", figure.value},
                   {"low", figure.low},
                   {"high", figure.high}});
  }
  std::ofstream file(path);
  file << all.dump(1) << "\n";
  return file.flush().good();
}

int run(int argc, char** argv) {
  Disk disk;
  std::string json;
  std::vector<std::string> parts;
  for (const Part& part : kParts) parts.emplace_back(part.name);
  CLI::App app("A block cache with space=regions beside plain reads and writes of the same disk.");
  app.add_option("folder", disk.folder, "where its files go, on the disk to measure")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--size", disk.size_bytes, "of the cache, and of the plain file beside it")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--blocks", disk.restart_blocks,
                 "of 512 bytes, before the restart (default: a quarter of the size)");
  app.add_option("--rounds", disk.rounds, "of what is compared")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--settings", disk.settings, "more of each cache, such as '&region=4MiB'");
  app.add_option("--only", parts, "these parts, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(parts))
      ->capture_default_str();
  app.add_option("--json", json, "also write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (disk.restart_blocks == 0) disk.restart_blocks = disk.size_bytes / 4 / kSmallBytes;
  Figures figures(show);
  for (const Part& part : kParts) {
    if (std::ranges::find(parts, part.name) == parts.end()) continue;
    if (const Status measured = part.measure(disk, &figures); !measured.ok()) {
      print_to(stderr, "{}: {}\n", part.name, std::string(measured.message()));
      return 1;
    }
  }
  if (!json.empty() && !write_json(json, figures)) {
    print_to(stderr, "cannot write {}\n", json);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace nvcache::bench

int main(int argc, char** argv) {
  try {
    return nvcache::bench::run(argc, argv);
  } catch (const std::exception& error) {
    nvcache::print_to(stderr, "{}\n", error.what());
    return 1;
  }
}
