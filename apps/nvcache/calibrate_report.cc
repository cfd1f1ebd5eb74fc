// A calibration's result as text for the terminal and as JSON.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/nvcache/calibrate.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

constexpr int kBarColumns = 44;

std::string format_latency(double latency_ns) {
  if (latency_ns >= 1e6) return fmt::format("{:.2f} ms", latency_ns / 1e6);
  if (latency_ns >= 1e3) return fmt::format("{:.2f} us", latency_ns / 1e3);
  return fmt::format("{:.0f} ns", latency_ns);
}

double alone_gb_s(const CalibrationResult& result) {
  return result.points.empty() ? 0 : result.points.front().read_gb_s;
}

std::string bar(double value, double largest, char mark) {
  if (largest <= 0) return "";
  const double columns = std::round(value / largest * kBarColumns);
  return std::string(static_cast<size_t>(std::clamp<double>(columns, 0, kBarColumns)), mark);
}

std::string format_gb_s(double gb_s) { return fmt::format("{:.{}f}", gb_s, gb_s < 1 ? 3 : 2); }

}  // namespace

std::string calibration_table(const CalibrationResult& result) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {} readers, blocks of {}, random\n\n", result.medium, result.readers,
                 format_bytes(result.block_bytes));
  fmt::format_to(out, "{:>7}  {:>11}  {:>9}  {:>12}  {:>12}\n", "writers", "reads, GB/s",
                 "of alone", "writes, GB/s", "read latency");
  for (const CalibrationPoint& point : result.points) {
    const double alone = alone_gb_s(result);
    const double share = alone > 0 ? 100 * point.read_gb_s / alone : 0;
    fmt::format_to(out, "{:>7}  {:>11}  {:>8.0f}%  {:>12}  {:>12}\n", point.writers,
                   format_gb_s(point.read_gb_s), share, format_gb_s(point.write_gb_s),
                   format_latency(point.read_latency_ns));
  }
  fmt::format_to(out, "\nSuggested overhead-bypass target: {:.3f}, i.e. admission=obp({:.3f})\n",
                 result.suggested_obp_target, result.suggested_obp_target);
  if (result.suggested_obp_target >= kHighestObpTarget) {
    fmt::format_to(out, "(reads keep {:.1f}% of their speed with a byte written per byte read)\n",
                   100 * kKeptReadShare);
  } else {
    fmt::format_to(out,
                   "(bytes written per byte read at which reads keep {:.1f}% of their speed)\n",
                   100 * kKeptReadShare);
  }
  for (const std::string& note : result.notes) fmt::format_to(out, "note: {}\n", note);
  return text;
}

std::string calibration_chart(const CalibrationResult& result) {
  double largest = 0;
  for (const CalibrationPoint& point : result.points) {
    largest = std::max({largest, point.read_gb_s, point.write_gb_s});
  }
  std::string text = "writers  GB/s: # read, = written\n";
  auto out = std::back_inserter(text);
  for (const CalibrationPoint& point : result.points) {
    fmt::format_to(out, "{:>7} |{} {}\n", point.writers, bar(point.read_gb_s, largest, '#'),
                   format_gb_s(point.read_gb_s));
    if (point.writers == 0) continue;
    fmt::format_to(out, "{:>7} |{} {}\n", "", bar(point.write_gb_s, largest, '='),
                   format_gb_s(point.write_gb_s));
  }
  return text;
}

nlohmann::json calibration_json(const CalibrationResult& result) {
  nlohmann::json points = nlohmann::json::array();
  for (const CalibrationPoint& point : result.points) {
    points.push_back({{"writers", point.writers},
                      {"read_gb_s", point.read_gb_s},
                      {"write_gb_s", point.write_gb_s},
                      {"read_latency_ns", point.read_latency_ns},
                      {"reads", point.reads},
                      {"writes", point.writes}});
  }
  return {{"kind", "calibration"},
          {"medium", result.medium},
          {"emulated", result.emulated},
          {"virtual_time", result.virtual_time},
          {"readers", result.readers},
          {"block_bytes", result.block_bytes},
          {"points", std::move(points)},
          {"suggested_obp_target", result.suggested_obp_target},
          {"kept_read_share", kKeptReadShare},
          {"notes", result.notes}};
}

}  // namespace nvcache
