#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace nvcache {
namespace {

constexpr std::array<std::pair<std::string_view, uint64_t>, 14> kUnits = {{
    {"", 1},
    {"B", 1},
    {"K", 1ull << 10},
    {"KIB", 1ull << 10},
    {"KB", 1000},
    {"M", 1ull << 20},
    {"MIB", 1ull << 20},
    {"MB", 1000'000},
    {"G", 1ull << 30},
    {"GIB", 1ull << 30},
    {"GB", 1000'000'000},
    {"T", 1ull << 40},
    {"TIB", 1ull << 40},
    {"TB", 1000'000'000'000},
}};

Status bad_size(std::string_view text) {
  return invalid_argument(
      "'{}' is not a size; allowed: a number with an optional unit such as 4096, 64KiB, 1.5GiB, "
      "10GB",
      text);
}

}  // namespace

StatusOr<uint64_t> parse_size_bytes(std::string_view text) {
  const std::string_view trimmed = strip(text);
  double number = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number,
                                            std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return bad_size(text);
  std::string unit(strip(trimmed.substr(static_cast<size_t>(end - trimmed.data()))));
  for (char& c : unit) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    const double size_bytes = number * static_cast<double>(factor);
    if (!(size_bytes < 0x1p63)) return bad_size(text);
    return static_cast<uint64_t>(std::llround(size_bytes));
  }
  return bad_size(text);
}

StatusOr<double> parse_bytes_per_second(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kSpans = {
      {{"s", 1}, {"min", 60}, {"hour", 3600}, {"day", 24 * 3600}}};
  const auto [size, span] = split_once(text, '/');
  const StatusOr<uint64_t> size_bytes = parse_size_bytes(size);
  for (const auto& [name, seconds] : kSpans) {
    if (size_bytes.ok() && strip(span) == name) return static_cast<double>(*size_bytes) / seconds;
  }
  return invalid_argument(
      "'{}' is not a rate; allowed: a size per s, min, hour or day such as 50MiB/s, 500GB/day",
      text);
}

std::string format_bytes(uint64_t size_bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(size_bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", size_bytes);
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kNames[unit]);
}

StatusOr<double> parse_number(std::string_view what, std::string_view text, double low,
                              double high) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(number >= low && number <= high)) {
    return invalid_argument("{}: '{}' given; allowed: a number from {:g} to {:g}", what, text, low,
                            high);
  }
  return number;
}

}  // namespace nvcache
