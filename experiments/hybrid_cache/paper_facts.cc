#include "experiments/hybrid_cache/paper_facts.h"

#include <cstdlib>

#include "base/print.h"
#include "fmt/format.h"

namespace nvcache::hybrid_cache {
namespace {

constexpr PaperFact kFacts[] = {
    {"power-dram", "Table 1", "375", "mW/GB of DRAM"},
    {"power-scm", "Table 1", "98", "mW/GB of SCM"},
    {"power-flash", "Table 1", "5.7", "mW/GB of flash"},
    {"cost-scm", "Table 1", "0.38", "cost of SCM per GB relative to DRAM"},
    {"cost-flash", "Table 1", "0.017", "cost of flash per GB relative to DRAM"},
    {"hybrid-vs-naive", "S3.1 Fig 4b", "45", "% gain of hybrid over an SCM-only cache, up to"},
    {"scm-only-128", "S6.1", "15", "% gain over 64-0, SCM only, 128 GB"},
    {"scm-only-256", "S6.1", "25", "% gain over 64-0, SCM only, 256 GB"},
    {"scm-only-p50-low", "S6.1", "2", "times P50 latency, SCM only, low end"},
    {"scm-only-p50-high", "S6.1", "4", "times P50 latency, SCM only, high end"},
    {"tput-low", "S6.2", "50", "% gain over 64-0, low end"},
    {"tput-high", "S6.2", "80", "% gain over 64-0, high end"},
    {"p95", "S6.2", "20", "% better P95 read latency, DRAM first"},
    {"p99", "S6.2", "10", "% better P99 read latency, DRAM first"},
    {"hit-gain", "S6.3", "30", "% gain in hit rate, up to"},
    {"io-less", "S6.3", "0.8", "GB/s of SSD reads saved, up to"},
    {"read-lat", "S6.3", "20", "% better file read P50, up to"},
    {"cost-1p-64-0", "Table 4", "0.43", "cost relative to 2P"},
    {"cost-1p-64-128", "Table 4", "0.50", "cost relative to 2P"},
    {"cost-1p-32-128", "Table 4", "0.46", "cost relative to 2P"},
    {"cost-1p-32-256", "Table 4", "0.53", "cost relative to 2P"},
    {"dram-cache-64-0", "Table 4", "40 / 0", "GB of DRAM / SCM block cache"},
    {"dram-cache-64-128", "Table 4", "40 / 100", "GB of DRAM / SCM block cache"},
    {"dram-cache-32-128", "Table 4", "12 / 100", "GB of DRAM / SCM block cache"},
    {"dram-cache-32-256", "Table 4", "12 / 200", "GB of DRAM / SCM block cache"},
    {"tco-64-0", "Table 5", "0.72-0.86", "performance-equivalent TCO"},
    {"tco-32-256", "Table 5", "0.52-0.57", "performance-equivalent TCO"},
    {"perf-2p-64-0", "S6.4", "50-60", "% of 2P's performance"},
    {"perf-2p-32-256", "S6.4", "93-102", "% of 2P's performance"},
};

}  // namespace

std::span<const PaperFact> paper_facts() { return kFacts; }

std::string_view paper_value(std::string_view id) {
  for (const PaperFact& fact : kFacts) {
    if (fact.id == id) return fact.value;
  }
  print_to(stderr, "no fact {}\n", id);
  std::abort();
}

double paper_number(std::string_view id) {
  return std::strtod(std::string(paper_value(id)).c_str(), nullptr);
}

}  // namespace nvcache::hybrid_cache
