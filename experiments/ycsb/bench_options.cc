#include "experiments/ycsb/bench_options.h"

#include <algorithm>

#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr std::string_view kScheme = "nvcache://";
constexpr std::string_view kOwnCacheScheme = "wtcache:";
constexpr size_t kMaxNameBytes = 16;  // what the table has room for

bool is_spec(std::string_view text) {
  return text == "none" || text.starts_with(kScheme) || text.starts_with(kOwnCacheScheme);
}

std::string_view default_name(std::string_view spec) {
  if (spec == "none") return "none";
  return spec.starts_with(kScheme) ? "nvcache" : "wtcache";
}

bool is_taken(std::string_view name, const std::vector<Configuration>& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const Configuration& other) { return other.name == name; });
}

std::string unused_name(std::string_view base, const std::vector<Configuration>& others) {
  std::string name(base);
  for (int i = 2; is_taken(name, others); ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

}  // namespace

StatusOr<Configuration> parse_configuration(std::string_view text,
                                            const std::vector<Configuration>& others) {
  std::string_view spec = text;
  std::string name;
  const size_t equals = text.find('=');
  if (!is_spec(text) && equals != std::string_view::npos) {
    name = text.substr(0, equals);
    spec = text.substr(equals + 1);
    if (name.empty() || name.size() > kMaxNameBytes) {
      return invalid_argument_error(
          fmt::format("configuration '{}': a name has 1 to {} characters", text, kMaxNameBytes));
    }
  }
  if (!is_spec(spec)) {
    return invalid_argument_error(
        fmt::format("configuration '{}': allowed are none, nvcache://?key=value&..., "
                    "wtcache:dram,size=... (WiredTiger's own), each of them behind NAME= too",
                    text));
  }
  if (is_taken(name, others)) {
    return invalid_argument_error(
        fmt::format("configuration '{}': the name {} is given twice", text, name));
  }
  if (name.empty()) name = unused_name(default_name(spec), others);
  return Configuration{name, spec == "none" ? std::string() : std::string(spec)};
}

}  // namespace nvcache
