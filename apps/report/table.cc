#include "apps/report/table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

// "1,234,567".
std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::optional<double> number(const json& summary, const char* part, const char* metric,
                             const char* which = "median") {
  const json& of = summary.at(part);
  if (!of.contains(metric)) return std::nullopt;
  return of[metric].at(which).get<double>();
}

std::string cell(std::optional<double> value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string bytes_cell(std::optional<double> value) {
  return value ? format_bytes(static_cast<uint64_t>(*value)) : "-";
}

// Half the distance between the slowest and the fastest round, in percent.
std::string spread_cell(const json& summary) {
  if (summary.at("rounds").get<int>() < 2) return "";
  const json& ops = summary.at("metrics").at("ops_per_second");
  const double half = (ops["max"].get<double>() - ops["min"].get<double>()) / 2;
  return fmt::format("{:.0f}%", 100 * half / ops["median"].get<double>());
}

const json* find_named(const json& list, const std::string& name) {
  for (const json& entry : list) {
    if (entry.at("name") == name) return &entry;
  }
  return nullptr;
}

std::string warmup_text(const json& setup) {
  const auto ops = setup.value("warmup_ops", uint64_t{0});
  std::string text = ops > 0 ? grouped(static_cast<double>(ops)) + " ops"
                             : fmt::format("{:.3g} s", setup.at("warmup_seconds").get<double>());
  if (setup.value("keep_tier", false)) text += " (cold tier)";
  return text;
}

constexpr size_t kLongTitle = 40;  // leaves room for the rest in 100 columns

std::string workload_title(const json& document, const std::string& name) {
  std::string title = name;
  if (const json* workload = find_named(document.at("workloads"), name)) {
    title = workload->at("title").get<std::string>();
  }
  const json& setup = document.at("setup");
  const int rounds = setup.at("rounds").get<int>();
  title += title.size() > kLongTitle ? ";\n" : "; ";
  title += fmt::format("{} threads; {:.3g} s measured, {} warm-up, {} round{}",
                       setup.at("threads").get<int>(), setup.at("seconds").get<double>(),
                       warmup_text(setup), rounds, rounds == 1 ? "" : "s");
  if (setup.value("awake", false)) title += "; processors awake";
  return title;
}

constexpr const char* kRow =
    "{:<16} {:>9} {:>4} {:>5} {:>7} {:>7} {:>8} {:>8} {:>5} {:>5} {:>10}\n";

// Of the second tier where there is one, else of the engine's block cache.
const char* hit_metric(const json& document) {
  for (const json& summary : document.at("summary")) {
    if (summary.at("metrics").contains("tier_hit_ratio")) return "tier_hit_ratio";
  }
  return "hit_ratio";
}

std::string result_row(const json& summary, const char* hits) {
  const auto metric = [&](const char* name) { return number(summary, "metrics", name); };
  const auto ratio = [&](const char* name) { return number(summary, "ratio_to_first", name); };
  auto hit = metric(hits);
  if (hit) *hit *= 100;
  return fmt::format(kRow, summary.at("configuration").get<std::string>(),
                     grouped(metric("ops_per_second").value_or(0)), spread_cell(summary),
                     cell(ratio("ops_per_second"), "{:.2f}"), cell(metric("p50_us"), "{:.1f}"),
                     cell(metric("p95_us"), "{:.0f}"), cell(metric("p99_us"), "{:.0f}"),
                     cell(metric("block_reads_per_op"), "{:.3f}"),
                     cell(ratio("block_reads_per_op"), "{:.2f}"), cell(hit, "{:.1f}"),
                     bytes_cell(metric("tier_written_bytes")));
}

void append_results(const json& document, std::string& text) {
  std::string workload;
  for (const json& summary : document.at("summary")) {
    const auto name = summary.at("workload").get<std::string>();
    if (name != workload) {
      workload = name;
      text += fmt::format("\n{}\n", workload_title(document, name));
      text += fmt::format(kRow, "configuration", "ops/s", "+-", "vs", "p50 us", "p95 us", "p99 us",
                          "reads/op", "vs", "hit%", "written");
    }
    text += result_row(summary, hit_metric(document));
  }
  const json& configurations = document.at("configurations");
  text += fmt::format(
      "vs: ratio to {} in the same round. reads/op: blocks read from disk per operation.\n"
      "hit%, written: hits and bytes written {}, in the measured part.\n",
      configurations.empty() ? "the first" : configurations[0].at("name").get<std::string>(),
      std::string_view(hit_metric(document)) == "hit_ratio" ? "of the engine's block cache"
                                                            : "of the second tier");
}

// Refusals of all rounds of a pair, the most frequent reason first.
std::vector<std::string> refusals(const json& document, const json& summary) {
  std::map<std::string, double> counts;
  for (const json& run : document.at("runs")) {
    if (run.at("workload") != summary.at("workload") ||
        run.at("configuration") != summary.at("configuration")) {
      continue;
    }
    for (const auto& [reason, count] : run.at("refused").items()) {
      counts[reason] += count.get<double>();
    }
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [reason, count] : counts) sorted.emplace_back(count, reason);
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<std::string> texts;
  for (const auto& [count, reason] : sorted) {
    texts.push_back(fmt::format("{} {}", reason, grouped(count)));
  }
  if (texts.empty()) texts.emplace_back("none");
  return texts;
}

constexpr const char* kTierRow = "{:<4} {:<16} {:>10} {:>10} {:>6} {:>6} {:>6}  {}\n";

// A row, and further ones where the reasons do not fit.
std::string tier_row(const json& document, const json& summary) {
  const auto metric = [&](const char* name) { return number(summary, "metrics", name); };
  const auto inserts = metric("tier_inserts");
  const auto row = [&](const std::string& reason) {
    return fmt::format(kTierRow, summary.at("workload").get<std::string>(),
                       summary.at("configuration").get<std::string>(),
                       inserts ? grouped(*inserts) : "-",
                       inserts ? grouped(*metric("tier_removals")) : "-",
                       cell(metric("tier_overhead_ratio"), "{:.3f}"),
                       cell(metric("tier_overhead_ratio_at_end"), "{:.3f}"),
                       cell(metric("cpu_us_per_op"), "{:.1f}"), reason);
  };
  if (!inserts) return row("-");
  std::string text;
  for (const std::string& reason : refusals(document, summary)) {
    text += text.empty() ? row(reason) : fmt::format(kTierRow, "", "", "", "", "", "", "", reason);
  }
  return text;
}

void append_tiers(const json& document, std::string& text) {
  if (std::string_view(hit_metric(document)) != "tier_hit_ratio") return;
  text += "\nSecond tier, measured part\n";
  text += fmt::format(kTierRow, "", "configuration", "inserts", "removals", "OBP", "at end",
                      "CPU us", "refused (all rounds)");
  for (const json& summary : document.at("summary")) text += tier_row(document, summary);
  text +=
      "OBP: (inserts + removals) / lookups in the measured part; at end: as the policy sees it.\n"
      "CPU us: processor time of the whole process per operation.\n";
}

void append_configurations(const json& document, std::string& text) {
  text += "\n";
  bool emulated = false;
  for (const json& configuration : document.at("configurations")) {
    text += fmt::format("{:<16} {}\n", configuration.at("name").get<std::string>(),
                        configuration.at("spec").get<std::string>());
    if (!configuration.contains("medium")) continue;
    text += fmt::format("{:<16} on {}\n", "", configuration["medium"].get<std::string>());
    emulated = emulated || configuration.value("emulated", false);
  }
  if (emulated) {
    text +=
        "Emulated: the medium's latency and bandwidth come from a model (docs/design/model.md), "
        "not from\n"
        "such hardware in this machine.\n";
  }
}

}  // namespace

StatusOr<std::string> ycsb_tables(const json& document) {
  try {
    std::string text;
    append_results(document, text);
    append_tiers(document, text);
    append_configurations(document, text);
    return text;
  } catch (const json::exception& error) {
    return invalid_argument("not a result of nvcache: {}", error.what());
  }
}

}  // namespace nvcache
