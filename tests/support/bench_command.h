// The command lines of `nvcache bench profile` and `bench hybrid`, as a test gives them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/bench/hybrid/hybrid_command.h"
#include "cli/bench/profile_command.h"
#include "cli/bench/profile_store.h"
#include "cli/exit_code.h"

namespace nvcache::test {

inline bool has_rocksdb() { return !absl::IsUnimplemented(check_store("lru:size=1MiB", "disk")); }

inline int exit_code_for(std::vector<std::string> words) {
  CLI::App app;
  add_hybrid_command(app, "nvcache bench hybrid");
  add_profile_command(app, "nvcache bench profile");
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError&) {
    return kExitUsage;
  }
  return kExitOk;
}

inline std::string complaint_for(const std::vector<std::string>& words) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code_for(words), kExitUsage);
  return testing::internal::GetCapturedStderr();
}

}  // namespace nvcache::test
