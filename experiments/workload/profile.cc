#include "experiments/workload/profile.h"

#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

constexpr uint32_t kMaxValueBytes = 1 << 20;
constexpr uint32_t kLeastValueBytes = 16;  // a checksum and a version: profile_record.h

// "1500", "20k", "800M": plain numbers, thousands, millions.
StatusOr<double> parse_count(std::string_view key, std::string_view text, double low, double high) {
  double factor = 1;
  if (text.ends_with('k')) factor = 1e3;
  if (text.ends_with('M')) factor = 1e6;
  const std::string_view digits = factor > 1 ? text.substr(0, text.size() - 1) : text;
  const auto number = parse_number(key, digits, 0, 1e15);
  if (number.ok() && *number * factor >= low && *number * factor <= high) return *number * factor;
  return invalid_argument("{}: '{}' given; allowed: {:g} to {:g}, 20k and 800M are numbers, too",
                          key, text, low, high);
}

struct Parameter {
  std::string_view key;
  double low;
  double high;
  void (*set)(WorkloadProfile& profile, double value);
};

template <auto kMember>
void set_member(WorkloadProfile& profile, double value) {
  using Type = std::remove_reference_t<decltype(profile.*kMember)>;
  profile.*kMember = static_cast<Type>(value);
}

using P = WorkloadProfile;
constexpr std::array<Parameter, 21> kParameters = {{
    {"databases", 1, 256, set_member<&P::databases>},
    {"keys_per_database", 1000, 1e12, set_member<&P::keys_per_database>},
    {"threads", 1, 256, set_member<&P::threads>},
    {"key_bytes", 16, 1024, set_member<&P::key_bytes>},
    {"value_least_bytes", kLeastValueBytes, kMaxValueBytes, set_member<&P::value_least_bytes>},
    {"value_scale_bytes", 0, kMaxValueBytes, set_member<&P::value_scale_bytes>},
    {"value_shape", 0.001, 0.999, set_member<&P::value_shape>},
    {"value_most_bytes", kLeastValueBytes, kMaxValueBytes, set_member<&P::value_most_bytes>},
    {"hot_share", 0.0001, 0.9999, set_member<&P::hot_share>},
    {"hot_accesses", 0.0001, 0.9999, set_member<&P::hot_accesses>},
    {"accessed_share", 0.0001, 1, set_member<&P::accessed_share>},
    {"run_keys", 1, 1e6, set_member<&P::run_keys>},
    {"repeat_share", 0, 0.99, set_member<&P::repeat_share>},
    {"repeat_last", 1, 65536, set_member<&P::repeat_last>},
    {"get", 0, 1, set_member<&P::get>},
    {"put", 0, 1, set_member<&P::put>},
    {"seek", 0, 1, set_member<&P::seek>},
    {"seek_rows", 1, 10000, set_member<&P::seek_rows>},
    {"qps_mean", 1, 1e9, set_member<&P::qps_mean>},
    {"qps_swing", 0, 1e9, set_member<&P::qps_swing>},
    {"qps_period_seconds", 0.1, 1e6, set_member<&P::qps_period_seconds>},
}};

std::string parameter_names() {
  std::string names = "name, about";
  for (const Parameter& parameter : kParameters) names += fmt::format(", {}", parameter.key);
  return names;
}

Status set_parameter(std::string_view key, std::string_view value, WorkloadProfile& profile) {
  if (key == "name" || key == "about") {
    if (value.empty()) return invalid_argument("{}: nothing given; allowed: some text", key);
    (key == "name" ? profile.name : profile.about) = value;
    return ok_status();
  }
  for (const Parameter& parameter : kParameters) {
    if (parameter.key != key) continue;
    const auto number = parse_count(key, value, parameter.low, parameter.high);
    if (!number.ok()) return number.status();
    parameter.set(profile, *number);
    return ok_status();
  }
  return invalid_argument("'{}' is no parameter; allowed are {}", key, parameter_names());
}

Status check_together(const WorkloadProfile& profile) {
  const double sum = profile.get + profile.put + profile.seek;
  if (std::abs(sum - 1) > 1e-6) {
    return invalid_argument("get, put, seek: their sum is {:g}; allowed: 1", sum);
  }
  if (profile.value_most_bytes < profile.value_least_bytes) {
    return invalid_argument("value_most_bytes: {} given; allowed: value_least_bytes ({}) or more",
                            profile.value_most_bytes, profile.value_least_bytes);
  }
  if (profile.qps_swing > profile.qps_mean) {
    return invalid_argument("qps_swing: {:g} given; allowed: 0 to qps_mean ({:g})",
                            profile.qps_swing, profile.qps_mean);
  }
  return ok_status();
}

Status parse_line(std::string_view line, std::set<std::string>& seen, WorkloadProfile& profile) {
  if (line.find('=') == std::string_view::npos) {
    return invalid_argument("'{}' given; allowed: key = value, # a comment", line);
  }
  const auto [left, right] = split_once(line, '=');
  const std::string key(strip(left));
  if (!seen.insert(key).second) return invalid_argument("{}: given twice; allowed: once", key);
  return set_parameter(key, strip(right), profile);
}

}  // namespace

double WorkloadProfile::mean_value_bytes() const {
  return value_least_bytes + value_scale_bytes / (1 - value_shape);
}

double WorkloadProfile::data_bytes() const {
  return static_cast<double>(databases) * static_cast<double>(keys_per_database) *
         (key_bytes + mean_value_bytes());
}

StatusOr<WorkloadProfile> parse_workload_profile(std::string_view text) {
  WorkloadProfile profile;
  std::set<std::string> seen;
  int number = 0;
  while (!text.empty()) {
    const auto [whole, rest] = split_once(text, '\n');
    text = rest;
    ++number;
    const std::string_view line = strip(split_once(whole, '#').first);
    if (line.empty()) continue;
    if (Status status = parse_line(line, seen, profile); !status.ok()) {
      return invalid_argument("line {}: {}", number, status.message());
    }
  }
  for (const std::string_view key : {std::string_view("name"), std::string_view("about")}) {
    if (!seen.contains(std::string(key))) return invalid_argument("{}: is missing", key);
  }
  for (const Parameter& parameter : kParameters) {
    if (!seen.contains(std::string(parameter.key))) {
      return invalid_argument("{}: is missing; allowed: {:g} to {:g}", parameter.key, parameter.low,
                              parameter.high);
    }
  }
  if (Status status = check_together(profile); !status.ok()) return status;
  return profile;
}

double operations_due(const WorkloadProfile& profile, double seconds) {
  const double turn = 2 * std::numbers::pi / profile.qps_period_seconds;
  return profile.qps_mean * seconds + profile.qps_swing / turn * (1 - std::cos(turn * seconds));
}

}  // namespace nvcache
