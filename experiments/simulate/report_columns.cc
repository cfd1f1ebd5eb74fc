#include "experiments/simulate/report_columns.h"

#include <algorithm>
#include <cmath>

namespace nvcache::simulate {
namespace cells {

std::string nvram(const TableRow& row) {
  return std::to_string(row.run->options.nvram_bytes >> 30);
}
std::string configuration(const TableRow& row) { return row.run->configuration; }
std::string ops(const TableRow& row) { return fmt::format("{:.0f}", median_ops(row.seeds)); }
std::string over_base(const TableRow& row) {
  return row.base > 0 ? fmt::format("{:.2f}", median_ops(row.seeds) / row.base) : "";
}

std::string page_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.page_hit_ratio(); }));
}
std::string tier_hits(const TableRow& row) {
  if (row.run->result.line_lookups > 0) {
    return percent(median(row.seeds, [](const Result& r) { return r.line_hit_ratio(); }));
  }
  if (row.run->result.tier_lookups == 0) return "";
  return percent(median(row.seeds, [](const Result& r) { return r.tier_hit_ratio; }));
}

std::string over_time(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.interval_variation; }));
}
std::string by_seed(const TableRow& row) {
  return row.seeds.size() < 2 ? "" : percent(deviation_by_seed(row.seeds));
}

}  // namespace cells

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double median_ops(const Seeds& seeds) {
  return median(seeds, [](const Result& r) { return r.ops_per_second; });
}

double deviation_by_seed(const Seeds& seeds) {
  if (seeds.size() < 2) return 0;
  double sum = 0;
  double squares = 0;
  const auto count = static_cast<double>(seeds.size());
  for (const Run* run : seeds) sum += run->result.ops_per_second;
  for (const Run* run : seeds) {
    const double off = run->result.ops_per_second - sum / count;
    squares += off * off;
  }
  return std::sqrt(squares / (count - 1)) / (sum / count);
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace nvcache::simulate
