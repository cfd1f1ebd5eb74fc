// Reads the JSON that nvcache_bench (Google Benchmark) writes, and prints the ratios that matter:
// each from the medians of one run, beside its target.
//
// usage: nvcache_bench_ratios FILE.json      exit: 0, or 2 if the file cannot be read
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>

#include "base/print.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace {

struct Figures {
  double cpu_ns = 0;
  double items_per_second = 0;
  double bytes_per_second = 0;
};

std::map<std::string, Figures> read_medians(const std::string& path) {
  std::ifstream in(path);
  const nlohmann::json json = nlohmann::json::parse(in);
  std::map<std::string, Figures> medians;
  for (const nlohmann::json& run : json.at("benchmarks")) {
    if (run.value("aggregate_name", "") != "median") continue;
    medians[run.at("run_name").get<std::string>()] = {run.at("cpu_time").get<double>(),
                                                      run.value("items_per_second", 0.0),
                                                      run.value("bytes_per_second", 0.0)};
  }
  return medians;
}

void row(const std::string& what, double value, const std::string& unit, const std::string& mark) {
  nvcache::print_to(stdout, "{:<64}{:>9.2f} {:<6}{}\n", what, value, unit, mark);
}

void print_ratios(const std::map<std::string, Figures>& medians) {
  const auto& hit = medians.at("BM_Hit/real_time/threads:1");
  const auto& hit_2 = medians.at("BM_Hit/real_time/threads:2");
  const auto& miss = medians.at("BM_Miss/real_time/threads:1");
  const auto& miss_2 = medians.at("BM_Miss/real_time/threads:2");
  const auto& map = medians.at("BM_FlatHashMapLookup/real_time/threads:1");
  const auto& map_2 = medians.at("BM_FlatHashMapLookup/real_time/threads:2");
  const auto& copy = medians.at("BM_HitWithCopy");
  const auto& verified = medians.at("BM_HitWithCopyVerified");
  const auto& map_copy = medians.at("BM_FlatHashMapLookupAndMemcpy4K");
  const auto& memcpy_4k = medians.at("BM_Memcpy4K");
  nvcache::print_to(stdout, "\n{:<64}{:>9}\n", "medians of the run", "");
  row("hit, one thread", hit.cpu_ns, "ns", "at most 150");
  row("hit / flat_hash_map lookup", hit.cpu_ns / map.cpu_ns, "x", "");
  row("hit / memcpy of 4 KiB", hit.cpu_ns / memcpy_4k.cpu_ns, "x", "");
  row("miss, one thread", miss.cpu_ns, "ns", "at most 80");
  row("miss / flat_hash_map lookup", miss.cpu_ns / map.cpu_ns, "x", "");
  row("hits per second, two threads / one", hit_2.items_per_second / hit.items_per_second, "x",
      "at least 1.8");
  row("misses per second, two threads / one", miss_2.items_per_second / miss.items_per_second, "x",
      "");
  row("flat_hash_map lookups per second, two threads / one",
      map_2.items_per_second / map.items_per_second, "x", "");
  row("hit with copy / memcpy, bytes per second",
      copy.bytes_per_second / memcpy_4k.bytes_per_second, "x", "at least 0.80");
  row("flat_hash_map lookup and memcpy / memcpy, bytes per second",
      map_copy.bytes_per_second / memcpy_4k.bytes_per_second, "x", "");
  row("hit with copy / flat_hash_map lookup and memcpy",
      copy.bytes_per_second / map_copy.bytes_per_second, "x", "");
  row("hit with verification and copy / memcpy, bytes per second",
      verified.bytes_per_second / memcpy_4k.bytes_per_second, "x", "");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    nvcache::print_to(stderr, "usage: nvcache_bench_ratios FILE.json\n");
    return 2;
  }
  print_ratios(read_medians(argv[1]));
  return 0;
} catch (const std::exception& error) {
  nvcache::print_to(stderr, "nvcache_bench_ratios: {}: {}\n", argv[1], error.what());
  return 2;
}
