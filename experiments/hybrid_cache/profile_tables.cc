#include <optional>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/profile_command.h"

namespace nvcache {
namespace {

using nlohmann::json;

std::string value(const json& summary, const char* part, const char* metric, int digits,
                  double factor = 1) {
  const json& of = summary.at(part);
  if (!of.contains(metric)) return "-";
  return fmt::format("{:.{}f}", of[metric].at("median").get<double>() * factor, digits);
}

// Half the distance between the slowest and the fastest round, in percent.
std::string spread(const json& summary) {
  if (summary.at("rounds").get<int>() < 2) return "";
  const json& ops = summary.at("metrics").at("ops_per_second");
  const double half = (ops["max"].get<double>() - ops["min"].get<double>()) / 2;
  return fmt::format("{:.0f}%", 100 * half / ops["median"].get<double>());
}

void append_rows(const json& document, std::string& text) {
  constexpr std::string_view kRow =
      "{:<16}  {:>9} {:>4} {:>5}  {:>7} {:>7} {:>7}  {:>6}  {:>9} {:>7}  {:>5}\n";
  text += fmt::format(fmt::runtime(kRow), "cache", "ops/s", "+-", "vs", "p50 us", "p95 us",
                      "p99 us", "hit %", "read MB/s", "read us", "CPU %");
  for (const json& summary : document.at("summary")) {
    text += fmt::format(
        fmt::runtime(kRow), summary.at("configuration").get<std::string>(),
        value(summary, "metrics", "ops_per_second", 0), spread(summary),
        value(summary, "ratio_to_first", "ops_per_second", 2),
        value(summary, "metrics", "p50_us", 1), value(summary, "metrics", "p95_us", 1),
        value(summary, "metrics", "p99_us", 1), value(summary, "metrics", "hit_ratio", 1, 100),
        value(summary, "metrics", "storage_read_bytes_per_second", 1, 1e-6),
        value(summary, "metrics", "storage_read_p50_us", 0),
        value(summary, "metrics", "cpu_ratio", 0, 100));
  }
}

}  // namespace

StatusOr<std::string> profile_tables(const json& document) {
  try {
    const json& setup = document.at("setup");
    const json& profile = document.at("profile");
    std::string text = fmt::format(
        "\n{}: {}\n{} databases, {}; {:g}% get, {:g}% put, {:g}% seek; {} threads, rate {}{}\n\n",
        profile.at("name").get<std::string>(), profile.at("about").get<std::string>(),
        profile.at("databases").get<int>(),
        format_bytes(setup.at("database_bytes").get<uint64_t>()),
        100 * profile.at("get").get<double>(), 100 * profile.at("put").get<double>(),
        100 * profile.at("seek").get<double>(), setup.at("threads").get<int>(),
        setup.at("rate").get<std::string>(),
        setup.value("awake", false) ? "; processors awake" : "");
    append_rows(document, text);
    text += fmt::format(
        "\nMedians of {} rounds of {:g} s after {:g} s of warm-up. Percentiles: of gets. hit: of "
        "data blocks.\nread: from SST files, their median latency; CPU: of all cores.\n",
        setup.at("rounds").get<int>(), setup.at("seconds").get<double>(),
        setup.at("warmup_seconds").get<double>());
    if (setup.at("storage_emulated").get<bool>()) {
      text += fmt::format(
          "Storage {} is EMULATED: its latency and bandwidth come from a model "
          "(docs/design/model.md).\n",
          setup.at("storage").get<std::string>());
    }
    for (const json& cache : document.at("configurations")) {
      text += fmt::format("  {:<16}  {}\n", cache.at("name").get<std::string>(),
                          cache.at("spec").get<std::string>());
    }
    return text;
  } catch (const json::exception& error) {
    return invalid_argument("not a result of nvcache: {}", error.what());
  }
}

}  // namespace nvcache
