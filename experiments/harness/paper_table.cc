#include "experiments/harness/paper_table.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/print.h"
#include "base/text.h"

namespace nvcache::papers {
namespace {

constexpr std::string_view kHeader = "id,paper,where,quantity,value,unit,condition";
constexpr size_t kFields = 7;
constexpr std::string_view kPapers[] = {kWritesHurt, kHybridCache, kNvmcached};

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t at = line.find(',');
    fields.push_back(strip(line.substr(0, at)));
    if (at == std::string_view::npos) return fields;
    line.remove_prefix(at + 1);
  }
}

bool parse_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

bool parse_span(std::string_view text, Span& span) {
  const auto [low, high] = split_once(text, '-');
  if (!parse_number(strip(low), span.low)) return false;
  if (low.size() == text.size()) {
    span.high = span.low;
    return true;
  }
  return parse_number(strip(high), span.high) && span.low < span.high;
}

StatusOr<PaperResult> parse_line(std::string_view line) {
  const auto fields = fields_of(line);
  if (fields.size() != kFields) {
    return invalid_argument("{} fields; allowed are {}: {}", fields.size(), kFields, kHeader);
  }
  PaperResult result{.id = std::string(fields[0]),
                     .paper = std::string(fields[1]),
                     .where = std::string(fields[2]),
                     .quantity = std::string(fields[3]),
                     .value = std::string(fields[4]),
                     .unit = std::string(fields[5]),
                     .condition = std::string(fields[6]),
                     .statement = {}};
  if (result.id.empty()) return invalid_argument("no id");
  bool known = false;
  for (const std::string_view paper : kPapers) known = known || paper == result.paper;
  if (!known) {
    return invalid_argument("{}: paper '{}'; allowed are {}", result.id, result.paper,
                            fmt::join(kPapers, ", "));
  }
  if (result.quantity.empty()) return invalid_argument("{}: no quantity", result.id);
  auto statement = parse_statement(result.value, result.unit);
  if (!statement.ok()) {
    return invalid_argument("{}: {}", result.id, statement.status().message());
  }
  result.statement = *std::move(statement);
  return result;
}

}  // namespace

StatusOr<Statement> parse_statement(std::string_view value, std::string_view unit) {
  Statement statement;
  const auto [word, more] = split_once(unit, '(');
  statement.unit = std::string(strip(word));
  if (more.starts_with("up to")) statement.claim = Claim::kUpTo;
  for (const std::string_view least : {"over", "above", "at least"}) {
    if (more.starts_with(least)) statement.claim = Claim::kAtLeast;
  }
  std::string_view rest = value;
  while (true) {
    const size_t at = rest.find('/');
    Span span;
    if (!parse_span(strip(rest.substr(0, at)), span)) {
      return invalid_argument(
          "value '{}'; allowed are a number, LOW-HIGH, and several of them between '/'", value);
    }
    statement.parts.push_back(span);
    if (at == std::string_view::npos) return statement;
    rest.remove_prefix(at + 1);
  }
}

StatusOr<std::vector<PaperResult>> parse_paper_results(std::string_view csv) {
  std::vector<PaperResult> results;
  std::set<std::string> ids;
  bool header_seen = false;
  for (size_t number = 1; !csv.empty(); ++number) {
    const auto [line, rest] = split_once(csv, '\n');
    csv = rest;
    const std::string_view text = strip(line);
    if (text.empty() || text.starts_with('#')) continue;
    if (!header_seen) {
      if (text != kHeader) {
        return invalid_argument("line {}: header '{}'; allowed is {}", number, text, kHeader);
      }
      header_seen = true;
      continue;
    }
    auto result = parse_line(text);
    if (!result.ok()) {
      return invalid_argument("line {}: {}", number, result.status().message());
    }
    if (!ids.insert(result->id).second) {
      return invalid_argument("line {}: {} stands twice", number, result->id);
    }
    results.push_back(*std::move(result));
  }
  if (!header_seen) return invalid_argument("no header; allowed is {}", kHeader);
  return results;
}

const std::vector<PaperResult>& paper_results() {
  static const auto& results =
      *new std::vector<PaperResult>(parse_paper_results(paper_results_text()).value());
  return results;
}

std::string_view paper_value(std::string_view id) {
  for (const PaperResult& result : paper_results()) {
    if (result.id == id) return result.value;
  }
  print_to(stderr, "no number {} of a paper\n", id);
  std::abort();
}

double paper_number(std::string_view id) {
  return parse_statement(paper_value(id), "").value().parts.front().low;
}

}  // namespace nvcache::papers
