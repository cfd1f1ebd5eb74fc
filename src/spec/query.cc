#include "spec/query.h"

#include <charconv>

#include "base/text.h"
#include "base/units.h"
#include "spec/spec.h"

namespace nvcache {

Status bad_setting(std::string_view key, std::string_view given, std::string_view allowed) {
  return invalid_argument("{}: '{}' given; allowed: {}", key, shown(given), allowed);
}

Status unknown_setting(std::string_view name, std::string_view allowed, const QueryForm& form) {
  for (const Retired& each : form.retired) {
    if (each.name == name)
      return invalid_argument("{}: no longer a setting; {}", name, each.instead);
  }
  return invalid_argument("unknown setting '{}'; allowed: {}", shown(name), allowed);
}

Status set_size(std::string_view key, std::string_view value, uint64_t low, uint64_t high,
                uint64_t* to) {
  const StatusOr<uint64_t> size_bytes = parse_size_bytes(value);
  if (!size_bytes.ok()) return invalid_argument("{}: {}", key, size_bytes.status().message());
  if (*size_bytes < low || *size_bytes > high) {
    return bad_setting(key, value, fmt::format("{} to {}", format_bytes(low), format_bytes(high)));
  }
  *to = *size_bytes;
  return ok_status();
}

bool split_outside(std::string_view text, char separator, bool brackets,
                   std::pair<std::string_view, std::string_view>* parts) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (brackets && text[i] == '(') ++depth;
    if (brackets && text[i] == ')' && --depth < 0) return false;
    if (text[i] != separator || depth > 0) continue;
    *parts = {text.substr(0, i), text.substr(i + 1)};
    return true;
  }
  *parts = {text, {}};
  return depth == 0;
}

StatusOr<std::string_view> query_of(std::string_view spec, const QueryForm& form) {
  std::string_view query = strip(spec);
  if (!query.starts_with(form.scheme)) return bad_setting("specification", spec, form.form);
  query.remove_prefix(form.scheme.size());
  if (query.empty()) return query;
  if (query.front() != '?') {
    return bad_setting("specification", spec, form.after.empty() ? form.form : form.after);
  }
  return query.substr(1);
}

StatusOr<std::string> decode_percent(std::string_view key, std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    uint8_t byte = 0;
    const char* first = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      return bad_setting(key, text,
                         "percent signs written as %25, and %XX with two hexadecimal digits");
    }
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return out;
}

std::string encode_percent(std::string_view value) {
  constexpr std::string_view kSpecial = "&%#+= ";
  std::string encoded;
  for (const char c : value) {
    const bool special = kSpecial.find(c) != kSpecial.npos;
    encoded += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return encoded;
}

}  // namespace nvcache
