#include "apps/nvcache/top_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "apps/command/on_command.h"
#include "apps/command/progress.h"
#include "apps/nvcache/top_figures.h"
#include "apps/nvcache/top_report.h"
#include "apps/nvcache/top_screen.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr int kSliceMs = 100;  // how late Ctrl-C and another size of the terminal may be noticed

constexpr const char* kFooter = R"(Examples:
  nvcache top /tmp/nvcache-1234.json
  nvcache top stats.json http://127.0.0.1:9150 --once
  nvcache top stats.json --drive-writes 600TB
  nvcache top stats.json --json --interval 10

Shows hits, lookups, reads and writes, evictions, refusals by reason, and whether each medium is
well, of every source: a file that a program writes its statistics to (NVCACHE_STATS_JSON and
NVCACHE_STATS_PROMETHEUS under RocksDB, stats= under WiredTiger, stats().to_json() in C++,
nvcache_stats_json() in C), or the metrics port of nvcached (--metrics-port), which also
tells how long requests took and which prefixes of keys they asked for. On a terminal it is
drawn again until Ctrl-C. Rates are those between the last two times that a file was written;
until then, and with --once, totals are shown.

A drive is worn out once --drive-writes are written: what its maker allows (TBW) less what it has
taken (smartctl -A). How many days that takes is reckoned from what the cache wrote since the first
reading; a drive itself writes more than it is told to.
Exit codes: 0 done, 1 a source cannot be read, 2 wrong command line, 130 interrupted.)";

struct Arguments {
  std::vector<std::string> sources;
  std::string drive_writes;
  double interval_seconds = 2;
  uint64_t rounds = 0;  // 0: until Ctrl-C
  bool once = false;
  bool json = false;
};

void read_all(std::vector<Watched>* all) {
  for (Watched& each : *all) {
    StatusOr<StatsReading> reading = read_stats(each.source());
    if (reading.ok()) {
      each.take(*std::move(reading));
    } else {
      each.fail(reading.status());
    }
  }
}

std::vector<std::string> lines_of(const std::vector<Watched>& all) {
  std::vector<std::string> lines;
  for (const Watched& each : all) {
    if (!lines.empty()) lines.emplace_back();
    const std::vector<std::string> some =
        each.has_reading() ? top_lines(each.figures(unix_seconds())) : unread_lines(each.error());
    lines.insert(lines.end(), some.begin(), some.end());
  }
  return lines;
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    print_to(stdout, "{}\n", fitted(line, std::numeric_limits<size_t>::max()));
  }
  std::fflush(stdout);
}

void draw(const std::vector<Watched>& all, double interval_seconds, const ScreenSize& size) {
  std::vector<std::string> lines = lines_of(all);
  const std::string title =
      fmt::format("nvcache top: {} every {:g} s, {}; Ctrl-C ends it",
                  all.size() == 1 ? "1 source" : fmt::format("{} sources", all.size()),
                  interval_seconds, utc_now());
  lines.insert(lines.begin(), {title, ""});
  TopScreen::draw(lines, size);
}

void print_json(const std::vector<Watched>& all) {
  using nlohmann::json;
  json line = {{"format", "nvcache.top/1"}, {"time", utc_now()}, {"sources", json::array()}};
  for (const Watched& each : all) {
    json source = each.has_reading() ? top_json(each.figures(unix_seconds()))
                                     : json({{"source", each.source()}});
    if (!each.error().empty()) source["error"] = each.error();
    line["sources"].push_back(std::move(source));
  }
  print_to(stdout, "{}\n", line.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
}

// Until the next round, or Ctrl-C. Calls resized() when the terminal has another size.
template <typename Resized>
void wait(double seconds, bool on_screen, Resized resized) {
  const Clock& clock = system_clock();
  const uint64_t began_ns = clock.now_ns();
  ScreenSize drawn = on_screen ? TopScreen::size() : ScreenSize{};
  for (;;) {
    const double left = seconds - seconds_between(began_ns, clock.now_ns());
    if (left <= 0 || interrupted()) return;
    ::poll(nullptr, 0, std::min(kSliceMs, static_cast<int>(left * 1000) + 1));
    if (!on_screen) continue;
    const ScreenSize size = TopScreen::size();
    if (size == drawn) continue;
    drawn = size;
    resized(size);
  }
}

// The first error of a source that cannot be read; the others go to standard error.
Status errors_of(const std::vector<Watched>& all) {
  Status first;
  for (const Watched& each : all) {
    if (each.error().empty()) continue;
    if (!first.ok()) print_to(stderr, "nvcache top: {}\n", each.error());
    if (first.ok()) first = unavailable_error(each.error());
  }
  return first;
}

Status watch(const Arguments& arguments, std::vector<Watched>* all) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const uint64_t rounds = arguments.once                                       ? 1
                          : arguments.rounds > 0 || terminal || arguments.json ? arguments.rounds
                                                                               : 1;
  const bool on_screen = terminal && !arguments.json && !arguments.once;
  std::unique_ptr<TopScreen> screen;
  if (on_screen) screen = std::make_unique<TopScreen>();
  const auto draw_at = [&](const ScreenSize& size) {
    draw(*all, arguments.interval_seconds, size);
  };
  for (uint64_t round = 1;; ++round) {
    read_all(all);
    if (arguments.json) {
      print_json(*all);
    } else if (on_screen) {
      draw_at(TopScreen::size());
    } else if (std::any_of(all->begin(), all->end(),
                           [](const Watched& each) { return each.has_reading(); })) {
      print_lines(lines_of(*all));
    }
    if (std::ferror(stdout) != 0) return ok_status();  // told at the end; nothing more can be
    if (round == rounds) break;
    wait(arguments.interval_seconds, on_screen, draw_at);
    if (interrupted()) return check_not_interrupted();
  }
  screen.reset();
  if (on_screen) print_lines(lines_of(*all));  // the last one stays
  return errors_of(*all);
}

Status run(const Arguments& arguments) {
  double drive_writes = 0;
  if (!arguments.drive_writes.empty()) {
    const StatusOr<uint64_t> bytes = parse_size_bytes(arguments.drive_writes);
    if (!bytes.ok() || *bytes == 0) {
      return invalid_argument("--drive-writes '{}'; allowed: a size above 0, such as 600TB",
                              arguments.drive_writes);
    }
    drive_writes = static_cast<double>(*bytes);
  }
  std::vector<Watched> all;
  for (const std::string& source : arguments.sources) all.emplace_back(source, drive_writes);
  return watch(arguments, &all);
}

}  // namespace

void add_top_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("top", "Show what caches do, from the statistics that programs write");
  command->footer(kFooter);
  command
      ->add_option(
          "statistics", arguments->sources,
          "Files of statistics, JSON or Prometheus text; or http://HOST:PORT of a metrics port")
      ->required();
  command->add_option("--interval", arguments->interval_seconds, "Seconds between two readings")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  command->add_flag("--once", arguments->once,
                    "Print once and end; so it is where standard output is no terminal");
  command->add_option("--rounds", arguments->rounds, "End after so many readings; 0: at Ctrl-C")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print a line of JSON for each reading");
  command->add_option("--drive-writes", arguments->drive_writes,
                      "Bytes that may still be written to the drive: tells how many days it lasts");
  on_command(*command, "nvcache top", [arguments] { return run(*arguments); });
}

}  // namespace nvcache
