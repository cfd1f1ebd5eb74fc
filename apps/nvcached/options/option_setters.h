// The setters of the rows of option_table.h. `name` is the option as the user knows it,
// for error texts. Templates, so that a row names the field and its bounds.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "apps/nvcached/options/option_table.h"
#include "apps/nvcached/options/option_values.h"

namespace nvcache::server {

// A field of the settings, or of the options around them, in `options`.
template <typename T>
T& of(Options& options, T Settings::*field) {
  return options.settings.*field;
}
template <typename T>
T& of(Options& options, T Options::*field) {
  return options.*field;
}

template <auto kField, int64_t kLow, int64_t kHigh>
Status set_int(std::string_view name, const std::string& value, Options& options) {
  int number = 0;
  Status status = parse_int(name, value, kLow, kHigh, number);
  auto& field = of(options, kField);
  if (status.ok()) field = static_cast<std::remove_reference_t<decltype(field)>>(number);
  return status;
}

template <auto kField>
Status set_text(std::string_view, const std::string& value, Options& options) {
  of(options, kField) = value;
  return ok_status();
}

template <auto kField, bool kValue = true>
Status set_flag(std::string_view, const std::string&, Options& options) {
  of(options, kField) = kValue;
  return ok_status();
}

// By one of option_values.h.
template <auto kField, auto kParse>
Status set_parsed(std::string_view name, const std::string& value, Options& options) {
  return kParse(name, value, of(options, kField));
}

// Notes in a flag that the option was given.
template <auto kFlag, SetOption kSet>
Status noted(std::string_view name, const std::string& value, Options& options) {
  of(options, kFlag) = true;
  return kSet(name, value, options);
}

inline Status ignore(std::string_view name, const std::string&, Options& options) {
  options.ignored.emplace_back(name);
  return ok_status();
}

}  // namespace nvcache::server
