#include "apps/nvcache/top_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;
constexpr size_t kShownPrefixes = 10;
constexpr double kMostDays = 100 * 365;

std::string count_text(std::optional<double> value) {
  if (!value) return "-";
  if (*value < 9.95 && *value != std::floor(*value)) return fmt::format("{:.1f}", *value);
  if (*value < 99'950) return fmt::format("{:.0f}", *value);
  constexpr const char* kUnits[] = {"k", "M", "G", "T"};
  double scaled = *value;
  size_t unit = 0;
  for (scaled /= 1000; scaled >= 999.5 && unit + 1 < std::size(kUnits); ++unit) scaled /= 1000;
  return fmt::format("{:.{}f}{}", scaled,
                     scaled < 9.995   ? 2
                     : scaled < 99.95 ? 1
                                      : 0,
                     kUnits[unit]);
}

std::string bytes_text(std::optional<double> value) {
  return value ? format_bytes(whole_bytes(*value)) : "-";
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.1f}%", *share * 100) : "-";
}

std::string age_text(double seconds) {
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{:.0f} h", seconds / kHour);
  return fmt::format("{:.0f} days", seconds / kDay);
}

// The columns of the table: rates, once there are two readings. They fit 80 columns.
std::string heading(bool rates) {
  const char* const per = rates ? "/s" : "";
  const auto of = [per](const char* name) { return fmt::format("{}{}", name, per); };
  return fmt::format("  {:<6}{:>7}{:>8}{:>8}{:>10}{:>10}{:>10}  {}", "", "hits", of("hits"),
                     of("puts"), of("evicted"), of("read"), of("written"), "used/size");
}

std::string row(const PartFigures& part, const std::string& name, bool rates) {
  const auto value = [rates](const Flow& flow) { return rates ? flow.per_second : flow.total; };
  return fmt::format("  {:<6}{:>7}{:>8}{:>8}{:>10}{:>10}{:>10}  {}/{}", name,
                     percent_text(rates ? part.hit_ratio_now : part.hit_ratio),
                     count_text(value(part.hits)), count_text(value(part.inserts)),
                     count_text(value(part.evictions)), bytes_text(value(part.read_bytes)),
                     bytes_text(value(part.written_bytes)), bytes_text(part.used_bytes),
                     bytes_text(part.size_bytes));
}

std::string writes_line(const PartFigures& part) {
  std::string line;
  const auto add = [&line](const std::string& text) {
    line += fmt::format("{}{}", line.empty() ? "    writes: " : "; ", text);
  };
  if (part.budget_bytes_per_second) {
    const double budget = *part.budget_bytes_per_second;
    const std::optional<double> rate = part.written_bytes.per_second ? part.written_bytes.per_second
                                                                     : part.mean_written_per_second;
    add(fmt::format("{} of the budget of {}/s",
                    rate && budget > 0 ? fmt::format("{:.0f}%", *rate / budget * 100) : "-",
                    bytes_text(budget)));
  }
  if (part.days_left) {
    add(*part.days_left > kMostDays
            ? "the drive lasts more than 100 years"
            : fmt::format("the drive lasts {} days at {}/s", count_text(part.days_left),
                          bytes_text(part.mean_written_per_second)));
  }
  return line;
}

// The refusals, the most frequent reason first.
std::string refused_line(const PartFigures& part, bool rates) {
  std::vector<std::pair<double, std::string>> reasons;
  for (const auto& [reason, flow] : part.refused) {
    const std::optional<double> count = rates ? flow.per_second : flow.total;
    if (count.value_or(0) > 0) reasons.emplace_back(*count, reason);
  }
  if (reasons.empty()) return "";
  std::sort(reasons.rbegin(), reasons.rend());
  std::string line = rates ? "    refused/s: " : "    refused: ";
  for (size_t i = 0; i < reasons.size(); ++i) {
    line +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", reasons[i].second, count_text(reasons[i].first));
  }
  return line;
}

// Its medium and its policies.
std::string names_line(const PartFigures& part) {
  std::string line;
  const auto add = [&line](const std::string& text) {
    line += fmt::format("{}{}", line.empty() ? "    " : ", ", text);
  };
  if (const std::string medium = part.group.text("medium"); !medium.empty()) add(medium);
  for (const char* const kind : {"admission", "eviction", "durability"}) {
    const std::string policy = part.group.text(kind);
    if (!policy.empty()) add(fmt::format("{} {}", kind, policy));
  }
  return line;
}

void add_part(const PartFigures& part, const std::string& name, bool rates,
              std::vector<std::string>* lines) {
  lines->push_back(row(part, name, rates));
  for (const std::string& line : {names_line(part), writes_line(part), refused_line(part, rates)}) {
    if (!line.empty()) lines->push_back(line);
  }
  for (const std::string& note : part.notes) lines->push_back(fmt::format("    ! {}", note));
}

std::string whole_line(const TopFigures& figures, bool rates) {
  const PartFigures& whole = figures.whole;
  std::string line =
      rates ? fmt::format("  lookups {}/s, hits {} in {}", count_text(whole.lookups.per_second),
                          percent_text(whole.hit_ratio_now), age_text(*figures.interval_seconds))
            : fmt::format("  lookups {}", count_text(whole.lookups.total));
  line += fmt::format("{} {} in all", rates ? "," : ", hits", percent_text(whole.hit_ratio));
  const auto more = [&](const char* name, const char* text) {
    if (const auto number = whole.group.number(name); number) {
      line += fmt::format(", {} {}", count_text(number), text);
    }
  };
  more("items", "items");
  more("connections", "connections");
  if (const auto uptime = whole.group.number("uptime_seconds"); uptime) {
    line += fmt::format(", up {}", age_text(*uptime));
  }
  return line;
}

std::string latency_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (std::isinf(*seconds)) return "more than 1 s";
  if (*seconds < 0.9995e-3) return fmt::format("{:.3g} us", *seconds * 1e6);
  return *seconds < 0.9995 ? fmt::format("{:.3g} ms", *seconds * 1e3)
                           : fmt::format("{:.3g} s", *seconds);
}

std::string latency_line(const LatencyFigures& latency) {
  std::string line =
      fmt::format("    {}s: half within {}", latency.command, latency_text(latency.half_seconds));
  if (latency.most_seconds) {
    line += fmt::format(", 99% within {}", latency_text(latency.most_seconds));
  }
  return line + (latency.is_recent ? "" : ", since the start");
}

void add_prefixes(const TopFigures& figures, std::vector<std::string>* lines) {
  if (figures.prefixes.empty()) return;
  lines->push_back(fmt::format("  {:>8}{:>8}  {}", "requests", "hits", "keys that begin with"));
  for (size_t i = 0; i < std::min(kShownPrefixes, figures.prefixes.size()); ++i) {
    const PrefixFigures& each = figures.prefixes[i];
    lines->push_back(fmt::format("  {:>8}{:>8}  {}", percent_text(each.share),
                                 percent_text(each.hit_ratio), each.prefix));
  }
}

json flow_json(const Flow& flow) {
  json object = json::object();
  if (flow.total) object["total"] = *flow.total;
  if (flow.per_second) object["per_second"] = *flow.per_second;
  return object;
}

void set_if(json* object, const char* name, const std::optional<double>& value) {
  if (value) (*object)[name] = *value;
}

json part_json(const PartFigures& part) {
  json object = {{"name", part.name}, {"notes", part.notes}};
  set_if(&object, "hit_ratio", part.hit_ratio);
  set_if(&object, "hit_ratio_now", part.hit_ratio_now);
  const std::pair<const char*, const Flow*> flows[] = {
      {"lookups", &part.lookups},       {"hits", &part.hits},
      {"inserts", &part.inserts},       {"evictions", &part.evictions},
      {"read_bytes", &part.read_bytes}, {"written_bytes", &part.written_bytes}};
  for (const auto& [name, flow] : flows) {
    if (flow->total) object[name] = flow_json(*flow);
  }
  for (const auto& [reason, flow] : part.refused) object["refused"][reason] = flow_json(flow);
  set_if(&object, "used_bytes", part.used_bytes);
  set_if(&object, "size_bytes", part.size_bytes);
  set_if(&object, "mean_written_bytes_per_second", part.mean_written_per_second);
  set_if(&object, "budget_bytes_per_second", part.budget_bytes_per_second);
  set_if(&object, "days_left", part.days_left);
  for (const auto& [name, text] : part.group.texts) {
    if (name != "name") object[name] = text;
  }
  return object;
}

}  // namespace

std::vector<std::string> top_lines(const TopFigures& figures) {
  std::vector<std::string> lines;
  const std::string policy = figures.whole.group.text("policy");
  lines.push_back(fmt::format("{}: {}{}{}, written {} ago", figures.source, name_of(figures.kind),
                              policy.empty() ? "" : ", ", policy, age_text(figures.age_seconds)));
  for (const std::string& note : figures.notes) lines.push_back(fmt::format("  ! {}", note));
  const bool rates = figures.interval_seconds.has_value();
  if (!figures.whole.lookups.total) {
    lines.push_back("  no cache");
  } else {
    lines.push_back(whole_line(figures, rates));
    lines.push_back(heading(rates));
    if (figures.tiers.empty()) {
      add_part(figures.whole, figures.kind == StatsKind::kBlockCache ? "cache" : "store", rates,
               &lines);
    }
    for (const PartFigures& tier : figures.tiers) add_part(tier, tier.name, rates, &lines);
    for (const LatencyFigures& each : figures.latencies) lines.push_back(latency_line(each));
    add_prefixes(figures, &lines);
  }
  if (!figures.files.empty()) {
    const auto number = [&](const char* name) { return figures.files.number(name); };
    lines.push_back(fmt::format("  files: {} reads served of {}, {} from disk, {} written",
                                count_text(number("served_reads")), count_text(number("reads")),
                                bytes_text(number("disk_read_bytes")),
                                bytes_text(number("written_bytes"))));
  }
  return lines;
}

std::vector<std::string> unread_lines(const std::string& error) {
  return {fmt::format("! {}", error)};
}

json top_json(const TopFigures& figures) {
  json object = {{"source", figures.source},           {"kind", name_of(figures.kind)},
                 {"age_seconds", figures.age_seconds}, {"notes", figures.notes},
                 {"whole", part_json(figures.whole)},  {"tiers", json::array()}};
  set_if(&object, "interval_seconds", figures.interval_seconds);
  for (const PartFigures& tier : figures.tiers) object["tiers"].push_back(part_json(tier));
  if (!figures.files.empty()) object["files"] = figures.files.numbers;
  for (const LatencyFigures& each : figures.latencies) {
    json latency = {{"samples", each.samples}, {"recent", each.is_recent}};
    set_if(&latency, "p50_seconds", each.half_seconds);
    set_if(&latency, "p99_seconds", each.most_seconds);
    object["latency"][each.command] = std::move(latency);
  }
  for (const PrefixFigures& each : figures.prefixes) {
    json prefix = {{"prefix", each.prefix}, {"share", each.share}};
    set_if(&prefix, "hit_ratio", each.hit_ratio);
    object["prefixes"].push_back(std::move(prefix));
  }
  return object;
}

std::string fitted(std::string_view line, size_t columns) {
  std::string out;
  size_t taken = 0;
  for (const char c : line) {
    const auto byte = static_cast<uint8_t>(c);
    const bool continues = (byte & 0xC0) == 0x80;  // a further byte of a character
    if (!continues && ++taken > columns) break;
    out.push_back(byte < 0x20 || byte == 0x7F ? '?' : c);
  }
  return out;
}

}  // namespace nvcache
