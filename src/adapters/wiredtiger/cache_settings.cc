#include "adapters/wiredtiger/cache_settings.h"

#include <utility>

#include "base/text.h"

namespace nvcache {
namespace {

StatusOr<std::optional<Config>> complete(Given<Config> given) {
  if (given.has<&Config::size_bytes>() && given.values.size_bytes == 0) return std::nullopt;
  given.set_default<&Config::verify>(Verify::kAlways);
  StatusOr<Config> config = complete_config(std::move(given));
  if (!config.ok()) return config.status();
  return std::optional<Config>(*std::move(config));
}

}  // namespace

std::vector<std::string> settings_of_list(std::string_view list) {
  std::vector<std::string> settings;
  std::string out;
  int depth = 0;
  bool argument = false;  // of a policy, after its '='
  for (const char c : list.substr(1, list.size() - 2)) {
    const bool policy = out.starts_with("admission=") || out.starts_with("eviction=");
    if (c == '"') continue;
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      if (--depth == 0 && std::exchange(argument, false)) out.push_back(')');
    } else if (c == ',' && depth == 0) {
      settings.push_back(std::exchange(out, {}));
    } else if (c == ',' && depth == 1 && policy) {
      if (std::exchange(argument, false)) out.push_back(')');
      out.push_back('+');
    } else if (c == '=' && depth == 1 && policy) {
      argument = true;
      out.push_back('(');
    } else {
      out.push_back(c);
    }
  }
  settings.push_back(std::move(out));
  std::erase_if(settings, [](const std::string& setting) { return strip(setting).empty(); });
  return settings;
}

StatusOr<std::optional<Config>> read_cache(std::string_view spec) {
  if (strip(spec).empty()) return std::nullopt;
  StatusOr<Given<Config>> given = read_config(spec);
  if (!given.ok()) return given.status();
  return complete(*std::move(given));
}

StatusOr<std::optional<Config>> read_cache_list(std::string_view list) {
  Given<Config> given;
  for (const std::string& setting : settings_of_list(list)) {
    if (Status status = read_config_setting(setting, &given); !status.ok()) return status;
  }
  return complete(std::move(given));
}

}  // namespace nvcache
