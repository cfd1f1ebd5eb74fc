// The form that all specifications of caches share:
//
//   SCHEME [ '?' key '=' value { '&' key '=' value } ]
//
// White space around the specification is ignored, as are empty pairs. Each scheme has its own
// table of settings (spec/settings.h). Any bytes are accepted as input. Thread-safe: pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// INVALID_ARGUMENT "key: 'given' given; allowed: ...".
Status bad_setting(std::string_view key, std::string_view given, std::string_view allowed);

// A size from low to high.
[[nodiscard]] Status set_size(std::string_view key, std::string_view value, uint64_t low,
                              uint64_t high, uint64_t* to);

// Splits `text` at the first separator. With `brackets`, a separator inside of brackets does not
// count; false if the brackets do not match.
[[nodiscard]] bool split_outside(std::string_view text, char separator, bool brackets,
                                 std::pair<std::string_view, std::string_view>* parts);

// A setting that was, and what stands in its place: the error of a specification that gives it.
struct Retired {
  std::string_view name;
  std::string_view instead;
};

struct QueryForm {
  std::string_view scheme;      // "nvcache://"
  std::string_view form;        // the whole form, in errors
  std::string_view after = {};  // in errors about the text after the scheme; empty: `form`
  bool brackets = false;        // '&' inside of brackets belongs to the value
  bool percent = true;          // %XX stands for a byte of a value
  std::span<const Retired> retired = {};
};

// INVALID_ARGUMENT "unknown setting 'name'; allowed: ...", or what became of a retired one.
Status unknown_setting(std::string_view name, std::string_view allowed, const QueryForm& form);

// The part after the scheme and '?'.
[[nodiscard]] StatusOr<std::string_view> query_of(std::string_view spec, const QueryForm& form);
// The value of a key, with its %XX decoded.
[[nodiscard]] StatusOr<std::string> decode_percent(std::string_view key, std::string_view text);
// A value with %XX for what means something in a specification.
std::string encode_percent(std::string_view value);

}  // namespace nvcache
