// Small helpers around text and statuses. (Abseil as packaged has a string_view
// of its own that std::string_view does not convert to; fmt takes the standard one.)
#pragma once

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace nvcache {

template <typename... Args>
absl::Status invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}

inline std::string_view message_of(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
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
