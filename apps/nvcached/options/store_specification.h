// From nvcached's options to the specification of the store that it opens.
// Pure, except that state_directory() reads the environment.
#pragma once

#include <string>

#include "apps/nvcached/options/options.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

// Where the data file lies by default: $XDG_STATE_HOME/nvcached, else ~/.local/state/nvcached.
// INVALID_ARGUMENT if neither variable is an absolute path.
[[nodiscard]] StatusOr<std::string> state_directory();

// --store as given; else a specification made of -m, -I, --medium and --durability.
std::string store_spec_of(const Options& options);

}  // namespace nvcache::server
