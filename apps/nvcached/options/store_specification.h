// From nvcached's options to the store that it opens.
// Pure, except that state_directory() reads the environment.
#pragma once

#include <string>

#include "apps/nvcached/options/options.h"
#include "kv_store/api/config.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

// Where the data file lies by default: $XDG_STATE_HOME/nvcached, else ~/.local/state/nvcached.
// INVALID_ARGUMENT if neither variable is an absolute path.
[[nodiscard]] StatusOr<std::string> state_directory();

struct StoreSpecification {
  KvConfig config;
  std::string text;  // for `stats settings`
};

// --store as given; else made of -m, -I, --medium, --durability and --max-absence.
// INVALID_ARGUMENT names the setting, what was given and what is allowed.
[[nodiscard]] StatusOr<StoreSpecification> store_specification_of(const Options& options);

}  // namespace nvcache::server
