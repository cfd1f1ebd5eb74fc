// Subcommands of `nvcache` as a test runs them: in the test's own process.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "apps/command/exit_code.h"
#include "apps/command/interrupt.h"
#include "nvcache/status.h"

namespace nvcache::test {

// The exit code of a command line; complaints of the parser itself go to stderr.
inline int exit_code_of_line(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitUsage;
  }
  return kExitOk;
}

// The message that a wrong command line gets.
inline std::string complaint_of_line(CLI::App& app, const std::vector<std::string>& words) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code_of_line(app, words), kExitUsage);
  return testing::internal::GetCapturedStderr();
}

// For a death test's child: interrupts `run`, which returns a status, and exits with its exit
// code, or with 99 if `databases` are still there. Removes `folder`.
template <typename Run>
[[noreturn]] void exit_by_interrupt(const std::string& databases, const std::string& folder,
                                    Run run) {
  watch_for_interrupt();
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    ::kill(::getpid(), SIGINT);
  }).detach();
  const Status status = run();
  const bool removed = !std::filesystem::exists(databases);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  std::_Exit(removed ? exit_code_of(status) : 99);
}

}  // namespace nvcache::test
