// Statistics with numbers that tell which is which, and what their texts must keep.
#pragma once

#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nvcache/stats.h"

namespace nvcache::test {

template <typename S, typename... Fields>
void number_from(uint64_t first, S* stats, Fields... fields) {
  ((stats->*fields = first++), ...);
}

inline Stats sample_stats() {
  Stats stats;
  number_from(101, &stats, &Stats::hits, &Stats::misses, &Stats::background_hits,
              &Stats::background_misses, &Stats::inserts, &Stats::removals, &Stats::evictions,
              &Stats::erases, &Stats::damaged_blocks, &Stats::medium_errors,
              &Stats::medium_read_bytes, &Stats::medium_written_bytes, &Stats::blocks,
              &Stats::data_bytes, &Stats::used_bytes, &Stats::size_bytes, &Stats::metadata_bytes,
              &Stats::dataset_size_bytes, &Stats::pending_bytes, &Stats::failed);
  stats.background_hits = 1;
  stats.background_misses = 2;
  stats.overhead_ratio = 0.3;
  stats.refused[1] = 7;
  stats.medium = "file:\"a\\b\"\n";
  stats.admission = "always";
  stats.eviction = "lru";
  return stats;
}

// Those of sample_stats(), whose names tests/policy/policy_table_test.cc holds.
inline std::string refusals_json(size_t indent) {
  std::string text;
  for (size_t i = 1; i < kReasonCount; ++i) {
    text += fmt::format("{}{}\"{}\": {}", i > 1 ? ",\n" : "", std::string(indent, ' '),
                        reason_name(static_cast<Reason>(i)), i == 1 ? 7 : 0);
  }
  return text;
}

inline std::string refusals_prometheus() {
  std::string text;
  for (size_t i = 1; i < kReasonCount; ++i) {
    text += fmt::format("nvcache_refused_total{{reason=\"{}\"}} {}\n",
                        reason_name(static_cast<Reason>(i)), i == 1 ? 7 : 0);
  }
  return text;
}

// Each family has one HELP and one TYPE line, directly before its samples.
inline void expect_well_formed(const std::string& text) {
  std::set<std::string> families;
  std::istringstream lines(text);
  std::string line;
  std::string family;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << family << " comes twice";
      ASSERT_TRUE(std::getline(lines, line));
      const bool counter = family.ends_with("_total");
      EXPECT_EQ(line, "# TYPE " + family + (counter ? " counter" : " gauge"));
      continue;
    }
    EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family) << line;
    EXPECT_NE(line.find(' '), std::string::npos) << line;
  }
}

inline bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace nvcache::test
