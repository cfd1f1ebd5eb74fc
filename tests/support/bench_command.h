// The command lines of `nvcache bench profile` and `bench hybrid-cache`, as a test gives them.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "experiments/hybrid_cache/hybrid_cache_command.h"
#include "experiments/hybrid_cache/profile_command.h"
#include "experiments/hybrid_cache/profile_store.h"
#include "support/command_line.h"

namespace nvcache::test {

inline bool has_rocksdb() { return !is_unimplemented(check_store("lru:size=1MiB", "disk")); }

inline void add_commands(CLI::App& app) {
  add_hybrid_cache_command(app, "nvcache bench hybrid-cache");
  add_profile_command(app, "nvcache bench profile");
}

inline int exit_code_for(const std::vector<std::string>& words) {
  CLI::App app;
  add_commands(app);
  return exit_code_of_line(app, words);
}

inline std::string complaint_for(const std::vector<std::string>& words) {
  CLI::App app;
  add_commands(app);
  return complaint_of_line(app, words);
}

}  // namespace nvcache::test
