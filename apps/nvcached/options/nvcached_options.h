// The command line of nvcached: memcached's options with memcached's meaning, and a few of its
// own. Parsing and help both derive from the rows of option_table.h.
//
// Parsing uses getopt and its globals: one thread at a time. Errors are INVALID_ARGUMENT and say
// what was given and what is allowed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/nvcached/options/settings.h"

namespace nvcache::server {

struct Options {
  Settings settings;
  std::string medium;  // empty: a file in the user's state directory
  std::string durability = "cache";
  uint32_t max_absence_s = 0;    // 0: none
  bool empty_after_absence = false;
  std::string store_spec;        // of --store: replaces -m, --medium, --durability, --max-absence
  bool tcp_port_given = false;   // -p
  bool item_size_given = false;  // -I
  bool protocol_given = false;   // -B
  std::string user;
  std::string pid_file;
  bool daemon = false;
  bool lock_memory = false;
  bool core_dumps = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> ignored;  // options of memcached that have no effect here
};

// `arguments` without the program's name.
[[nodiscard]] absl::StatusOr<Options> parse_options(const std::vector<std::string>& arguments);

// What `nvcached --help` prints: a line or more for each row of the tables.
std::string help_text();

}  // namespace nvcache::server
