// Words and numbers of a line of text. Pure; views point into the line.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace nvcache::server {

// Cuts the next word off `text`. Blanks separate words; at the end, the word is empty.
inline std::string_view next_word(std::string_view& text) {
  size_t begin = 0;
  while (begin < text.size() && text[begin] == ' ') ++begin;
  size_t end = begin;
  while (end < text.size() && text[end] != ' ') ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// True if the whole text is a decimal number that fits. A plus may stand before it, as memcached
// reads numbers; a minus only before a signed one.
template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}
inline bool parse_u64(std::string_view text, uint64_t& number) { return parse_whole(text, number); }
inline bool parse_u32(std::string_view text, uint32_t& number) { return parse_whole(text, number); }
// The length of a value. One of 2^63 or more is none.
inline bool parse_length(std::string_view text, uint64_t& bytes) {
  return parse_u64(text, bytes) && bytes <= INT64_MAX;
}
inline bool parse_i64(std::string_view text, int64_t& number) { return parse_whole(text, number); }

// The last word of a line, or none.
inline std::string_view last_word(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const size_t blank = text.rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

// As one word: blanks and control characters as %20 and so on; "-" if there is nothing.
inline std::string one_word(std::string_view text) {
  if (text.empty()) return "-";
  std::string word;
  word.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != 0x7f) {
      word += c;
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return word;
}

}  // namespace nvcache::server
