// The command nvcached_bench: compares nvcached with memcached.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "CLI/CLI.hpp"
#include "base/print.h"
#include "comparison.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace {

using nvcache::bench::ComparisonOptions;
using nvcache::bench::Half;
using nvcache::bench::MixResult;
using nvcache::bench::RestartResult;

constexpr char kExamples[] = R"(Examples:
  nvcached_bench --nvcached ./nvcached --memcached /usr/bin/memcached --folder /var/tmp/bench
  nvcached_bench ... --rounds 7 --seconds 1 --json out/nvcached.json
  nvcached_bench ... --rounds 0 --restart-items 10000000)";

void say(const std::string& text) { nvcache::print_to(stderr, "  {}\n", text); }

struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

Spread over(const std::vector<Half>& halves, double Half::*figure) {
  std::vector<double> values;
  for (const Half& half : halves) values.push_back(half.*figure);
  return spread_of(std::move(values));
}

Spread ratios(const MixResult& result) {
  std::vector<double> values;
  for (size_t i = 0; i < result.nvcached.size(); ++i) {
    values.push_back(result.nvcached[i].requests_per_cpu_second /
                     result.memcached[i].requests_per_cpu_second);
  }
  return spread_of(std::move(values));
}

nlohmann::json throughput_table(const std::vector<MixResult>& results) {
  nvcache::print_to(stdout,
                    "\nthousand requests per second of the server's CPU; median of {} pairs\n",
                    results.back().nvcached.size());
  nvcache::print_to(stdout, "{:>8}  {:<6}{:>10}{:>11}{:>8}  {:<14}{:>16}\n", "value", "mix",
                    "nvcached", "memcached", "ratio", "[min..max]", "hits, ours|its");
  nlohmann::json rows = nlohmann::json::array();
  for (const MixResult& each : results) {
    const Spread ours = over(each.nvcached, &Half::requests_per_cpu_second);
    const Spread theirs = over(each.memcached, &Half::requests_per_cpu_second);
    const Spread ratio = ratios(each);
    const double our_hits = over(each.nvcached, &Half::hit_share).median;
    const double their_hits = over(each.memcached, &Half::hit_share).median;
    nvcache::print_to(stdout, "{:>8}  {:<6}{:>10.0f}{:>11.0f}{:>8.2f}  {:<14}{:>8.3f}|{:.3f}\n",
                      each.value_bytes, each.mix, ours.median / 1e3, theirs.median / 1e3,
                      ratio.median, fmt::format("[{:.2f}..{:.2f}]", ratio.low, ratio.high),
                      our_hits, their_hits);
    rows.push_back(
        {{"value_bytes", each.value_bytes},
         {"mix", each.mix},
         {"nvcached_requests_per_cpu_second", ours.median},
         {"memcached_requests_per_cpu_second", theirs.median},
         {"nvcached_requests_per_second", over(each.nvcached, &Half::requests_per_second).median},
         {"memcached_requests_per_second", over(each.memcached, &Half::requests_per_second).median},
         {"ratio", ratio.median},
         {"ratio_min", ratio.low},
         {"ratio_max", ratio.high},
         {"nvcached_hit_share", our_hits},
         {"memcached_hit_share", their_hits}});
  }
  return rows;
}

nlohmann::json restart_table(const RestartResult& result) {
  nvcache::print_to(stdout, "\n{} items of {} bytes, keys of 10\n", result.items,
                    result.value_bytes);
  const auto row = [](const char* what, const std::string& value) {
    nvcache::print_to(stdout, "{:<58}{:>14}\n", what, value);
  };
  row("memcached, DRAM per item, bytes", fmt::format("{:.1f}", result.memcached_bytes_per_item));
  row("nvcached, DRAM per item, bytes", fmt::format("{:.1f}", result.nvcached_dram_bytes_per_item));
  row("nvcached, medium per item, bytes", fmt::format("{:.1f}", result.nvcached_bytes_per_item));
  row("nvcached, start to first answer after kill -9, seconds",
      fmt::format("{:.3f}", result.seconds_to_serving));
  row("nvcached, share of keys found afterwards",
      fmt::format("{:.4f} of {}", result.share_found, result.asked));
  return {{"items", result.items},
          {"value_bytes", result.value_bytes},
          {"memcached_dram_bytes_per_item", result.memcached_bytes_per_item},
          {"nvcached_dram_bytes_per_item", result.nvcached_dram_bytes_per_item},
          {"nvcached_medium_bytes_per_item", result.nvcached_bytes_per_item},
          {"seconds_to_serving", result.seconds_to_serving},
          {"share_found", result.share_found},
          {"asked", result.asked}};
}

int fail(const nvcache::Status& status) {
  nvcache::print_to(stderr, "nvcached_bench: {}\n",
                    std::string_view(status.message().data(), status.message().size()));
  return 1;
}

int compare(const ComparisonOptions& options, uint64_t restart_items, const std::string& json) {
  nlohmann::json out = {{"rounds", options.rounds}, {"seconds", options.seconds}};
  if (options.rounds > 0) {
    const auto results = nvcache::bench::compare_throughput(options, say);
    if (!results.ok()) return fail(results.status());
    out["throughput"] = throughput_table(*results);
  }
  if (restart_items > 0) {
    const auto result = nvcache::bench::compare_restart(options, restart_items, 100, say);
    if (!result.ok()) return fail(result.status());
    out["restart"] = restart_table(*result);
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << out.dump(2) << "\n";
  if (file.flush()) return 0;
  nvcache::print_to(stderr, "nvcached_bench: cannot write {}\n", json);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Compares nvcached with memcached: requests per second of the server's CPU, and a restart",
      "nvcached_bench"};
  ComparisonOptions options;
  uint64_t restart_items = 0;
  std::string json;
  app.add_option("--nvcached", options.nvcached, "path of nvcached")->required();
  app.add_option("--memcached", options.memcached, "path of memcached")->required();
  app.add_option("--folder", options.folder, "an empty folder for nvcached's data")->required();
  app.add_option("--rounds", options.rounds, "pairs of runs for each mix; 0: none")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "length of each half of a pair")
      ->capture_default_str();
  app.add_option("--value-bytes", options.value_bytes, "sizes of values")->capture_default_str();
  app.add_option("--mixes", options.mixes, "any of GET, 90:10, 50:50, SET (gets:sets)")
      ->check(CLI::IsMember({"GET", "90:10", "50:50", "SET"}))
      ->capture_default_str();
  app.add_option("--restart-items", restart_items, "items before a restart; 0: none")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the keys")->capture_default_str();
  app.add_option("--json", json, "write the results to this file as JSON");
  app.footer(kExamples);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return compare(options, restart_items, json);
} catch (const std::exception& error) {
  nvcache::print_to(stderr, "nvcached_bench: {}\n", error.what());
  return 1;
}
