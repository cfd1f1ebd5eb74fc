// nvcached's options, one row each. getopt's tables, the help and the lists in error texts derive
// from these rows: a new option is a new row, and a field with its default in settings.h or
// options.h.
//
// Constant tables; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/nvcached/options/options.h"
#include "nvcache/status.h"

namespace nvcache::server {

// Applies one option. `name` is the option as the user knows it, for error texts.
using SetOption = Status (*)(std::string_view name, const std::string& value, Options& options);

enum class OptionKind : uint8_t {
  kMemcached,  // means what it means to memcached
  kIgnored,    // memcached's; accepted, and without effect
  kOwn,        // memcached does not have it
};

struct OptionRow {
  OptionKind kind = OptionKind::kMemcached;
  char letter = 0;                 // 0: no short form
  const char* word = nullptr;      // the long form; null: none
  const char* argument = nullptr;  // its name in the help; null: the option takes no value
  const char* help = nullptr;      // may have several lines
  SetOption set = nullptr;

  // "-p", or "--metrics-port" where there is no letter.
  std::string name() const;
};
std::span<const OptionRow> option_rows();

// One of the comma-separated items of -o.
struct ExtendedRow {
  const char* word = nullptr;
  const char* argument = nullptr;
  const char* help = nullptr;  // null: memcached's tuning, without effect
  SetOption set = nullptr;
};
std::span<const ExtendedRow> extended_rows();

}  // namespace nvcache::server
