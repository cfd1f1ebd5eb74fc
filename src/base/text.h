// Small helpers around text and statuses.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "nvcache/status.h"

namespace nvcache {

template <typename... Args>
Status invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return invalid_argument_error(fmt::format(format, std::forward<Args>(args)...));
}

// Changes ASCII letters alone; other bytes stay.
constexpr char lower(char letter) {
  return 'A' <= letter && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = lower(letter);
  return result;
}

inline std::string_view strip(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Splits "key=value" at the first separator. Without one the second part is empty.
inline std::pair<std::string_view, std::string_view> split_once(std::string_view text,
                                                                char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace nvcache
