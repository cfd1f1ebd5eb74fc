#include "apps/nvcache/server_stats.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr size_t kMostPrefixes = 1000;

double number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Status starting(const json& object) {
  std::string message = "nvcached starts";
  if (const std::string doing = text_in(object, "doing"); !doing.empty()) message += ": " + doing;
  const double all = number_in(object, "all");
  if (all > 0) {
    message += fmt::format(", {:.0f} of {:.0f} {}", number_in(object, "done"), all,
                           text_in(object, "unit"));
  }
  return unavailable_error(message + fmt::format(", for {:.0f} s", number_in(object, "seconds")));
}

}  // namespace

LatencySteps since(const LatencySteps& now, const LatencySteps& before) {
  LatencySteps steps = now;
  for (auto& [bound, requests] : steps.up_to) {
    const auto was = before.up_to.find(bound);
    if (was != before.up_to.end()) requests = std::max(0.0, requests - was->second);
  }
  return steps;
}

std::optional<double> quantile_seconds(const LatencySteps& steps, double share) {
  const double wanted = share * steps.samples();
  if (!(wanted > 0)) return std::nullopt;
  double low_seconds = 0;
  double below = 0;
  for (const auto& [bound_seconds, requests] : steps.up_to) {
    if (requests >= wanted) {
      if (bound_seconds == std::numeric_limits<double>::infinity()) return bound_seconds;
      const double part = requests > below ? (wanted - below) / (requests - below) : 1;
      return low_seconds + (bound_seconds - low_seconds) * part;
    }
    low_seconds = bound_seconds;
    below = requests;
  }
  return std::nullopt;
}

StatusOr<PrefixTable> parse_server_status(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return data_loss_error("is no whole JSON");
  if (text_in(object, "state") == "starting") return starting(object);
  PrefixTable table;
  const auto prefixes = object.find("prefixes");
  if (prefixes == object.end() || !prefixes->is_object()) return table;
  table.samples = number_in(*prefixes, "samples");
  const auto top = prefixes->find("top");
  if (top == prefixes->end() || !top->is_array()) return table;
  for (const json& each : *top) {
    if (!each.is_object() || table.most.size() == kMostPrefixes) continue;
    table.most.push_back({.prefix = text_in(each, "prefix"),
                          .samples = number_in(each, "samples"),
                          .hits = number_in(each, "hits"),
                          .misses = number_in(each, "misses")});
  }
  return table;
}

}  // namespace nvcache
