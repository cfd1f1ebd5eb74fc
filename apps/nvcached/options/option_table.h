// nvcached's options, one row each. getopt's tables, the help, the lists in error texts, the manual
// page and completions derive from these rows: a new option is a new row, and a field with its
// default in settings.h or options.h.
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

// The topic of an option: the page's headings, in this order.
enum class OptionTopic : uint8_t {
  kNetwork,
  kStore,
  kRequests,
  kSecurity,
  kProcess,
  kWithoutEffect
};

// The parts of the manual page and of completions beside the help.
struct OptionPage {
  const char* more = nullptr;    // sentences behind the help
  const char* values = nullptr;  // allowed ones, with blanks between: "dram file:FILE"
  bool repeats = false;          // may be given several times
};

struct OptionRow {
  OptionKind kind = OptionKind::kMemcached;
  OptionTopic topic = OptionTopic::kWithoutEffect;
  char letter = 0;                 // 0: no short form
  const char* word = nullptr;      // the long form; null: none
  const char* argument = nullptr;  // its name in the help; null: the option takes no value
  const char* help = nullptr;      // may have several lines
  SetOption set = nullptr;
  OptionPage page = {};

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
