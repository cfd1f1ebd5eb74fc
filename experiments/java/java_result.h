// The results of the runs of a Java program: what it printed, the JSON of kind "java", schema 1,
// and a table of it. Pure.
//
//   runs[]     one object a run: case, configuration ("none" or "nvcache"), pair, metrics{}
//   summary[]  one object a case: metrics{name: {none, nvcache, ratio}}, each of them
//              {median, min, max} over the pairs; ratio: of each pair, nvcache to none
//
// Metrics are of the measured events, as the program counts them: events_per_second, seconds,
// read_calls and read_bytes of the process (the tier's medium included, where it is a file), and
// device_read_bytes, which came from a device. lower_hits is of the whole run: blocks that tiers
// below DRAM served.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache::java {

inline constexpr char kWithout[] = "none";
inline constexpr char kWith[] = "nvcache";

struct Outcome {
  // Counts and digests of what the program sent, by name.
  std::map<std::string, std::string> sent;
  uint64_t events = 0;  // measured, as all below
  double seconds = 0;
  uint64_t read_calls = 0;
  uint64_t read_bytes = 0;
  uint64_t device_read_bytes = 0;
};

// INTERNAL if the program did not get to its end, or printed no digest or no measured events.
[[nodiscard]] StatusOr<Outcome> parse_outcome(std::string_view printed);

// OK if both sent the same; DATA_LOSS names what differs.
[[nodiscard]] Status check_equal(const Outcome& expected, const Outcome& found);

// From the statistics that the library wrote. INTERNAL if they are none.
[[nodiscard]] StatusOr<uint64_t> parse_lower_hits(const std::string& statistics);

nlohmann::json metrics_json(const Outcome& outcome);

// The summary of `runs`, cases in the order of their first run.
nlohmann::json summarize(const nlohmann::json& runs);

// At most 100 columns wide. INVALID_ARGUMENT where the document is not one.
[[nodiscard]] StatusOr<std::string> java_tables(const nlohmann::json& document);

}  // namespace nvcache::java
