// Where our number for each of the papers' comes from. The rows are constants, a file for each
// paper; what they find depends on the evidence alone. Stateless.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/evidence.h"
#include "experiments/reproduce/verdict.h"

namespace nvcache::reproduce {

enum class Source : uint8_t {
  kParameter,  // a number that our code was given
  kModel,      // calculated from the emulated media's model, or from prices
  kReal,       // the real caches and engines ran, scaled down
  kSimulated,  // experiments/simulate
};
std::string_view source_name(Source source);  // "parameter", "model", "real", "simulated"

enum class Basis : uint8_t {
  kResult,
  kTaken,   // our code was given this very number
  kFitted,  // a parameter of ours was chosen so that this number comes out
};
std::string_view basis_name(Basis basis);  // "result", "taken", "fitted"

struct Finding {
  Source source = Source::kParameter;
  Ours ours;
  std::string how;      // conditions, in a few words
  bool fitted = false;  // a parameter of this source alone was chosen so that the number comes out
};

using Finder = std::function<std::optional<Finding>(const Evidence&)>;

struct Row {
  std::string id;
  Basis basis = Basis::kResult;
  std::string_view about = {};  // what it was taken or fitted by; why a real run may differ
  std::string_view simulated_about = {};  // in its place where a simulation decides
  std::vector<Finder> finders = {};       // the first that finds something decides
  std::string_view missing = {};          // what would give it, if none does
  bool memory_mode = false;               // about Memory Mode
  // Replaces usual_baseline(): a number, or none.
  std::optional<double> baseline = std::nullopt;
  bool sized_only = false;  // no baseline, whatever the unit
};

std::vector<Row> writes_hurt_rows();
std::vector<Row> hybrid_cache_rows();
std::vector<Row> nvmcached_rows();
std::vector<Row> all_rows();

// ---- What rows are made of ----

inline Ours number(double value) {
  return {.parts = {{.low = value, .high = value}}, .order = std::nullopt, .comparable = true};
}
inline Ours range(double low, double high) {
  return {.parts = {{.low = low, .high = high}}, .order = std::nullopt, .comparable = true};
}
Ours numbers(const std::vector<double>& values);

// A finder for what needs no evidence.
Finder fixed(Source source, Ours ours, std::string how);

// A setting of the paper that our code has, too.
Row parameter(const char* id, double value, std::string_view about);

void append(std::vector<Row>& rows, std::vector<Row> more);

}  // namespace nvcache::reproduce
