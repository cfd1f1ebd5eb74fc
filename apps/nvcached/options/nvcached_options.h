// The command line of nvcached: memcached's options with memcached's meaning, and a few of its
// own. Parsing and help both derive from the rows of option_table.h.
//
// Parsing uses getopt and its globals: one thread at a time. Errors are INVALID_ARGUMENT and say
// what was given and what is allowed.
#pragma once

#include <string>
#include <vector>

#include "apps/nvcached/options/options.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

// `arguments` without the program's name.
[[nodiscard]] StatusOr<Options> parse_options(const std::vector<std::string>& arguments);

// What `nvcached --help` prints: a line or more for each row of the tables.
std::string help_text();

}  // namespace nvcache::server
