#include "experiments/reproduce/rows.h"

#include <utility>

namespace nvcache::reproduce {

std::string_view source_name(Source source) {
  switch (source) {
    case Source::kParameter:
      return "parameter";
    case Source::kModel:
      return "model";
    case Source::kReal:
      return "real";
    case Source::kSimulated:
      break;
  }
  return "simulated";
}

std::string_view basis_name(Basis basis) {
  switch (basis) {
    case Basis::kTaken:
      return "taken";
    case Basis::kFitted:
      return "fitted";
    case Basis::kResult:
      break;
  }
  return "result";
}

Ours numbers(const std::vector<double>& values) {
  Ours ours;
  for (const double value : values) ours.parts.push_back({.low = value, .high = value});
  return ours;
}

Finder fixed(Source source, Ours ours, std::string how) {
  return [finding = Finding{source, std::move(ours), std::move(how)}](
             const Evidence&) -> std::optional<Finding> { return finding; };
}

Row parameter(const char* id, double value, std::string_view about) {
  return {.id = id,
          .basis = Basis::kTaken,
          .about = about,
          .finders = {fixed(Source::kParameter, number(value), "a setting")},
          .sized_only = true};
}

void append(std::vector<Row>& rows, std::vector<Row> more) {
  for (Row& row : more) rows.push_back(std::move(row));
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = writes_hurt_rows();
  append(rows, hybrid_cache_rows());
  append(rows, nvmcached_rows());
  return rows;
}

}  // namespace nvcache::reproduce
