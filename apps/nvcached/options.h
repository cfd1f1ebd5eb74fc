// The command line of nvcached: memcached's options with memcached's meaning, and a few of
// its own. Pure, but for looking at the environment for where the data lies by default.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/nvcached/settings.h"

namespace nvcache::server {

struct Options {
  Settings settings;
  std::string medium;  // empty: a file in the user's state directory
  std::string durability = "cache";
  std::string store_spec;  // of --store: in place of -m, --medium and --durability
  std::string user;
  std::string pid_file;
  bool daemon = false;
  bool lock_memory = false;
  bool core_dumps = false;
  bool help = false;
  bool version = false;
  std::vector<std::string> ignored;  // what memcached has and nvcached has no use for
};

// INVALID_ARGUMENT says what was given and what is allowed.
[[nodiscard]] absl::StatusOr<Options> parse_options(const std::vector<std::string>& arguments);

// $XDG_STATE_HOME/nvcached, else ~/.local/state/nvcached.
[[nodiscard]] absl::StatusOr<std::string> state_directory();

// The specification to open: --store, or made of -m, -I, --medium and --durability.
std::string store_spec_of(const Options& options);

std::string help_text();

}  // namespace nvcache::server
