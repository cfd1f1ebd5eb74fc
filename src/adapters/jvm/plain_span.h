// A span, or a text, as it crosses between two libraries that may be compiled with different C++
// standard libraries: these lay out a std::string_view differently, and promise nothing of a
// std::span. Converts from and to both, so that no caller names it. Owns nothing.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace nvcache::jvm {

template <typename T>
struct PlainSpan {
  T* first = nullptr;
  size_t count = 0;

  PlainSpan() = default;
  PlainSpan(T* first_of, size_t count_of) : first(first_of), count(count_of) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a function that takes one is given a span
  PlainSpan(std::span<T> span) : PlainSpan(span.data(), span.size()) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::span<T>() const { return {first, count}; }
};

struct PlainText {
  const char* first = nullptr;
  size_t count = 0;

  PlainText() = default;
  PlainText(const char* first_of, size_t count_of) : first(first_of), count(count_of) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a function that takes one is given a text
  PlainText(std::string_view text) : PlainText(text.data(), text.size()) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::string_view() const { return {first, count}; }
};

// They pass in two registers, as a C struct does.
static_assert(std::is_trivially_copyable_v<PlainText>);

}  // namespace nvcache::jvm
