#include "adapters/wiredtiger/spec_text.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace nvcache {

std::string spec_of_list(std::string_view text) {
  std::string out = "nvcache://?";
  size_t key_at = out.size();
  int depth = 0;
  bool argument = false;  // of a policy, after its '='
  for (const char c : text.substr(1, text.size() - 2)) {
    const std::string_view key = std::string_view(out).substr(key_at);
    const bool policy = key.starts_with("admission=") || key.starts_with("eviction=");
    if (c == '"') continue;
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      if (--depth == 0 && std::exchange(argument, false)) out.push_back(')');
    } else if (c == ',' && depth == 0) {
      out.push_back('&');
      key_at = out.size();
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
  return out;
}

namespace {

// The value of a key in a specification; nothing if it is not there.
std::optional<std::string_view> value_of(std::string_view spec, std::string_view key) {
  size_t at = spec.find('?');
  while (at != std::string_view::npos) {
    std::string_view rest = spec.substr(at + 1);
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    if (pair.starts_with(key) && pair.substr(key.size()).starts_with("=")) {
      return pair.substr(key.size() + 1);
    }
    at = end == std::string_view::npos ? end : at + 1 + end;
  }
  return std::nullopt;
}

}  // namespace

std::string complete_cache_spec(std::string spec) {
  spec = std::string(strip(spec));  // what is added must come before the end that is stripped
  if (const auto size = value_of(spec, "size"); size) {
    if (const auto size_bytes = parse_size_bytes(*size); size_bytes.ok() && *size_bytes == 0) {
      return "";
    }
  }
  if (!spec.empty() && !value_of(spec, "verify")) spec += "&verify=always";
  return spec;
}

}  // namespace nvcache
