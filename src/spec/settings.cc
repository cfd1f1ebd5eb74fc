#include "spec/settings.h"

#include <charconv>

#include "fmt/format.h"

namespace nvcache {

std::optional<uint64_t> parse_whole(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string difference_text(std::string_view given, std::string_view open) {
  return fmt::format("given {}; open with {}", given, open);
}

}  // namespace nvcache
