// The command lines of `nvcache bench profile` and `bench hybrid-cache`, as a test gives them.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "experiments/engines/engine.h"
#include "experiments/hybrid_cache/hybrid_cache_command.h"
#include "experiments/run/ycsb_command.h"
#include "support/command_line.h"

namespace nvcache::test {

inline bool has_rocksdb() { return make_engine_kind("rocksdb").ok(); }

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
